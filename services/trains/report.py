"""Answers a folder of cases, compares each answer with the expected one, and counts by kind.

A case that can't be read is counted and reported like one that fails, and the next one is answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from rich.console import Console
from rich.progress import track
from rich.table import Table

from schemas.errors import InvalidInputError
from services.text.formatting import in_one_line
from services.trains.case_kinds import KINDS, CaseSolver, answer_case
from services.trains.cases import Case, read_cases


class Failure(NamedTuple):
    """A case whose answer isn't the expected one; both as JSON values."""

    id: str
    expected: object
    answer: object


class UnreadableCase(NamedTuple):
    """A case with a value that is not of its form, or of a game that can't be played; `why` names file and
    entry."""

    id: str
    why: str


Shortfall: TypeAlias = Failure | UnreadableCase  # why a case has not passed


class Tally(NamedTuple):
    """The results of the cases of one kind."""

    kind: str
    cases: int
    failures: tuple[Failure, ...]
    unreadable: tuple[UnreadableCase, ...]
    played: bool  # whether we can answer this kind

    @property
    def passed(self) -> int:
        """How many answers are the expected ones."""
        return self.cases - len(self.failures) - len(self.unreadable) if self.played else 0


def run_folder(folder: Path, quiet: bool, kinds: Mapping[str, CaseSolver] = KINDS) -> list[Tally]:
    """Answer every case of a folder that is of one of these kinds, with a progress bar on a terminal unless `quiet`.

    Raises InvalidInputError, naming the index and its bad entry, where it doesn't say which cases there are."""
    cases = read_cases(folder)
    console = Console(stderr=True)
    bar = track(cases, "playing", console=console, transient=True, disable=quiet or not console.is_terminal)
    shortfalls = [shortfall for case in bar if (shortfall := check_case(case, kinds))]
    return tally_by_kind(cases, shortfalls, kinds)


def check_case(case: Case, kinds: Mapping[str, CaseSolver] = KINDS) -> Shortfall | None:
    """Why a case has not passed; None where our answer is the expected one, or where its kind is none of these."""
    solver = kinds.get(case.kind)
    if solver is None:
        return None
    try:
        values, expected = case.read()
    except InvalidInputError as error:
        return UnreadableCase(case.id, str(error))
    try:
        actual = answer_case(solver, values)
    except InvalidInputError as error:
        return UnreadableCase(case.id, f"{case.input_path}: {error}")
    return None if actual == expected else Failure(case.id, expected, actual)


def tally_by_kind(
    cases: Iterable[Case], shortfalls: Iterable[Shortfall], kinds: Mapping[str, CaseSolver] = KINDS
) -> list[Tally]:
    """One tally for each kind, in the order of the numbers that the kinds begin with."""
    counts: dict[str, int] = {}
    for case in cases:
        counts[case.kind] = counts.get(case.kind, 0) + 1
    by_kind: dict[str, list[Shortfall]] = {kind: [] for kind in counts}
    for shortfall in shortfalls:
        by_kind[shortfall.id.partition("/")[0]].append(shortfall)
    return [
        Tally(
            kind=kind,
            cases=counts[kind],
            failures=tuple(each for each in by_kind[kind] if isinstance(each, Failure)),
            unreadable=tuple(each for each in by_kind[kind] if isinstance(each, UnreadableCase)),
            played=kind in kinds,
        )
        for kind in sorted(counts, key=_kind_order)
    ]


def _kind_order(kind: str) -> tuple[int, str]:
    digits = kind.partition("-")[0]
    return (int(digits) if digits.isdecimal() and len(digits) < 10 else 0, kind)


def tally_table(tallies: Iterable[Tally]) -> Table:
    """The tallies as a table for a terminal."""
    table = Table("kind", "cases", "passed", "failed", "unreadable", "which failed")
    for tally in tallies:
        if tally.played:
            counts = (tally.passed, len(tally.failures), len(tally.unreadable))
            row = (
                *map(str, counts),
                ", ".join(failure.id.partition("/")[2] for failure in tally.failures),
            )
        else:
            row = ("-", "-", "-", "not played")
        table.add_row(tally.kind, str(tally.cases), *row)
    return table


def unreadable_lines(tallies: Iterable[Tally]) -> Iterator[str]:
    """A line for each case that can't be read: its id, and why."""
    for tally in tallies:
        for case in tally.unreadable:
            yield in_one_line(f"{case.id} can't be read: {case.why}")


def tally_json(tallies: Iterable[Tally]) -> dict[str, object]:
    """The tallies as JSON, with answer and expected answer of the failed cases, and why others can't be read."""
    return {
        "kinds": [
            {
                "kind": tally.kind,
                "cases": tally.cases,
                "played": tally.played,
                "passed": tally.passed,
                "failed": [failure._asdict() for failure in tally.failures],
                "unreadable": [case._asdict() for case in tally.unreadable],
            }
            for tally in tallies
        ]
    }
