"""The rules' page says every rule that the tests are named by, and every refusal is on it."""

from __future__ import annotations

import re
from pathlib import Path

from schemas.refusals import RULES
from services.referee.rules import RULESETS
from services.referee.rules.board import load
from tests.rules.test_every_rule import RULES as NAMED

PAGES = Path(__file__).parents[2] / "docs" / "rules"


def test_every_rule_is_told_once_on_the_page() -> None:
    told = re.findall(r"^- \*\*([A-Z]+-\d)\*\* ", (PAGES / "usa.md").read_text(), re.MULTILINE)
    assert sorted(told) == sorted(NAMED)


def test_every_refusal_of_the_rules_is_on_the_page() -> None:
    page = (PAGES / "usa.md").read_text()
    assert not [rule for rule in RULES if f"**{rule}**" not in page]


def test_there_is_a_page_for_every_ruleset() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} == set(RULESETS)


def test_the_figures_on_the_page_are_the_rulesets() -> None:
    page, figures, board = (PAGES / "usa.md").read_text(), RULESETS["usa"].figures, load("usa")
    for said in (
        f"{len(board.cities)} cities and {len(board.routes)} routes",
        f"{sum(figures.cards.values())} train cards",
        f"{len(board.tickets)} **tickets**",
        f"{figures.cars} **train cars**",
        ", ".join(str(points) for points in (figures.route_points[0], *figures.route_points[1:4])),
        f"earns {figures.longest_bonus} points",
        f"After {figures.refusals_kept} refusals",
    ):
        assert said in page, said
