"""Cases of the Trains course and its staff's program: our core gives the same answer to each."""

from __future__ import annotations

from collections import Counter

import pytest

from services.trains.cases import KINDS, Case, check_case, read_cases, run_folder
from services.trains_server.server_cases import ALL_KINDS
from tests.conformance.recorded import CASES
from tests.long_runs import short_and_long

FOLDER = CASES / "trains"
ALL = read_cases(FOLDER)
PLAYED = [case for case in ALL if case.kind in KINDS]


def test_all_cases_are_read() -> None:
    assert Counter(case.kind for case in ALL) == {
        "3-xmap": 13, "5-xlegal": 22, "6-xstrategy": 23, "8-xref": 52, "9-xmanager": 26, "10-xserver": 19,
    }  # fmt: skip
    assert len(PLAYED) == 136


@pytest.mark.parametrize("kind", KINDS)
def test_a_case_has_the_answer_that_it_should_have(kind: str, subtests: pytest.Subtests) -> None:
    for case in PLAYED:
        if case.kind == kind:
            with subtests.test(case.id):
                assert check_case(case) is None


def players_of(case: Case) -> list[object]:
    """The players of a tournament's case."""
    match case.read():
        case ([_, [*players], _], _):
            return players
    raise AssertionError(case.id)


@pytest.mark.parametrize("most", short_and_long(9, 50))
def test_a_tournament_over_tcp_has_the_result_that_it_should_have(
    most: int, subtests: pytest.Subtests
) -> None:
    """In the short run only those of a few players, in the long one all."""
    for case in ALL:
        if case.kind in ALL_KINDS.keys() - KINDS and len(players_of(case)) <= most:
            with subtests.test(case.id):
                assert check_case(case, ALL_KINDS) is None


def test_the_tally_counts_them_kind_by_kind() -> None:
    tallies = run_folder(FOLDER, quiet=True)
    counts = [(tally.kind, tally.cases, tally.passed, tally.played) for tally in tallies]
    assert counts == [
        ("3-xmap", 13, 13, True),
        ("5-xlegal", 22, 22, True),
        ("6-xstrategy", 23, 23, True),
        ("8-xref", 52, 52, True),
        ("9-xmanager", 26, 26, True),
        ("10-xserver", 19, 0, False),
    ]
