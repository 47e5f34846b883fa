"""A change of what the hot paths execute is seen in the commit that makes it, and explained there."""

from __future__ import annotations

import json

import pytest

from tests.bench.instructions import RECORD, count_apart, unexplained

BEFORE = {"python": "3.11", "counted": {"fold": 1_000}}


@pytest.mark.long
def test_the_hot_paths_execute_what_is_recorded() -> None:
    found = unexplained(json.loads(RECORD.read_text(encoding="utf-8")), count_apart())
    explain = 'python -m tests.bench.instructions --record "WHY"'
    assert found == [], f"if that is meant, say why: {explain}"


def test_a_change_of_more_than_5_percent_is_named_whichever_way_it_goes() -> None:
    assert unexplained(BEFORE, {"fold": 1_050}, "3.11") == unexplained(BEFORE, {"fold": 950}, "3.11") == []
    assert unexplained(BEFORE, {"fold": 1_051}, "3.11") == ["fold: 1,051 instructions, recorded are 1,000"]
    assert unexplained(BEFORE, {"fold": 949, "new": 1}, "3.11") == [
        "fold: 949 instructions, recorded are 1,000",
        "new: 1 instructions, recorded are 0",
    ]


def test_another_version_of_python_has_other_instructions() -> None:
    assert unexplained(BEFORE, {"fold": 1_250}, "3.13") == []
    assert len(unexplained(BEFORE, {"fold": 1_251}, "3.13")) == 1
