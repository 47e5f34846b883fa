"""The end of a train game is a show, which a press skips; tickets lie on a tiny board, and show where they are."""

from __future__ import annotations

from typing import Any, Final

import httpx
import pytest

from tests.browser.chromium import PHONE
from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable

pytestmark = pytest.mark.long
DOWN, UP = ".seats-at-end .ticket.down", ".seats-at-end button.ticket"
LONGEST: Final = ("trains",)  # whose longest route brings a bonus


def ending(open_page: OpenPage, http: httpx.Client, ruleset: str, motion: bool = True) -> Any:
    """Ada's page, at which a short game is played to its end over the API."""
    table = SeatedTable(http, ruleset)
    table.start()
    page = table.open(open_page, 0, motion=motion)
    page.locator(".actions:not(.idle)").wait_for()
    table.play_until()
    page.locator(".ending").wait_for()
    return page


@pytest.mark.parametrize("ruleset", ["marklin", "trains"])
def test_tickets_are_turned_over_one_by_one_and_then_all_is_open(
    open_page: OpenPage, http: httpx.Client, ruleset: str
) -> None:
    page = ending(open_page, http, ruleset)
    down = page.locator(DOWN).count()
    assert down >= 2
    assert page.locator(".result").count() == 0  # who has won is said at last
    page.locator(DOWN).nth(down - 1).wait_for(state="detached")
    assert page.locator("svg.board .city.marked").count() == 2
    page.locator(".result").wait_for()
    assert page.locator(DOWN).count() == 0
    totals = sorted(page.locator(".result tbody td:nth-child(2)").all_inner_texts())
    assert sorted(text.split()[0] for text in page.locator(".seats-at-end h3 b").all_inner_texts()) == totals
    page.locator(".held").nth(1).wait_for()
    held = sum(int(text) for text in page.locator(".held .count").all_inner_texts())
    cards = page.evaluate(
        "[...document.querySelectorAll('.seats-panel .facts')].map((facts) => Number(/(\\d+) cards?/.exec(facts.innerText)[1]))"
    )
    assert held == sum(cards)
    is_drawn = page.locator("svg.board .route.marked").count() > 0
    has_claims = page.locator("svg.board .ribbon").count() > 0
    assert is_drawn is (has_claims and ruleset in LONGEST)


def test_a_press_shows_the_rest_at_once_and_it_can_be_seen_again(
    open_page: OpenPage, http: httpx.Client
) -> None:
    page = ending(open_page, http, "usa")
    page.locator("h1").click()
    page.locator(".result").wait_for(timeout=1_000)
    assert page.locator(DOWN).count() == 0
    page.get_by_role("button", name="Show it again").click()
    page.locator(DOWN).first.wait_for()
    page.get_by_role("button", name="Skip").click()
    page.locator(".result").wait_for(timeout=1_000)


def test_who_wants_no_motion_sees_all_of_the_end_at_once(open_page: OpenPage, http: httpx.Client) -> None:
    page = ending(open_page, http, "usa", motion=False)
    assert page.locator(".result").count() == 1
    assert page.locator(DOWN).count() == 0
    assert page.locator(UP).count() >= 4


def test_a_ticket_has_a_tiny_board_and_shows_where_it_is_on_a_phone(
    open_page: OpenPage, http: httpx.Client
) -> None:
    table = SeatedTable(http, last_cars=2)
    table.start()
    table.play_until(12)
    page = table.open(open_page, 0, size=PHONE, has_touch=True)
    page.locator(".news").get_by_role("button", name="Tickets").tap()
    ticket = page.locator(".tickets-panel .ticket").first
    ends = ticket.locator(".ends").inner_text().split(" – ")
    assert ticket.locator(".tiny .tiny-end").count() == 2
    ticket.tap()
    assert page.locator(".side.drawn").count() == 0  # it would lie over the board
    marked = page.locator("svg.board .city.marked title").all_text_contents()
    assert sorted(title.split(",")[0].split(";")[0] for title in marked) == sorted(ends)
