"""A game in words: what a seat asked for, and a sentence for each event; and its state, summarized as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from schemas import commands, events
from schemas.commands import Command
from schemas.contract import CommandContract, EventContract, Json, wish_of
from schemas.events import Event, Score, SeatScore
from schemas.field_types import HIDDEN, Seat
from schemas.registry import OfItsGame, OfItsKey
from services.referee.games.state import GameState, SeatState
from services.rulebook import title_of
from services.text.formatting import fill_in, pluralize, seat_name, seat_title

CommandText: TypeAlias = Callable[[GameState, Seat | None, OfItsKey], str]  # of its sender


def sender_name(state: GameState, seat: Seat | None) -> str:
    """The sender of a command: a seat by its name and letter, or "the server" (a system command)."""
    if seat is None or seat >= len(state.seats):
        return "the server" if seat is None else f"seat {seat}"
    name = state.seats[seat].name
    return f"{name} ({seat_title(seat)})" if name else seat_title(seat)


def describe_command(state: GameState, seat: Seat | None, command: Command) -> str:
    """The command as what somebody wants to do: "play the queen of hearts". One that names
    what the table lacks is described by its fields as they are."""
    words = DESCRIPTIONS.get(type(command), command.description)
    try:
        return fill_in(state, words, command) if isinstance(words, str) else words(state, seat, command)
    except (LookupError, AttributeError):  # something that isn't on the table, or no table yet
        return _raw_text(command)


def group_commands(
    state: GameState, seat: Seat, alternatives: Sequence[Command]
) -> list[tuple[str, list[str]]]:
    """Many commands as a few titles: each by its type, or as its game titles it. Each title has its variants, which may
    be none."""
    groups: dict[str, list[str]] = {}
    for command in alternatives:
        title, detail = command_title(state, seat, command)
        details = groups.setdefault(title, [])
        if detail:
            details.append(detail)
    return list(groups.items())


def command_title(state: GameState, seat: Seat, command: Command) -> tuple[str, str]:
    """The title of the group that a command belongs to, and which of the group it is (may be empty)."""
    if (title := TITLES.get(type(command))) is not None:
        return title(state, command)
    text, kind = describe_command(state, seat, command), wish_of(command)
    return (kind, text.removeprefix(kind).strip(": ")) if text.startswith(kind) else (text, "")


def _raw_text(command: Command) -> str:
    fields = ((name, getattr(command, name)) for name in commands.FIELDS[type(command)])
    values = ", ".join(f"{name} {value}" for name, value in fields if value is not None)
    return command.type.replace("_", " ") + (f": {values}" if values else "")


def _take_seat(state: GameState, seat: Seat | None, command: commands.TakeSeat) -> str:
    name = command.name or state.name_of(command.name_commitment)
    return f"take a seat as {name}" if name else "take a seat"


# What a game's own commands don't say themselves, its family adds.
DESCRIPTIONS: Final[dict[type[CommandContract], str | CommandText]] = {
    commands.StartGame: "start the game",
    commands.Pass: "pass",
    commands.Leave: "leave the table",
    commands.EndGame: "end the game, in which nobody has acted for long",
    commands.ForkGame: "fork game",
    commands.CreateGame: lambda state, seat, command: (
        f"create a game with {pluralize(len(command.seats), 'seat')}"
    ),
    commands.TakeSeat: _take_seat,
    commands.CallTime: lambda state, seat, command: (
        f"say that the time of {seat_name(state, command.seat)} is over"
    ),
    commands.FreeSeat: lambda state, seat, command: f"free {seat_title(command.seat)}",
    commands.SeatBot: lambda state, seat, command: (
        f"let a bot take {seat_title(command.seat)}: {command.policy}"
    ),
    commands.AnswerUndo: lambda state, seat, command: (
        "let the last move be taken back" if command.agrees else "let the last move stand"
    ),
}
# The title of these commands, and what tells them apart below it.
TITLES: Final[dict[type[CommandContract], Callable[[GameState, OfItsKey], tuple[str, str]]]] = {}


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


def game_status(state: GameState) -> str:
    """`waiting` (for players, or to be started), `playing`, or `over`."""
    if state.result:
        return "over"
    return "playing" if state.started else "waiting"


def game_summary_json(state: GameState, event_count: int, entry_count: int) -> Json:
    """A game as a JSON object: its seats and their scores, as far as this state knows them."""
    own = OWN_SUMMARIES.get(type(state.own), _BY_PARTS)
    scores = state.result.scores if state.result else state.ruleset.score(state)
    seats = [
        {
            "seat": score.seat,
            "name": seat_state.name,
            "policy": seat_state.policy,
            **own.of_seat(score, seat_state),
            "total": score.total,
            "place": score.place,
            "gone": seat_state.exit_reason,
        }
        for score, seat_state in zip(scores, state.seats, strict=True)
    ]
    return {
        "game": state.game,
        "ruleset": state.ruleset.name,
        **own.of_game(state),
        "state": game_status(state),
        "ended": state.result.reason if state.result else None,
        "play_off": state.next_play_off.game if state.next_play_off else None,
        "play_off_of": state.play_off.of if state.play_off else None,
        **({"forked": dict(zip(("of", "at"), state.fork_origin, strict=True))} if state.fork_origin else {}),
        "events": event_count,
        "entries": entry_count,
        "seats": seats,
    }


class OwnSummary(NamedTuple):
    """What a summary says, besides, of a game whose score isn't made of named parts."""

    of_game: Callable[[GameState], Json]
    of_seat: Callable[[OfItsGame, SeatState], Json]  # of its score


OWN_SUMMARIES: Final[dict[type, OwnSummary]] = {}  # by the class of the game's own state


def _scored_parts(score: Score, seat_state: SeatState) -> Json:
    assert isinstance(score, SeatScore), "a game that counts otherwise has a summary of its own"
    return dict(score.parts)


_BY_PARTS: Final = OwnSummary(lambda state: {}, _scored_parts)
