"""docs/reference/glossary.md: every word has a meaning, and every code name on it exists."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.rules.test_rule_pages import RULES_ON_PAGE

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "glossary.md"


class Entry(NamedTuple):
    """A row of the glossary."""

    word: str
    meaning: str
    name: str  # in code, dotted
    rules: tuple[str, ...]


def entries() -> Iterator[Entry]:
    """All rows of all tables, in order."""
    for line in PAGE.read_text().splitlines():
        if line.startswith("|") and "`" in line:
            word, meaning, name, *rules = (cell.strip() for cell in line.strip("|").split("|"))
            yield Entry(word, meaning, name.strip("`"), tuple(rules[0].split(", ")) if any(rules) else ())


def resolve(name: str) -> bool:
    """Whether a dotted name resolves through modules to an existing object."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing: object = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        return reaches(thing, parts[cut:])
    return False


def reaches(thing: object, parts: list[str]) -> bool:
    """Whether the attributes resolve from this object; a dataclass has its fields."""
    for number, part in enumerate(parts, 1):
        if not hasattr(thing, part):
            return number == len(parts) and part in getattr(thing, "__dataclass_fields__", ())
        thing = getattr(thing, part)
    return True


def test_the_code_name_of_an_entry_exists(subtests: pytest.Subtests) -> None:
    for entry in entries():
        with subtests.test(entry.word):
            assert re.fullmatch(r"(schemas|services)(\.\w+)+", entry.name)
            assert resolve(entry.name), entry.name
            assert entry.meaning.endswith(".")


def test_an_unknown_name_is_not_found() -> None:
    for name in (
        "schemas.nothing",
        "schemas.commands.ClaimRout",
        "schemas.trains.rule_options.RuleOptions.wheels",
    ):
        assert not resolve(name)


def test_no_word_is_defined_twice() -> None:
    words = [entry.word for entry in entries()]
    assert len(words) == len(set(words)) > 60


def test_every_rule_beside_an_entry_is_on_a_rule_page() -> None:
    known_rules = {rule for rules in RULES_ON_PAGE.values() for rule in rules}
    assert [entry for entry in entries() if not known_rules.issuperset(entry.rules)] == []
