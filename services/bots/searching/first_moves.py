"""The first move of a rollout: a candidate command, carried out on the compact game, to the end of its turn."""

from __future__ import annotations

from schemas.commands import ClaimRoute, Command, DrawBlind, DrawMarket, DrawTickets, KeepTickets
from schemas.field_types import LOCOMOTIVE, Seat
from services.bots.searching.compact_rules import KINDS, WILD, TicketEnds
from services.bots.searching.rollout_policy import Rollout
from services.referee.rules import GameState


def play_first(rollout: Rollout, state: GameState, seat: Seat, command: Command) -> None:
    """Carry out the command of the seat, and what else belongs to its turn."""
    game = rollout.game
    if isinstance(command, KeepTickets):
        _keep(rollout, state, seat, command)
        if state.turn is None:
            return  # the first turn is still to come
    elif isinstance(command, ClaimRoute):
        colour, wilds = payment_of(command)
        game.claim(game.rules.graph.route_index[command.route], colour, wilds)
    elif isinstance(command, DrawTickets):
        rollout.draw_tickets()
    elif isinstance(command, DrawBlind | DrawMarket):
        _draw(rollout, command)
    game.end_turn()


def payment_of(claim: ClaimRoute) -> tuple[int, int]:
    """The number of its colour, and how many locomotives are paid beside it."""
    wilds = claim.cards.get(LOCOMOTIVE, 0)
    colour = next((KINDS.index(card) for card in claim.cards if card != LOCOMOTIVE), WILD)
    return (colour, wilds) if colour != WILD else (WILD, wilds)


def _keep(rollout: Rollout, state: GameState, seat: Seat, command: KeepTickets) -> None:
    game = rollout.game
    city, tickets = game.rules.graph.city_index, state.board.tickets
    offer = [tickets[str(name)] for name in state.seats[seat].offer]
    acting, game.turn = game.turn, seat
    game.keep_tickets([TicketEnds(city[t.a], city[t.b], t.points) for t in offer], command.keep)
    game.turn = acting


def _draw(rollout: Rollout, command: DrawBlind | DrawMarket) -> None:
    """The card, and a second one as the rollout's policy chooses it."""
    game = rollout.game
    if isinstance(command, DrawBlind):
        game.draw_blind()
    elif game.draw_market(command.slot or 0) == WILD:
        return
    if game.has_second_card():
        rollout.draw_second_card()
