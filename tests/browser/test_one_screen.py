"""The table on one screen: whose turn it is, what one may do, the hand, the market and the board are seen without scrolling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import httpx
import pytest

from tests.browser.chromium import DESKTOP
from tests.browser.conftest import OpenPage
from tests.browser.players import DRAWN, SeatedTable, make_tricks

pytestmark = pytest.mark.long


SCREENS: Final = [(1366, 768), (768, 1024), (844, 390), (390, 844)]
NEEDED: Final = {  # what is looked at, and its least width and height in pixels
    "turn": (".top .turn", 80, 20),
    "actions": (".actions", 180, 34),
    "hand": (".hand .cards", 180, 50),
    "market": (".market", 44, 50),
    "board": ("svg.board", 160, 160),
}
NEEDED_IN_A_REPLAY: Final = NEEDED | {"actions": (".replay .primary", 40, 30)}
NEEDED_IN_PARTS: Final = {
    "turn": (".top .turn", 80, 20),
    "actions": (".actions", 180, 34),
    "hand": (".parts:has(#own-title) .faces", 180, 50),
    "table": (".felt", 240, 120),
}
SEEN: Final = """([selector, width, height]) => {
  const element = document.querySelector(selector);
  if (!element) return "missing";
  const box = element.getBoundingClientRect();
  const seen = {left: Math.max(0, box.left), top: Math.max(0, box.top), right: Math.min(innerWidth, box.right), bottom: Math.min(innerHeight, box.bottom)};
  for (let frame = element.parentElement; frame; frame = frame.parentElement) {
    if (getComputedStyle(frame).overflowX === "visible") continue;
    const cut = frame.getBoundingClientRect();
    seen.left = Math.max(seen.left, cut.left), seen.top = Math.max(seen.top, cut.top);
    seen.right = Math.min(seen.right, cut.right), seen.bottom = Math.min(seen.bottom, cut.bottom);
  }
  const [across, down] = [seen.right - seen.left, seen.bottom - seen.top];
  const isCut = box.width - across > 1 || box.height - down > 1;
  return isCut || across < width || down < height ? `${Math.round(across)} x ${Math.round(down)} of ${Math.round(box.width)} x ${Math.round(box.height)} are seen` : "";
}"""


def unseen(page: Any, needed: dict[str, tuple[str, int, int]], when: str) -> Iterator[str]:
    """What isn't wholly in sight, or is of no useful size, on each of the screens."""
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        for name, wanted in needed.items():
            if fault := page.evaluate(SEEN, list(wanted)):
                yield f"{when}, {width} x {height}: {name}: {fault}"
        if (total := page.evaluate("document.documentElement.scrollHeight")) > height:
            yield f"{when}, {width} x {height}: the page is {total} px high"


@pytest.mark.parametrize("ruleset", ["europe", "marklin", "trains"])
def test_all_that_is_played_with_is_on_one_screen(
    open_page: OpenPage, http: httpx.Client, ruleset: str
) -> None:
    # given
    table = SeatedTable(http, ruleset, people=2, bots=2, last_cars=2)
    table.start()
    page = table.open(open_page, 0)
    page.locator(".actions .primary, .offer").first.wait_for()
    found = [*unseen(page, NEEDED, "tickets are offered")]
    # when
    table.draw_cards(rounds=12)
    page.locator("main:not(:has(.offer)) .actions button:has(.tally):not([disabled])").first.wait_for()
    # then
    found += unseen(page, NEEDED, "to act")
    page.locator(".actions button:has(.tally)").first.click()
    found += unseen(page, NEEDED | {"dialog": ("dialog[open]", 240, 120)}, "a long choice is open")
    page.keyboard.press("Escape")
    while kind := next((kind for kind in table.kinds(0) if kind in DRAWN), None):
        table.do_first(0, kind)
    page.locator(".actions.idle").wait_for()
    found += unseen(page, NEEDED, "others act")
    page.set_viewport_size(DESKTOP)
    page.get_by_role("button", name="Look back").click()
    page.get_by_role("slider").wait_for()
    found += unseen(page, NEEDED_IN_A_REPLAY, "it is looked back")
    assert "\n".join(found) == ""


def test_a_table_in_parts_is_on_one_screen(open_page: OpenPage) -> None:
    page = open_page("/")
    make_tricks(page)
    page.locator(".parts button").first.wait_for()
    found = [*unseen(page, NEEDED_IN_PARTS, "to act")]
    page.get_by_role("button", name=re.compile(r"^Play ?\d")).click()
    found += unseen(page, NEEDED_IN_PARTS | {"dialog": ("dialog[open]", 240, 120)}, "a choice is open")
    assert "\n".join(found) == ""
