"""What keeps a page from people: axe-core's rules of WCAG 2.2 AA, in both themes and both sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.browser.chromium import DESKTOP, PHONE
from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable, keep_all, make_tricks, wait_for_audit

pytestmark = pytest.mark.long
TAGS = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
LOOKED_AT = {"type": "rule", "values": ["color-contrast", "target-size", "scrollable-region-focusable"]}
LOOKS = [  # the tree of a page is the same in both themes: all rules are tried once a size
    (DESKTOP, "light", TAGS),
    (DESKTOP, "dark", LOOKED_AT),
    (PHONE, "light", LOOKED_AT),
    (PHONE, "dark", TAGS),
]


def violations(page: Any) -> list[str]:
    """What axe-core finds on a page: the rule, and the first places. The board is one picture with a name: what it is
    drawn of isn't looked at, and is hidden, because looking at it takes most of the time."""
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - of a requirements group of its own

    found = []
    page.add_style_tag(content="svg.board > * { display: none }")
    for size, theme, rules in LOOKS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        options = {"runOnly": rules, "resultTypes": ["violations"]}
        for each in Axe().run(page, options=options).response["violations"]:
            found += [
                f"{theme}, {size['width']} px: {each['id']}: {node['html'][:160]}"
                for node in each["nodes"][:2]
            ]
    page.set_viewport_size(DESKTOP)
    return found


def pages_of_a_game(open_page: OpenPage, http: httpx.Client) -> Iterator[tuple[str, Any]]:
    """Every page, and every state of the table's that looks different."""
    lobby = open_page("/", bypass_csp=True)  # axe-core measures with styles that the policy refuses
    lobby.locator(".create").wait_for()
    for folded in lobby.locator(".create summary").all():
        folded.click()
    yield "lobby", lobby
    table = SeatedTable(http, "europe")
    page = table.open(open_page, 0, bypass_csp=True)
    yield "waiting", page
    page.get_by_role("button", name="Start the game").click()
    page.locator(".offer").wait_for()
    yield "tickets", page
    keep_all(page)
    page.locator(".actions button:has(.tally)").first.wait_for()
    yield "turn", page
    page.locator(".actions button:has(.tally)").last.click()
    page.locator("dialog summary").first.click()
    yield "dialog", page
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Look back").click()
    page.get_by_role("slider").wait_for()
    page.locator(".key summary").click()
    yield "replay", page
    page = open_page("/", bypass_csp=True)
    make_tricks(page)
    page.locator(".parts button").first.wait_for()
    yield "parts", page
    page.get_by_role("button", name=re.compile(r"^Play ?\d")).click()
    page.locator("dialog[open] .choice").first.wait_for()
    yield "dialog of parts", page
    over = SeatedTable(http)
    over.start()
    over.play_until()
    wait_for_audit(http, over.game)
    page = over.open(open_page, 0, bypass_csp=True)
    page.locator(".result").wait_for()
    yield "over", page
    page.goto(f"/audit/{over.game}#at=6")
    page.locator(".move").wait_for()
    yield "audit", page
    for path in ("/rules", "/rules/usa", "/rules/ROUTE-1"):
        yield path, open_page(path, bypass_csp=True)
    yield "wrong address", open_page("/nowhere", bypass_csp=True)
    open_page.expected.append("/nowhere")


def test_WCAG_2_2_AA_holds_on_every_page(open_page: OpenPage, http: httpx.Client) -> None:
    found = {name: violations(page) for name, page in pages_of_a_game(open_page, http)}
    assert {name: faults for name, faults in found.items() if faults} == {}
