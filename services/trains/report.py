"""Running a folder of cases: each is answered, compared, and counted by its kind."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import track
from rich.table import Table as Grid

from schemas.errors import InvalidInputError
from services.trains.case_kinds import KINDS, answer_case
from services.trains.cases import Case, read_cases


class Failure(NamedTuple):
    id: str
    expected: Any
    answer: Any


class Tally(NamedTuple):
    """What came of the cases of one kind."""

    kind: str
    cases: int
    failures: tuple[Failure, ...]
    played: bool  # whether we have an answer to this kind at all

    @property
    def passed(self) -> int:
        return self.cases - len(self.failures) if self.played else 0


def run_folder(folder: Path, quiet: bool) -> list[Tally]:
    """Answer every case of a folder, with a progress bar on a terminal unless told to be quiet.

    Raises Malformed, naming the file and the entry that is not of the form."""
    cases = read_cases(folder)
    console = Console(stderr=True)
    bar = track(cases, "playing", console=console, transient=True, disable=quiet or not console.is_terminal)
    return tally_by_kind(cases, [failure for case in bar if (failure := check_case(case))])


def check_case(case: Case) -> Failure | None:
    """How our answer differs from what is to come out, if it does, and we have one."""
    if case.kind not in KINDS:
        return None
    values, expected = case.read()
    try:
        actual = answer_case(case.kind, values)
    except InvalidInputError as error:
        raise InvalidInputError(str(case.input_path), str(error), error.rule) from None
    return None if actual == expected else Failure(case.id, expected, actual)


def tally_by_kind(cases: Iterable[Case], failures: Iterable[Failure]) -> list[Tally]:
    """By kind, in the order of the numbers that kinds begin with."""
    counts: dict[str, int] = {}
    for case in cases:
        counts[case.kind] = counts.get(case.kind, 0) + 1
    all_failures = tuple(failures)
    return [
        Tally(
            kind, counts[kind], tuple(f for f in all_failures if f.id.startswith(f"{kind}/")), kind in KINDS
        )
        for kind in sorted(counts, key=_kind_order)
    ]


def _kind_order(kind: str) -> tuple[int, str]:
    digits = kind.partition("-")[0]
    return (int(digits) if digits.isdecimal() and len(digits) < 10 else 0, kind)


def tally_table(tallies: Iterable[Tally]) -> Grid:
    """The tally for people."""
    table = Grid("kind", "cases", "passed", "failed", "which failed")
    for tally in tallies:
        if tally.played:
            ids = ", ".join(failure.id.partition("/")[2] for failure in tally.failures)
            row = (str(tally.passed), str(len(tally.failures)), ids)
        else:
            row = ("-", "-", "not played")
        table.add_row(tally.kind, str(tally.cases), *row)
    return table


def tally_json(tallies: Iterable[Tally]) -> dict[str, Any]:
    """The tally for programs, with the answers of the failed cases beside what is to come out."""
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
