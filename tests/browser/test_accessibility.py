"""What keeps a page from people: axe-core's rules of WCAG 2.2 AA, in both themes and both sizes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.chromium import DESKTOP, PHONE
from tests.browser.conftest import OpenPage
from tests.browser.players import keep_all, make_table

pytestmark = pytest.mark.long
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LOOKS = [
    pytest.param(DESKTOP, "light", id="desktop, light"),
    pytest.param(PHONE, "dark", id="phone, dark"),
    pytest.param(DESKTOP, "dark", id="desktop, dark"),
    pytest.param(PHONE, "light", id="phone, light"),
]


def violations(page: Any) -> list[str]:
    """What axe-core finds on a page: the rule, and the first places. The board is one picture with a name: what it is
    drawn of isn't looked at."""
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - of a requirements group of its own

    options = {"runOnly": {"type": "tag", "values": TAGS}}
    found = Axe().run(page, {"exclude": [["svg.board > *"]]}, options).response["violations"]
    return [f"{each['id']}: {node['html'][:160]}" for each in found for node in each["nodes"][:2]]


@pytest.mark.parametrize(("size", "theme"), LOOKS)
def test_WCAG_2_2_AA_holds_on_every_page(open_page: OpenPage, size: dict[str, int], theme: str) -> None:
    page = open_page("/", size=size, color_scheme=theme)
    page.locator(".create").wait_for()
    found = {"lobby": violations(page)}
    make_table(page, "", "", "greedy", board="Europe 47")
    found["waiting"] = violations(page)
    page.goto("/")
    make_table(page, "", "greedy", board="Europe 47")
    page.get_by_role("button", name="Start the game").click()
    page.locator(".offer").wait_for()
    found["tickets"] = violations(page)
    keep_all(page)
    page.locator(".actions button:has(.tally)").first.wait_for()
    found["turn"] = violations(page)
    page.locator(".actions button:has(.tally)").first.click()
    found["dialog"] = violations(page)
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Look back").click()
    page.get_by_role("slider").wait_for()
    found["replay"] = violations(page)
    assert {name: faults for name, faults in found.items() if faults} == {}
    open_page.said.clear()  # type: ignore[attr-defined]  # axe-core measures with styles that the policy refuses
