"""docs/explanation/promises.md: every promise that code or tests cite stands there, with tests that cite it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = (ROOT / "docs" / "explanation" / "promises.md").read_text(encoding="utf-8")
CITED: Final = re.compile(r"(?<![A-Za-z0-9])P(\d{1,2})(?![A-Za-z0-9])")
PERCENTILES: Final = {50, 95, 99}  # the benchmarks name them alike
SECTIONS: Final = {
    int(number): text for number, text in re.findall(r"^## P(\d+): (.+?)(?=^## |\Z)", PAGE, re.M | re.S)
}


def cited_in(path: Path) -> set[int]:
    return {int(number) for number in CITED.findall(path.read_text(encoding="utf-8"))} - PERCENTILES


def sources() -> list[Path]:
    tops = ("schemas", "services", "deploy", "tests")
    return [path for top in tops for path in (ROOT / top).rglob("*") if path.suffix in (".py", ".lua")]


def test_there_are_ten_promises_in_order() -> None:
    assert list(SECTIONS) == list(range(1, 11))


def test_every_promise_that_is_cited_is_on_the_page() -> None:
    strangers = {path.name: cited_in(path) - set(SECTIONS) for path in sources() if path != Path(__file__)}
    assert {name: ids for name, ids in strangers.items() if ids} == {}


@pytest.mark.parametrize("number", SECTIONS)
def test_a_promise_has_its_wording_what_keeps_it_and_what_breaks_it(number: int) -> None:
    text = SECTIONS[number]
    assert re.search(r"^\*\*.+?\.\*\*$", text, re.M | re.S)
    for part in ("- Kept by: ", "- Tests: ", "- Breaks it: "):
        assert part in text, part


@pytest.mark.parametrize("number", SECTIONS)
def test_the_tests_that_a_promise_names_are_there_and_cite_it(number: int) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)`", SECTIONS[number])
    assert len(named) >= 3
    assert [name for name in named if number not in cited_in(ROOT / name)] == []


@pytest.mark.parametrize("number", SECTIONS)
def test_a_promise_is_in_the_name_of_a_test(number: int) -> None:
    named = re.compile(rf"^ *(?:async )?def test_(?:P\d+_)*P{number}_", re.M)
    tests = [path for path in (ROOT / "tests").rglob("test_*.py") if named.search(path.read_text())]
    assert tests != []


@pytest.mark.parametrize("path", re.findall(r"\]\((?!http)([^)#]+)", PAGE))
def test_a_link_of_the_page_leads_somewhere(path: str) -> None:
    assert (ROOT / "docs" / "explanation" / path).exists()
