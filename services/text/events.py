"""A game in words: a sentence for each event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from schemas import events
from schemas.contract import EventContract
from schemas.events import Event
from schemas.field_types import HIDDEN
from schemas.registry import OfItsKey
from services.referee.games.state import GameState
from services.rulebook import title_of
from services.text.formatting import fill_in, pluralize, seat_name, seat_title

EventText: TypeAlias = Callable[[GameState, OfItsKey], str | None]  # given the state after the event


def event_sentence(state: GameState, event: Event) -> str | None:
    """One sentence about an event, given the state after it, as far as the viewer knows both; None for an
    event that people needn't read about."""
    words = SENTENCES.get(type(event), event.sentence)
    return (words and fill_in(state, words, event)) if isinstance(words, str | None) else words(state, event)


def _game_created(state: GameState, event: events.GameCreated) -> str:
    play_off_note = f", game {event.play_off.number} of a play-off" if event.play_off else ""
    board = f" on {state.own.board.title}" if event.board else ""
    return f"The table is laid: {title_of(event.ruleset)}{board}, {pluralize(len(event.seats), 'seat')}{play_off_note}."


def _game_started(state: GameState, event: events.GameStarted) -> str:
    if not state.ruleset.is_laid(state):
        return "The cards are shuffled and dealt."
    return "The cards are dealt." if state.own.position_starter is None else "Play begins."


def _hand_dealt(state: GameState, event: events.HandDealt) -> str | None:
    if state.ruleset.describe is None:  # its family tells the whole deal by one sentence
        return None
    known = [card for card in event.cards if card is not HIDDEN]
    return f"{seat_name(state, event.seat)} is dealt {pluralize(len(event.cards), 'card')}{': ' if known else ''}{', '.join(known)}."


def _game_forked(state: GameState, event: events.GameForked) -> str:
    viewer = "the public" if event.asker is None else seat_title(event.asker)
    deal_note = f"what {viewer} couldn't see is dealt afresh" if event.afresh else "everything lies as it lay"
    return f"The game goes on from game {event.of} after entry {event.at}; {deal_note}."


def _command_refused(state: GameState, event: events.CommandRefused) -> str:
    sender = "The server" if event.seat is None else seat_name(state, event.seat)
    return f"{sender} is refused: {event.rule}, {event.why}."


def _play_off_called(state: GameState, event: events.PlayOffCalled) -> str:
    names = " and ".join(seat_name(state, seat) for seat in event.seats)
    return f"{names} share the first place: they play off in game {event.game}."


def _play_off_ended(state: GameState, event: events.PlayOffEnded) -> str:
    winners = " and ".join(seat_title(seat) for seat in event.winners)
    won = "won" if len(event.winners) == 1 else "are level"
    return f"The play-off of game {event.of} is over: {winners} of that game {won}."


# What a game's own events don't say themselves, its family adds.
SENTENCES: Final[dict[type[EventContract], str | EventText | None]] = {
    events.GameCreated: _game_created,
    events.SeatTaken: lambda state, event: (
        f"{state.seats[event.seat].name or 'Somebody'} sits down at {seat_title(event.seat)}."
    ),
    events.SeatFreed: lambda state, event: f"The host frees {seat_title(event.seat)}.",
    events.GameStarted: _game_started,
    events.HandDealt: _hand_dealt,
    events.GameForked: _game_forked,
    events.Passed: "{seat} passes.",
    events.SeatGone: "{seat} is out of the game: {why}.",
    events.CommandRefused: _command_refused,
    events.PlayOffCalled: _play_off_called,
    events.PlayOffEnded: _play_off_ended,
    events.UndoAnswered: lambda state, event: (
        f"{seat_name(state, event.seat)} {'agrees' if event.agrees else 'does not agree'}."
    ),
    events.GameEnded: "The game is over: {reason}.",
    **dict.fromkeys(
        (
            events.AccessSet,
            events.SeatCleared,
            events.SeedRevealed,
            events.SeedSealed,
            events.DeckShuffled,
            events.PlayResumed,
            events.TurnStarted,
        )
    ),
}
