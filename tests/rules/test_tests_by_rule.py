"""tests/rules/tests_by_rule.md: each rule of each game has tests there, and none is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.referee.games import RULESETS
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.rulebook import extract_passages, read_pages
from tests.rules.tests_by_rule import PAGE, RuleTest, build_page, files_of, rule_tests, rules_in_name

MODULE = '''
"""Games of `europe`, or so."""
from tests.rules.given import given
HERE = {"rules": "marklin"}
def test_CARD_1_of_one_game(): given(**HERE)
def test_CARD_1_of_the_page_that_it_is_about(): given()
def test_bug_CARD_2_END_3_of_all(): [TRAIN_RULESETS[rules] for rules in TRAIN_RULESETS]
def test_CARD_4_on_a_board(): given(rules="trains", board="usa")
def test_no_rule(): given()
def helper_CARD_5_(): given()
'''


@pytest.fixture(scope="module")
def tests() -> list[RuleTest]:
    return list(rule_tests())


def test_the_page_has_the_tests_of_every_rule(tests: list[RuleTest]) -> None:
    assert PAGE.read_text(encoding="utf-8") == build_page(tests), "make rule-tests writes it"


@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_rule_of_a_game_is_held_by_a_test(ruleset: str, tests: list[RuleTest]) -> None:
    rules = [rule for rule, told in extract_passages(read_pages()).items() if ruleset in told]
    assert len(rules) > (20 if ruleset in TRAIN_RULESETS else 2)
    assert [rule for rule in rules if not files_of(rule, ruleset, tests)] == []


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("test_MARKET_2_five_in_a_row", ("MARKET-2",)),
        ("test_bug_END_1_stuck", ("END-1",)),
        ("test_decided_TURN_4_END_3_all_pass", ("TURN-4", "END-3")),
        ("test_FERRY_1_refused_by_ROUTE_2", ("FERRY-1",)),
        ("test_what_is_legal", ()),
    ],
)
def test_the_rules_of_a_test_are_those_that_its_name_begins_with(name: str, rules: tuple[str, ...]) -> None:
    assert rules_in_name(name) == rules


def test_a_test_belongs_to_the_games_that_it_names_and_else_to_those_of_its_module(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(MODULE)
    (tmp_path / "test_usa.py").write_text(
        "def test_CARD_1_at_home(): given()\ndef test_CARD_1_of_no_game(): pass\n"
    )
    found = [(test.rules, test.file, set(test.rulesets)) for test in rule_tests(tmp_path)]
    assert found == [
        (("CARD-1",), "test_some.py", {"marklin"}),
        (("CARD-1",), "test_some.py", {"europe"}),
        (("CARD-2", "END-3"), "test_some.py", set(TRAIN_RULESETS)),
        (("CARD-4",), "test_some.py", {"trains"}),
        (("CARD-1",), "test_usa.py", {"usa"}),
        (("CARD-1",), "test_usa.py", set()),
    ]
