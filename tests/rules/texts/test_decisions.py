"""docs/reference/rules: each decision where the rule texts are silent or differ is on the pages of its rulesets, and tested."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.rulebook import read_pages
from tests.rules.texts.decisions import DECISIONS, Decision

HEADING = "## Where the rule texts are silent or differ"
ITEM = re.compile(r"^- \*\*(.+?)\*\* \((.+?)\)\. (.+(?:\n  .+)*)", re.MULTILINE)
REASON = re.compile(r"\b(since|so|or|could|text|texts)\b")  # a decision says why, or what the texts say


@cache
def decisions_on_page(ruleset: str) -> dict[str, tuple[str, str]]:
    """By title: the rules, and the text in one line."""
    section = read_pages()[ruleset].split(f"\n{HEADING}\n")[1].split("\n## ")[0]
    return {title: (rules, " ".join(text.split())) for title, rules, text in ITEM.findall(section)}


@cache
def names_of_tests() -> frozenset[str]:
    files = Path(__file__).parents[2].rglob("test_*.py")
    return frozenset(name for file in files for name in re.findall(r"def (test_\w+)\(", file.read_text()))


@pytest.mark.parametrize(
    "decision", DECISIONS, ids=lambda decision: f"{decision.title}-{decision.rulesets[0]}"
)
def test_a_decision_is_on_every_page_of_its_rulesets_with_its_rules_and_the_reason(
    decision: Decision,
) -> None:
    for ruleset in decision.rulesets:
        rules, text = decisions_on_page(ruleset)[decision.title]
        assert rules == decision.rules
        assert REASON.search(text), text


@pytest.mark.parametrize("ruleset", TRAIN_RULESETS)
def test_a_page_has_the_decisions_of_its_ruleset_and_no_others(ruleset: str) -> None:
    titles = [decision.title for decision in DECISIONS if ruleset in decision.rulesets]
    assert sorted(decisions_on_page(ruleset)) == sorted(titles)


@pytest.mark.parametrize(
    "decision", DECISIONS, ids=lambda decision: f"{decision.title}-{decision.rulesets[0]}"
)
def test_a_decision_is_shown_by_tests(decision: Decision) -> None:
    assert decision.tests
    assert set(decision.tests) <= names_of_tests()


def test_what_several_pages_decide_alike_they_say_alike() -> None:
    """Apart from whom the texts seat first, from boards, and from what a seat of that game can have."""
    own_words = {"Who begins", "Parallel routes of unequal length", "A removed seat"}
    for title in {decision.title for decision in DECISIONS if len(decision.rulesets) > 1} - own_words:
        texts = {
            text
            for page in ("usa", "europe")
            for name, (_, text) in decisions_on_page(page).items()
            if name == title
        }
        assert len(texts) == 1, title
