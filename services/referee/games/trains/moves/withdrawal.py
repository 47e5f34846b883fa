"""What becomes of the choices and cards of a seat that withdraws (CLOCK-2, CONDUCT-2, CONDUCT-3)."""

from __future__ import annotations

from schemas.field_types import Seat
from schemas.game_options import ExitReason
from schemas.trains.events import TicketsKept, TunnelDeclined
from services.referee.games.state import EventStream
from services.referee.games.trains.moves.tickets import return_tickets
from services.referee.games.trains.moves.turns import clean_up_turn, next_turn
from services.referee.games.trains.pending_choices import TICKETS, TUNNEL
from services.referee.games.trains.train_state import TrainGame


def settle_choice(state: TrainGame, seat: Seat, reason: ExitReason) -> EventStream:
    """A seat that withdraws keeps as few tickets as it may, and declines its tunnel; what it had not taken goes back
    where the ruleset says so."""
    seat_state = state.seats[seat].own
    if state.pending_choices.get(seat) == TICKETS and reason != "removed":
        yield TicketsKept(seat, tuple(seat_state.offer[: seat_state.min_keep]))
        if state.turn is not None:
            yield from return_tickets(state, seat)
    if reason == "removed":
        yield from state.ruleset.parts.return_untaken(state, seat)
    if state.pending_choices.get(seat) == TUNNEL:
        yield TunnelDeclined(seat)


def go_on_without(state: TrainGame, seat: Seat) -> EventStream:
    """The setup goes on after a seat withdrew; or, where it was its turn, the next turn begins."""
    if state.turn is None:
        yield from state.ruleset.parts.after_start_choice(state)
    elif state.turn == seat:
        yield from clean_up_turn(state)
        yield from next_turn(state, seat)
