"""Answers a folder of cases, compares each answer with the expected one, and counts by kind."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import track
from rich.table import Table

from schemas.errors import InvalidInputError
from services.trains.case_kinds import KINDS, answer_case
from services.trains.cases import Case, read_cases


class Failure(NamedTuple):
    """A case whose answer isn't the expected one; both as JSON values."""

    id: str
    expected: object
    answer: object


class Tally(NamedTuple):
    """The results of the cases of one kind."""

    kind: str
    cases: int
    failures: tuple[Failure, ...]
    played: bool  # whether we can answer this kind

    @property
    def passed(self) -> int:
        """How many answers are the expected ones."""
        return self.cases - len(self.failures) if self.played else 0


def run_folder(folder: Path, quiet: bool) -> list[Tally]:
    """Answer every case of a folder, with a progress bar on a terminal unless `quiet`.

    Raises InvalidInputError, naming the file and its bad entry."""
    cases = read_cases(folder)
    console = Console(stderr=True)
    bar = track(cases, "playing", console=console, transient=True, disable=quiet or not console.is_terminal)
    return tally_by_kind(cases, [failure for case in bar if (failure := check_case(case))])


def check_case(case: Case) -> Failure | None:
    """The failure of a case; None where our answer is the expected one, or where we can't answer its kind.

    Raises InvalidInputError, naming the file and its bad entry."""
    if case.kind not in KINDS:
        return None
    values, expected = case.read()
    try:
        actual = answer_case(case.kind, values)
    except InvalidInputError as error:
        raise InvalidInputError(str(case.input_path), str(error), error.rule) from None
    return None if actual == expected else Failure(case.id, expected, actual)


def tally_by_kind(cases: Iterable[Case], failures: Iterable[Failure]) -> list[Tally]:
    """One tally for each kind, in the order of the numbers that the kinds begin with."""
    counts: dict[str, int] = {}
    for case in cases:
        counts[case.kind] = counts.get(case.kind, 0) + 1
    all_failures = tuple(failures)
    return [
        Tally(
            kind=kind,
            cases=counts[kind],
            failures=tuple(failure for failure in all_failures if failure.id.startswith(f"{kind}/")),
            played=kind in KINDS,
        )
        for kind in sorted(counts, key=_kind_order)
    ]


def _kind_order(kind: str) -> tuple[int, str]:
    digits = kind.partition("-")[0]
    return (int(digits) if digits.isdecimal() and len(digits) < 10 else 0, kind)


def tally_table(tallies: Iterable[Tally]) -> Table:
    """The tallies as a table for a terminal."""
    table = Table("kind", "cases", "passed", "failed", "which failed")
    for tally in tallies:
        if tally.played:
            ids = ", ".join(failure.id.partition("/")[2] for failure in tally.failures)
            row = (str(tally.passed), str(len(tally.failures)), ids)
        else:
            row = ("-", "-", "not played")
        table.add_row(tally.kind, str(tally.cases), *row)
    return table


def tally_json(tallies: Iterable[Tally]) -> dict[str, object]:
    """The tallies as JSON, with answer and expected answer of the failed cases."""
    return {
        "kinds": [
            {
                "kind": tally.kind,
                "cases": tally.cases,
                "played": tally.played,
                "passed": tally.passed,
                "failed": [failure._asdict() for failure in tally.failures],
            }
            for tally in tallies
        ]
    }
