"""A game in words: a sentence for each event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

from schemas import events
from schemas.contract import EVENT_REGISTRY, EventContract
from schemas.events import Event
from schemas.field_types import HIDDEN
from schemas.registry import HandlerTable, OfItsKey
from services.referee.games.state import GameState
from services.rulebook import title_of
from services.text.formatting import fill_in, pluralize, seat_name, seat_title

E = TypeVar("E", bound=EventContract)
EventText: TypeAlias = Callable[[GameState, OfItsKey], str | None]  # see `sentence`
SENTENCE_TABLE: Final[HandlerTable[EventContract, EventText]] = HandlerTable("sentence", EVENT_REGISTRY)


def event_sentence(state: GameState, event: Event) -> str | None:
    """One sentence about an event, given the state after it, as far as the viewer knows both; None for an
    event that people needn't read about."""
    describe = SENTENCE_TABLE.functions.get(type(event))
    return (fill_in(state, event.sentence, event) or None) if describe is None else describe(state, event)


def sentence(
    cls: type[E],
) -> Callable[[Callable[[GameState, E], str | None]], Callable[[GameState, E], str | None]]:
    """The decorator of the function that writes these events' sentences."""
    return SENTENCE_TABLE(cls)


# -- the sentences -----------------------------------------------------------------------


@sentence(events.GameCreated)
def _game_created(state: GameState, event: events.GameCreated) -> str:
    play_off_note = f", game {event.play_off.number} of a play-off" if event.play_off else ""
    board = f" on {state.own.board.title}" if event.board else ""
    return f"The table is laid: {title_of(event.ruleset)}{board}, {pluralize(len(event.seats), 'seat')}{play_off_note}."


@sentence(events.SeatTaken)
def _seat_taken(state: GameState, event: events.SeatTaken) -> str:
    return f"{state.seats[event.seat].name or 'Somebody'} sits down at {seat_title(event.seat)}."


@sentence(events.SeatFreed)
def _seat_freed(state: GameState, event: events.SeatFreed) -> str:
    return f"The host frees {seat_title(event.seat)}."


@sentence(events.GameStarted)
def _game_started(state: GameState, event: events.GameStarted) -> str:
    if not state.ruleset.is_laid(state):
        return "The cards are shuffled and dealt."
    return "The cards are dealt." if state.own.position_starter is None else "Play begins."


@sentence(events.HandDealt)
def _hand_dealt(state: GameState, event: events.HandDealt) -> str | None:
    if state.ruleset.describe is None:  # its family tells the whole deal by one sentence
        return None
    known = [card for card in event.cards if card is not HIDDEN]
    return f"{seat_name(state, event.seat)} is dealt {pluralize(len(event.cards), 'card')}{': ' if known else ''}{', '.join(known)}."


@sentence(events.GameForked)
def _game_forked(state: GameState, event: events.GameForked) -> str:
    viewer = "the public" if event.asker is None else seat_title(event.asker)
    deal_note = f"what {viewer} couldn't see is dealt afresh" if event.afresh else "everything lies as it lay"
    return f"The game goes on from game {event.of} after entry {event.at}; {deal_note}."


@sentence(events.Passed)
def _passed(state: GameState, event: events.Passed) -> str:
    return f"{seat_name(state, event.seat)} passes."


@sentence(events.SeatGone)
def _seat_gone(state: GameState, event: events.SeatGone) -> str:
    return f"{seat_name(state, event.seat)} is out of the game: {event.why}."


@sentence(events.CommandRefused)
def _command_refused(state: GameState, event: events.CommandRefused) -> str:
    sender = "The server" if event.seat is None else seat_name(state, event.seat)
    return f"{sender} is refused: {event.rule}, {event.why}."


@sentence(events.PlayOffCalled)
def _play_off_called(state: GameState, event: events.PlayOffCalled) -> str:
    names = " and ".join(seat_name(state, seat) for seat in event.seats)
    return f"{names} share the first place: they play off in game {event.game}."


@sentence(events.PlayOffEnded)
def _play_off_ended(state: GameState, event: events.PlayOffEnded) -> str:
    winners = " and ".join(seat_title(seat) for seat in event.winners)
    won = "won" if len(event.winners) == 1 else "are level"
    return f"The play-off of game {event.of} is over: {winners} of that game {won}."


@sentence(events.UndoAnswered)
def _undo_answered(state: GameState, event: events.UndoAnswered) -> str:
    return f"{seat_name(state, event.seat)} {'agrees' if event.agrees else 'does not agree'}."


@sentence(events.GameEnded)
def _game_ended(state: GameState, event: events.GameEnded) -> str:
    return f"The game is over: {event.reason}."


SENTENCE_TABLE.none_for(
    *(cls for cls in EVENT_REGISTRY.classes if cls.sentence),
    events.AccessSet,
    events.SeatCleared,
    events.SeedRevealed,
    events.SeedSealed,
    events.DeckShuffled,
    events.PlayResumed,
    events.TurnStarted,
)
