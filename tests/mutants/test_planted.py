"""The list of planted bugs fits the tree: each can be planted, and is another program."""

from __future__ import annotations

import ast

import pytest

from tests.mutants.mutant import ROOT, Mutant, planted
from tests.mutants.planted import MUTANTS


def test_there_are_at_least_25_bugs_and_none_twice() -> None:
    assert len(MUTANTS) >= 25
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_bug_can_be_planted(mutant: Mutant) -> None:
    text = planted(mutant)
    assert text != (ROOT / mutant.file).read_text()
    if mutant.file.endswith(".py"):
        ast.parse(text)
    assert all((ROOT / test).exists() for test in mutant.watched_by)
