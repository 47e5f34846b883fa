"""`make test` leaves out what is `long`, but no promise, rule, planted bug or folder of tests altogether."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from schemas.published_contracts import ALL_RULES
from tests.ledger_contract.conftest import connection
from tests.mutants.planted import MUTANTS
from tests.rules.test_rule_pages import RULES_ON_PAGE
from tests.test_promises import SECTIONS

TESTS: Final = Path(__file__).parent
EVERY_RULE: Final = {*ALL_RULES, *(rule for rules in RULES_ON_PAGE.values() for rule in rules)}
NAMED: Final = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)
LONG: Final = re.compile(  # the mark, other decorators, and the name of the test
    r"^@pytest\.mark\.long\n(?:(?!(?:async )?def ).+\n)*(?:async )?def (test_\w+)", re.MULTILINE
)


@cache
def short_tests(path: Path) -> frozenset[str]:
    """The names of a module's tests that aren't marked `long` as a whole."""
    text = path.read_text(encoding="utf-8")
    if re.search(r"^pytestmark = .*mark\.long\b", text, re.MULTILINE):
        return frozenset()
    return frozenset({*NAMED.findall(text)} - {*LONG.findall(text)})


def all_short_tests() -> Iterable[str]:
    return (name for path in TESTS.rglob("test_*.py") for name in short_tests(path))


def test_every_promise_is_tested() -> None:
    named = {int(number) for name in all_short_tests() for number in re.findall(r"_P(\d+)(?=_)", name)}
    assert {number for number in SECTIONS if number not in named} == set()


def test_every_rule_is_tested() -> None:
    named = {f"{word}-{n}" for name in all_short_tests() for word, n in re.findall(r"_([A-Z]+)_(\d)_", name)}
    assert EVERY_RULE - named == set()


def test_every_planted_leak_is_caught() -> None:
    leaks = TESTS / "secrecy" / "test_leaks.py"
    assert short_tests(leaks) == set(NAMED.findall(leaks.read_text(encoding="utf-8")))


@pytest.mark.parametrize("kind", sorted({mutant.promise for mutant in MUTANTS}))
def test_every_planted_bug_is_watched_by_a_test(kind: str) -> None:
    files = {mutant.name: mutant.watched_by for mutant in MUTANTS if mutant.promise == kind}
    unwatched = {
        name
        for name, tests in files.items()
        if not any(
            short_tests(path) for test in tests for path in modules(TESTS.parent / test.split("::")[0])
        )
    }
    assert unwatched == set()


def modules(path: Path) -> Iterable[Path]:
    return path.rglob("test_*.py") if path.is_dir() else [path]


def test_every_folder_of_tests_is_in_it() -> None:
    folders = {path.parent for path in TESTS.rglob("test_*.py")}
    assert {folder.name for folder in folders if not any(map(short_tests, folder.glob("test_*.py")))} == set()


def test_the_ledgers_contract_is_tested_on_every_engine() -> None:
    params = getattr(connection, "_fixture_function_marker").params  # noqa: B009 - pytest's own
    assert params == ("fake", "engine", "cluster")
