"""The whole game on the arbiter's page, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from schemas.codec import unpack_entry
from schemas.entries import Entry
from schemas.events import TurnStarted
from services.referee.rules import Table, fold_events
from services.text.commands import speaker, wish
from services.text.events import count, tell, who
from services.text.formatting import clock
from services.verification.findings import Finding
from services.verification.report.html import Html, el
from services.verification.verdict_check import UNREADABLE


class Line(NamedTuple):
    """An entry in words."""

    number: int
    at: int
    sentences: tuple[str, ...]
    refused: bool


class Turn(NamedTuple):
    """Some entries, from one turn's start to the next."""

    title: str
    lines: list[Line]


def turns(log: Sequence[bytes], findings: Sequence[Finding], at: int | None) -> Html:
    """The section with every entry. Turns with a finding, or the entry asked for, stand open."""
    wrong: dict[int, list[str]] = {}
    for finding in findings:
        if finding.number is not None:
            wrong.setdefault(finding.number, []).append(finding.why)
    told, broken = read(log)
    return el(
        "section",
        el("h2", "The whole game, turn by turn"),
        *(_turn(turn, wrong, at) for turn in told),
        el("p", broken, class_="bad note") if broken else None,
        id="game",
    )


def read(log: Sequence[bytes]) -> tuple[list[Turn], str]:
    """The turns of a log as far as it can be folded, and why no further."""
    table, told, broken = Table(), [Turn("Before the first turn", [])], ""
    for number, data in enumerate(log, 1):
        try:
            entry = unpack_entry(data)
            line = _line(table, number, entry)
        except UNREADABLE as error:
            broken = f"Entry {number} can't be read or folded ({error}): nothing is told from there on."
            break
        told[-1].lines.append(line)
        begins = [event.seat for event in entry.events if isinstance(event, TurnStarted)]
        if begins:
            told.append(Turn(f"Turn {len(told)}: {who(table, begins[-1])}", []))
    return [turn for turn in told if turn.lines], broken


def _line(table: Table, number: int, entry: Entry) -> Line:
    asked = wish(table, entry.seat, entry.command)
    sentences = []
    for event in entry.events:
        fold_events(table, entry.at, (event,))
        if sentence := tell(table, event):
            sentences.append(sentence)
    if entry.refusal:
        sentences.insert(0, f"{speaker(table, entry.seat)} wants to {asked}.")
    quiet = f"{speaker(table, entry.seat)}: {asked}."
    return Line(number, entry.at, tuple(sentences) or (quiet,), entry.refusal is not None)


def _turn(turn: Turn, wrong: Mapping[int, Sequence[str]], at: int | None) -> Html:
    numbers = range(turn.lines[0].number, turn.lines[-1].number + 1)
    shown = at in numbers or any(number in numbers for number in wrong)
    summary = el(
        "summary",
        el("span", turn.title, class_="turn"),
        el("span", f" {_entries(numbers)}", class_="quiet"),
        *_marks(turn, wrong, at),
    )
    return el("details", summary, el("ol", *(_item(line, wrong, at) for line in turn.lines)), open=shown)


def _marks(turn: Turn, wrong: Mapping[int, Sequence[str]], at: int | None) -> Iterator[Html]:
    refused = sum(line.refused for line in turn.lines)
    if refused:
        yield el("span", count(refused, "refusal"), class_="tag")
    found = sum(len(wrong.get(line.number, ())) for line in turn.lines)
    if found:
        yield el("span", count(found, "finding"), class_="tag bad")
    if any(line.number == at for line in turn.lines):
        yield el("span", "the move above", class_="tag marked")


def _entries(numbers: range) -> str:
    return f"entry {numbers[0]}" if len(numbers) == 1 else f"entries {numbers[0]} to {numbers[-1]}"


def _item(line: Line, wrong: Mapping[int, Sequence[str]], at: int | None) -> Html:
    kinds = [
        name
        for name, held in (("refused", line.refused), ("marked", line.number == at))
        if held
    ]  # fmt: skip
    number = el("a", str(line.number), href=f"#e{line.number}", aria_label=f"entry {line.number}")
    found = (el("p", why, class_="bad note") for why in wrong.get(line.number, ()))
    said = el("div", *(el("p", sentence) for sentence in line.sentences), *found)
    return el(
        "li", number, el("time", clock(line.at)), said, id=f"e{line.number}", class_=" ".join(kinds) or None
    )
