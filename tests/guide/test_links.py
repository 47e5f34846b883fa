"""Every link of a page leads to a file and a heading that are there; a newcomer's questions are two clicks away."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.guide.markdown_pages import NAMES, anchors, links, pages_of_the_guide, prose, read
from tests.structure import ROOT

CLICKS: Final = 2
QUESTIONS: Final = {  # what a newcomer asks, and what only a page that answers it says
    "what is it": r"A server, a table in the browser and a referee",
    "can I run it without Docker": r"no root, no Docker",
    "which games are there": r"The games are .*usa.*europe.*marklin.*trains.*tricks",
    "how do I see a game again": r"### ledgerline replay",
    "is it fair": r"The deal follows from|nobody chooses|Nobody chooses the deal",
    "how fast is it": r"decisions? a second",
    "which licence has it": r"No licence has been chosen yet",
    "how do I write a bot": r"^# A bot in Python",
    "how do I run it for a hundred people": r"a hundred people",
    "where is the protocol": r"## WebSocket /v1/games/\{game\}/play",
}


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_to_a_file_and_a_heading(name: str) -> None:
    broken = [
        f"{path}#{heading}" if heading else path
        for path, heading in links(name)
        if not (ROOT / path).exists() or (heading and path.endswith(".md") and heading not in anchors(path))
    ]
    assert broken == []


def pages_near(name: str, clicks: int) -> set[str]:
    """The pages that are at most so many clicks away."""
    near = last = {name}
    for _ in range(clicks):
        last = {path for page in last for path, _ in links(page) if path in NAMES} - near
        near = near | last
    return near


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_newcomers_question_is_answered_within_two_clicks_from_the_readme(question: str) -> None:
    near = pages_near("README.md", CLICKS)
    pattern = re.compile(QUESTIONS[question], re.MULTILINE | re.DOTALL)
    assert [page for page in near if pattern.search(read(page))] != []


def test_every_page_of_the_docs_is_two_clicks_from_the_readme() -> None:
    near = pages_near("README.md", CLICKS)
    assert [name for name in NAMES if name.startswith("docs/") and name not in near] == []


def test_every_page_that_the_docs_link_to_is_in_the_guide() -> None:
    """Else `make docs` ends with a warning, and a release with it."""
    shown = pages_of_the_guide()
    linked = {path for name in shown for path, _ in links(name) if path.endswith(".md")}
    assert [path for path in sorted(linked) if path not in shown and not path.startswith("tests/")] == []


def test_the_index_fits_a_screen() -> None:
    words = re.sub(r"\]\([^)]*\)", "", prose("docs/index.md")).split()
    assert len(words) < 250


def test_the_readme_is_short() -> None:
    assert len(read("README.md")) < 5_000
