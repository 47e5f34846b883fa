"""The tab's title and icon say that it is one's turn, and the browser shows a notice of it to who wants one."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable

pytestmark = pytest.mark.long


ICON_LOADED = (
    "async () => { const icon = new Image(); icon.src = document.querySelector('link[rel=icon]').href;"
    " await icon.decode(); return icon.naturalWidth > 0 }"
)
NOTED = """
window.notices = [];
window.Notification = class extends Notification {
  constructor(title, options) { super(title, options); window.notices.push([title, options.tag]); }
};
window.isHidden = false;
Object.defineProperty(document, "hidden", { get: () => window.isHidden });
"""
COUNTED_TONES = """() => {
  const { start } = OscillatorNode.prototype;
  window.tones = 0;
  OscillatorNode.prototype.start = function (at) { window.tones += 1; start.call(this, at); };
}"""


@pytest.fixture(scope="module")
def chromium(notifying_chromium: Any) -> Any:
    return notifying_chromium


def dealt_table(http: httpx.Client) -> SeatedTable:
    """A table of Ada, who is to move, and Bo."""
    table = SeatedTable(http, people=2, bots=0, last_cars=2)
    table.start()
    for seat in range(2):
        table.do_first(seat, "keep_tickets")
    return table


def draw_two(table: SeatedTable, seat: int) -> None:
    """Draw two cards, which is a turn."""
    for _ in range(2):
        table.do_first(seat, "draw_blind")


def marked(page: Any, is_marked: bool) -> None:
    """Wait until the tab's title and icon say that it is the viewer's turn, or don't any more."""
    page.wait_for_function(
        """is => document.title.startsWith("● Your turn") === is
          && document.querySelector("link[rel=icon]").href.includes("d7263d") === is""",
        arg=is_marked,
    )


def test_the_tab_is_marked_for_as_long_as_it_is_ones_turn(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    table = dealt_table(http)
    page = table.open(open_page, 1)
    page.locator(".actions.idle").wait_for()
    marked(page, is_marked=False)
    # when
    draw_two(table, 0)
    # then
    marked(page, is_marked=True)
    assert page.evaluate(ICON_LOADED)
    draw_two(table, 1)
    marked(page, is_marked=False)


def test_the_browser_tells_of_a_turn_by_consent_and_only_out_of_sight(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = dealt_table(http)
    page = table.open(open_page, 1, permissions=["notifications"])
    page.evaluate(NOTED)
    page.evaluate("window.isHidden = true")
    draw_two(table, 0)
    marked(page, is_marked=True)
    assert page.evaluate("notices") == [], "nobody consented"
    wanted = page.get_by_role("button", name="Notify me of my turn")
    # when
    wanted.click()
    page.locator(".links [aria-label^=Notify][aria-pressed=true]").wait_for()
    draw_two(table, 1)
    marked(page, is_marked=False)
    draw_two(table, 0)
    # then
    page.wait_for_function("() => notices.length > 0")
    assert page.evaluate("notices") == [["It is your turn", table.game]]
    # and it is kept until it is not wanted any more
    page.reload()
    page.locator(".links [aria-label^=Notify][aria-pressed=true]").wait_for()
    wanted.click()
    page.locator(".links [aria-label^=Notify][aria-pressed=false]").wait_for()


def test_a_page_in_sight_shows_no_notice(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    table = dealt_table(http)
    page = table.open(open_page, 1, permissions=["notifications"])
    page.evaluate(NOTED)
    page.get_by_role("button", name="Notify me of my turn").click()
    page.locator(".links [aria-label^=Notify][aria-pressed=true]").wait_for()
    # when
    draw_two(table, 0)
    # then
    marked(page, is_marked=True)
    assert page.evaluate("notices") == []


def test_tones_sound_for_who_wants_them(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    table = dealt_table(http)
    page = table.open(open_page, 1)
    page.evaluate(COUNTED_TONES)
    draw_two(table, 0)
    marked(page, is_marked=True)
    assert page.evaluate("window.tones") == 0
    # when
    page.get_by_role("button", name="Sounds").click()
    assert page.evaluate("window.tones") == 2
    draw_two(table, 1)
    marked(page, is_marked=False)
    draw_two(table, 0)
    # then
    page.wait_for_function("window.tones > 2")
