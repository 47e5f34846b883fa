"""Longest trails computed by somebody else."""

from __future__ import annotations

from services.referee.games.trains.search.longest_trail import longest_trail
from tests.conformance.recorded import CASES, read


def test_SCORE_3_agrees_with_cases_that_nobody_of_this_project_wrote() -> None:
    cases = read(CASES / "longest-trail.json")["cases"]
    assert len(cases) == 16
    for case in cases:
        edges = [(a, b, length) for a, b, length in case["edges"]]
        assert longest_trail(edges) == case["longest"], case["case"]
