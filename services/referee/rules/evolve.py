"""What every fact means: one small function an event, the same for every ruleset.

No judgement here. An event that reached the log did happen, so nothing is checked but
that the log fits the board it names. The functions stand in `meaning/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from schemas import events
from schemas.codec import unpack_for_fold
from schemas.events import Event
from services.referee.rules.appliers import ending, opening, playing
from services.referee.rules.state import GameState


def evolve(state: GameState, event: Event) -> None:
    """Apply a fact to a table that the caller owns."""
    APPLIERS[event.__class__](state, event)


def advance_clocks(state: GameState, at_ms: int) -> None:
    """Let the recorded time pass, on the clocks of the seats that the table waits for (CLOCK-1).

    A time before the last one (a clock was set back) counts as no time."""
    if state.started and state.rule_options.clock_ms is not None:
        elapsed_ms = max(0, at_ms - state.at_ms)
        for seat in state.pending_choices:
            state.seats[seat].clock_ms -= elapsed_ms
    state.at_ms = max(state.at_ms, at_ms)


def fold(entries: Iterable[bytes], state: GameState | None = None) -> GameState:
    """The table that these log entries (as stored) amount to, going on from `table`, if given."""
    state = state or GameState()
    for data in entries:
        at_ms, _, _, _, events = unpack_for_fold(data)
        fold_events(state, at_ms, events)
    return state


def fold_events(state: GameState, at_ms: int, events: Iterable[Event]) -> None:
    """One entry: its time, then its facts."""
    advance_clocks(state, at_ms)
    for event in events:
        APPLIERS[event.__class__](state, event)


APPLIERS: Final[Mapping[type[Event], Callable[[GameState, Any], None]]] = {
    events.GameCreated: opening.game_created,
    events.SeedSealed: opening.seed_sealed,
    events.SeatTaken: opening.seat_taken,
    events.GameStarted: opening.game_started,
    events.DeckShuffled: opening.deck_shuffled,
    events.TicketsShuffled: opening.tickets_shuffled,
    events.HandDealt: opening.hand_dealt,
    events.PositionLaid: opening.position_laid,
    events.DeckLaid: opening.deck_laid,
    events.TicketsLaid: opening.tickets_laid,
    events.HandLaid: opening.hand_laid,
    events.GameForked: opening.game_forked,
    events.MomentLaid: opening.moment_laid,
    events.ChoiceLaid: opening.choice_laid,
    events.DeckKnown: opening.deck_known,
    events.PlayResumed: opening.play_resumed,
    events.MarketFilled: playing.market_filled,
    events.MarketFlushed: playing.market_flushed,
    events.CardDrawn: playing.card_drawn,
    events.MarketCardTaken: playing.market_card_taken,
    events.CardsGiven: playing.cards_given,
    events.RequestUnmet: playing.request_unmet,
    events.MixAsked: playing.mix_asked,
    events.TicketsNamed: playing.tickets_named,
    events.TicketsOffered: playing.tickets_offered,
    events.TicketsKept: playing.tickets_kept,
    events.TicketsReturned: playing.tickets_returned,
    events.RouteClaimed: playing.route_claimed,
    events.TunnelRevealed: playing.tunnel_revealed,
    events.TunnelDeclined: playing.tunnel_declined,
    events.RevealedDiscarded: playing.revealed_discarded,
    events.StationBuilt: playing.station_built,
    events.PassengerPlaced: playing.passenger_placed,
    events.PassengerMoved: playing.passenger_moved,
    events.TurnStarted: playing.turn_started,
    events.Passed: playing.passed,
    events.LastTurnsBegan: ending.last_turns_began,
    events.SeatGone: ending.seat_gone,
    events.SeatCleared: ending.seat_cleared,
    events.TicketsShown: ending.tickets_shown,
    events.PlayOffCalled: ending.play_off_called,
    events.PlayOffEnded: ending.play_off_ended,
    events.SeedRevealed: ending.seed_revealed,
    events.GameEnded: ending.game_ended,
    events.CommandRefused: ending.command_refused,
}
