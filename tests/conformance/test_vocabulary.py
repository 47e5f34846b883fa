"""The formal rule text's words and rule ids, read from where they are specified."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.conformance.recorded import CASES
from tests.rules.test_glossary import entries, resolve
from tests.rules.test_rule_pages import RULES_ON_PAGE

TEXT: Final = (CASES.parent / "rules.md").read_text()
RULES: Final = set(re.findall(r"^- ([A-Z]+-\d) ", TEXT, re.MULTILINE))


def formal_words() -> dict[str, str]:
    """Each formal word, and its cell in the last table of the specification."""
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", TEXT.split("| formal word |")[1], re.MULTILINE)
    return {word: cell for words, cell in rows for word in words.split(", ")}


WORDS: Final = formal_words()


def rule_ids(cell: str) -> set[str]:
    """The ids in a cell such as `SETUP-2/3, TICKET-1` or `ROUTE-*`."""
    found: set[str] = set()
    for group, numbers in re.findall(r"([A-Z]+)-([\d/]+|\*)", cell):
        if numbers == "*":
            found |= {rule for rule in RULES if rule.startswith(f"{group}-")}
        else:
            found |= {f"{group}-{number}" for number in numbers.split("/")}
    return found


def test_the_specification_is_read_whole() -> None:
    assert len(WORDS) == 24
    assert len(RULES) == 56


@pytest.mark.parametrize("word", WORDS)
def test_a_formal_word_has_an_entry_whose_code_name_exists(word: str) -> None:
    (entry,) = (entry for entry in entries() if entry.word == word)
    assert resolve(entry.name), entry.name


@pytest.mark.parametrize("word", WORDS)
def test_the_rules_beside_a_formal_word_are_those_of_the_specification(word: str) -> None:
    (entry,) = (entry for entry in entries() if entry.word == word)
    assert entry.rules
    assert set(entry.rules) <= RULES
    if meant := rule_ids(WORDS[word]):
        assert meant & set(entry.rules), f"{word} is about {', '.join(sorted(meant))}"


def test_every_rule_beside_any_entry_is_one_of_the_specification() -> None:
    assert [entry for entry in entries() if not RULES.issuperset(entry.rules)] == []


def test_every_rule_of_the_specification_is_on_a_rule_page_and_no_other() -> None:
    assert {rule for rules in RULES_ON_PAGE.values() for rule in rules} == RULES
