"""The whole game on the arbiter's page, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from schemas.entries import Entry
from schemas.events import TurnStarted
from services.referee.rules import GameState, fold_events
from services.text.commands import describe_command, sender_name
from services.text.events import event_sentence
from services.text.formatting import format_game_time, pluralize, seat_name
from services.verification.findings import Finding
from services.verification.replay import Replay
from services.verification.replay_errors import REPLAY_ERRORS, replaying


class EntryLine(NamedTuple):
    """An entry in words."""

    sequence: int
    at_ms: int
    sentences: tuple[str, ...]
    refused: bool


class TurnEntries(NamedTuple):
    """Some entries, from one turn's start to the next."""

    title: str
    lines: list[EntryLine]


class EntryRow(NamedTuple):
    """An entry on the page."""

    sequence: int
    time: str
    sentences: Sequence[str]
    problems: Sequence[str]  # what findings state of it
    css: str


class Tag(NamedTuple):
    """A short remark beside a turn's title."""

    text: str
    css: str


class TurnSection(NamedTuple):
    """A turn on the page; it stands open if it has a finding, or the entry asked for."""

    title: str
    entry_range: str
    is_open: bool
    tags: Sequence[Tag]
    lines: Sequence[EntryRow]


class TurnsSection(NamedTuple):
    """Every entry of the game, by turn, and why there are no more; empty if there are none."""

    turns: Sequence[TurnSection]
    stop_reason: str


def turns_section(replay: Replay, findings: Sequence[Finding], marked_sequence: int | None) -> TurnsSection:
    """The section with every entry; `marked_sequence` is the entry that the page explains."""
    problems: dict[int, list[str]] = {}
    for finding in findings:
        if finding.number is not None:
            problems.setdefault(finding.number, []).append(finding.why)
    turns, stop_reason = narrate_log(replay)
    return TurnsSection([_turn_section(turn, problems, marked_sequence) for turn in turns], stop_reason)


def narrate_log(replay: Replay) -> tuple[list[TurnEntries], str]:
    """The turns of a log as far as it can be folded, and why no further."""
    state, stop_reason = GameState(replay.names), ""
    turn_entries = [TurnEntries("Before the first turn", [])]
    for sequence in range(1, len(replay.log) + 1):
        try:
            with replaying():
                entry = replay.entry(sequence)
                line = _narrate_entry(state, sequence, entry)
        except REPLAY_ERRORS as error:
            stop_reason = (
                f"Entry {sequence} can't be read or folded ({error}): nothing is shown from there on."
            )
            break
        turn_entries[-1].lines.append(line)
        started_seats = [event.seat for event in entry.events if isinstance(event, TurnStarted)]
        if started_seats:
            turn_entries.append(
                TurnEntries(f"Turn {len(turn_entries)}: {seat_name(state, started_seats[-1])}", [])
            )
    return [turn for turn in turn_entries if turn.lines], stop_reason


def _narrate_entry(state: GameState, sequence: int, entry: Entry) -> EntryLine:
    command_text = describe_command(state, entry.seat, entry.command)
    sentences = []
    for event in entry.events:
        fold_events(state, entry.at, (event,))
        if sentence := event_sentence(state, event):
            sentences.append(sentence)
    if entry.refusal:
        sentences.insert(0, f"{sender_name(state, entry.seat)} wants to {command_text}.")
    default_sentence = f"{sender_name(state, entry.seat)}: {command_text}."
    return EntryLine(sequence, entry.at, tuple(sentences) or (default_sentence,), entry.refusal is not None)


def _turn_section(
    turn: TurnEntries, problems: Mapping[int, Sequence[str]], marked_sequence: int | None
) -> TurnSection:
    sequences = range(turn.lines[0].sequence, turn.lines[-1].sequence + 1)
    return TurnSection(
        title=turn.title,
        entry_range=_entry_range(sequences),
        is_open=marked_sequence in sequences or any(number in sequences for number in problems),
        tags=[*_turn_tags(turn, problems, marked_sequence)],
        lines=[_entry_row(line, problems, marked_sequence) for line in turn.lines],
    )


def _turn_tags(
    turn: TurnEntries, problems: Mapping[int, Sequence[str]], marked_sequence: int | None
) -> Iterator[Tag]:
    refused = sum(line.refused for line in turn.lines)
    if refused:
        yield Tag(pluralize(refused, "refusal"), "tag")
    problem_count = sum(len(problems.get(line.sequence, ())) for line in turn.lines)
    if problem_count:
        yield Tag(pluralize(problem_count, "finding"), "tag bad")
    if any(line.sequence == marked_sequence for line in turn.lines):
        yield Tag("the move above", "tag marked")


def _entry_range(sequences: range) -> str:
    return f"entry {sequences[0]}" if len(sequences) == 1 else f"entries {sequences[0]} to {sequences[-1]}"


def _entry_row(
    line: EntryLine, problems: Mapping[int, Sequence[str]], marked_sequence: int | None
) -> EntryRow:
    classes = (("refused", line.refused), ("marked", line.sequence == marked_sequence))
    return EntryRow(
        sequence=line.sequence,
        time=format_game_time(line.at_ms),
        sentences=line.sentences,
        problems=problems.get(line.sequence, ()),
        css=" ".join(name for name, applies in classes if applies),
    )
