"""What every fact means: one small function an event, the same for every ruleset.

No judgement here. An event that reached the log did happen, so nothing is checked but
that the log fits the board it names. The functions stand in `meaning/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from schemas import events as facts
from schemas.codec import unpack_facts
from schemas.events import Event
from services.referee.rules.appliers import ending, opening, playing
from services.referee.rules.table import Table


def evolve(table: Table, event: Event) -> None:
    """Apply a fact to a table that the caller owns."""
    MEANING[event.__class__](table, event)


def elapse(table: Table, at: int) -> None:
    """Let the recorded time pass, on the clocks of the seats that the table waits for (CLOCK-1).

    A time before the last one (a clock was set back) counts as no time."""
    if table.started and table.figures.clock_ms is not None:
        passed = max(0, at - table.at)
        for seat in table.awaits:
            table.places[seat].clock_ms -= passed
    table.at = max(table.at, at)


def fold(log: Iterable[bytes], table: Table | None = None) -> Table:
    """The table that these log entries (as stored) amount to, going on from `table`, if given."""
    table = table or Table()
    for data in log:
        at, _, _, _, events = unpack_facts(data)
        fold_events(table, at, events)
    return table


def fold_events(table: Table, at: int, events: Iterable[Event]) -> None:
    """One entry: its time, then its facts."""
    elapse(table, at)
    for event in events:
        MEANING[event.__class__](table, event)


MEANING: Final[Mapping[type[Event], Callable[[Table, Any], None]]] = {
    facts.GameCreated: opening.game_created,
    facts.SeedSealed: opening.seed_sealed,
    facts.SeatTaken: opening.seat_taken,
    facts.GameStarted: opening.game_started,
    facts.DeckShuffled: opening.deck_shuffled,
    facts.TicketsShuffled: opening.tickets_shuffled,
    facts.HandDealt: opening.hand_dealt,
    facts.PositionLaid: opening.position_laid,
    facts.DeckLaid: opening.deck_laid,
    facts.TicketsLaid: opening.tickets_laid,
    facts.HandLaid: opening.hand_laid,
    facts.GameForked: opening.game_forked,
    facts.MomentLaid: opening.moment_laid,
    facts.ChoiceLaid: opening.choice_laid,
    facts.DeckKnown: opening.deck_known,
    facts.PlayResumed: opening.play_resumed,
    facts.MarketFilled: playing.market_filled,
    facts.MarketFlushed: playing.market_flushed,
    facts.CardDrawn: playing.card_drawn,
    facts.MarketCardTaken: playing.market_card_taken,
    facts.CardsGiven: playing.cards_given,
    facts.RequestUnmet: playing.request_unmet,
    facts.MixAsked: playing.mix_asked,
    facts.TicketsNamed: playing.tickets_named,
    facts.TicketsOffered: playing.tickets_offered,
    facts.TicketsKept: playing.tickets_kept,
    facts.TicketsReturned: playing.tickets_returned,
    facts.RouteClaimed: playing.route_claimed,
    facts.TunnelRevealed: playing.tunnel_revealed,
    facts.TunnelDeclined: playing.tunnel_declined,
    facts.RevealedDiscarded: playing.revealed_discarded,
    facts.StationBuilt: playing.station_built,
    facts.PassengerPlaced: playing.passenger_placed,
    facts.PassengerMoved: playing.passenger_moved,
    facts.TurnStarted: playing.turn_started,
    facts.Passed: playing.passed,
    facts.LastTurnsBegan: ending.last_turns_began,
    facts.SeatGone: ending.seat_gone,
    facts.SeatCleared: ending.seat_cleared,
    facts.TicketsShown: ending.tickets_shown,
    facts.PlayOffCalled: ending.play_off_called,
    facts.PlayOffEnded: ending.play_off_ended,
    facts.SeedRevealed: ending.seed_revealed,
    facts.GameEnded: ending.game_ended,
    facts.CommandRefused: ending.command_refused,
}
