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
from services.verification.redecide import REPLAY_ERRORS
from services.verification.replay import Replay
from services.verification.report.html import Html, el


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


def turns_section(replay: Replay, findings: Sequence[Finding], marked_sequence: int | None) -> Html:
    """The section with every entry. Turns with a finding, or the entry asked for, stand open."""
    problems: dict[int, list[str]] = {}
    for finding in findings:
        if finding.number is not None:
            problems.setdefault(finding.number, []).append(finding.why)
    turn_entries, stop_reason = narrate_log(replay)
    return el(
        "section",
        el("h2", "The whole game, turn by turn"),
        *(_turn_details(turn, problems, marked_sequence) for turn in turn_entries),
        el("p", stop_reason, class_="bad note") if stop_reason else None,
        id="game",
    )


def narrate_log(replay: Replay) -> tuple[list[TurnEntries], str]:
    """The turns of a log as far as it can be folded, and why no further."""
    state, turn_entries, stop_reason = GameState(), [TurnEntries("Before the first turn", [])], ""
    for sequence in range(1, len(replay.log) + 1):
        try:
            entry = replay.entry(sequence)
            line = _narrate_entry(state, sequence, entry)
        except REPLAY_ERRORS as error:
            stop_reason = (
                f"Entry {sequence} can't be read or folded ({error}): nothing is told from there on."
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


def _turn_details(
    turn: TurnEntries, problems: Mapping[int, Sequence[str]], marked_sequence: int | None
) -> Html:
    sequences = range(turn.lines[0].sequence, turn.lines[-1].sequence + 1)
    is_open = marked_sequence in sequences or any(number in sequences for number in problems)
    summary = el(
        "summary",
        el("span", turn.title, class_="turn"),
        el("span", f" {_entry_range(sequences)}", class_="quiet"),
        *_turn_tags(turn, problems, marked_sequence),
    )
    return el(
        "details",
        summary,
        el("ol", *(_entry_item(line, problems, marked_sequence) for line in turn.lines)),
        open=is_open,
    )


def _turn_tags(
    turn: TurnEntries, problems: Mapping[int, Sequence[str]], marked_sequence: int | None
) -> Iterator[Html]:
    refused = sum(line.refused for line in turn.lines)
    if refused:
        yield el("span", pluralize(refused, "refusal"), class_="tag")
    problem_count = sum(len(problems.get(line.sequence, ())) for line in turn.lines)
    if problem_count:
        yield el("span", pluralize(problem_count, "finding"), class_="tag bad")
    if any(line.sequence == marked_sequence for line in turn.lines):
        yield el("span", "the move above", class_="tag marked")


def _entry_range(sequences: range) -> str:
    return f"entry {sequences[0]}" if len(sequences) == 1 else f"entries {sequences[0]} to {sequences[-1]}"


def _entry_item(line: EntryLine, problems: Mapping[int, Sequence[str]], marked_sequence: int | None) -> Html:
    classes = [
        name
        for name, applies in (("refused", line.refused), ("marked", line.sequence == marked_sequence))
        if applies
    ]  # fmt: skip
    anchor = el("a", str(line.sequence), href=f"#e{line.sequence}", aria_label=f"entry {line.sequence}")
    notes = (el("p", why, class_="bad note") for why in problems.get(line.sequence, ()))
    body = el("div", *(el("p", sentence) for sentence in line.sentences), *notes)
    return el(
        "li",
        anchor,
        el("time", format_game_time(line.at_ms)),
        body,
        id=f"e{line.sequence}",
        class_=" ".join(classes) or None,
    )
