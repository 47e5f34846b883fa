"""docs/rules: the line of tests under each rule is complete and not stale."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.referee.rules import RULESETS
from services.rulebook import RULE_PATTERN, TESTS_OF_RULE, extract_passages, read_pages
from tests.rules.tests_by_rule import PAGES, RuleTest, rule_tests, rules_in_name, with_tests

MODULE = '''
"""Games of `europe`, or so."""
from tests.rules.given import given
HERE = {"rules": "marklin"}
def test_CARD_1_of_one_game(): given(**HERE)
def test_CARD_1_of_the_page_that_it_is_about(): given()
def test_bug_CARD_2_END_3_of_all(): [RULESETS[rules] for rules in RULESETS]
def test_CARD_4_on_a_board(): given(rules="trains", board="usa")
def test_no_rule(): given()
def helper_CARD_5_(): given()
'''


@pytest.fixture(scope="module")
def tests() -> list[RuleTest]:
    return list(rule_tests())


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_page_lists_the_tests_of_each_of_its_rules(ruleset: str, tests: list[RuleTest]) -> None:
    page = (PAGES / f"{ruleset}.md").read_text(encoding="utf-8")
    assert page == with_tests(ruleset, page, tests), "make rule-tests writes it"
    rules = RULE_PATTERN.findall(page)
    assert len(rules) > 20
    for rule, passage in rules:
        assert len(TESTS_OF_RULE.findall(f"{passage}\n")) == 1, rule
        assert "- *held by* `" in passage, rule


def test_players_read_the_pages_without_the_tests() -> None:
    assert not [ruleset for ruleset, page in read_pages().items() if "held by" in page]
    passages = extract_passages(read_pages())
    assert not [rule for rule, told in passages.items() for passage in told.values() if "test_" in passage]


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
        (("CARD-2", "END-3"), "test_some.py", set(RULESETS)),
        (("CARD-4",), "test_some.py", {"trains"}),
        (("CARD-1",), "test_usa.py", {"usa"}),
        (("CARD-1",), "test_usa.py", set()),
    ]
