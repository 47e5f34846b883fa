"""Who comes back to a table is shown what happened since their last move."""

from __future__ import annotations

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable

pytestmark = pytest.mark.long
LIST, HELD = ".since li", '.seats-panel [data-seat="0"] .facts'  # what happened, and what Ada holds

NOTE_CARDS = """selector => {
  window.noted = [];
  new MutationObserver(() => {
    const cards = Number(document.querySelector(selector).innerText.match(/(\\d+) cards/)[1]);
    if (cards !== (window.noted.at(-1) ?? 4)) window.noted.push(cards);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""


def table_after_draws_of_ada(http: httpx.Client, draws: int = 2) -> SeatedTable:
    """Bo chose tickets, then Ada drew cards: it is Bo's turn after two of them."""
    table = SeatedTable(http, people=2, bots=0, last_cars=2)
    table.start()
    for seat in range(2):
        table.do_first(seat, "keep_tickets")
    for _ in range(draws):
        table.do_first(0, "draw_blind")
    return table


def test_who_comes_back_reads_and_sees_again_what_happened(open_page: OpenPage, http: httpx.Client) -> None:
    page = table_after_draws_of_ada(http).open(open_page, 1, motion=True)
    page.locator(LIST).first.wait_for()
    assert page.locator(LIST).all_inner_texts()[-2:] == ["A\nAda draws a card blind."] * 2
    page.locator(HELD, has_text="6 cards").wait_for()  # it was shown
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 2)
    page.get_by_role("button", name="Show again").click()
    page.locator(HELD, has_text="4 cards").wait_for()
    page.evaluate(NOTE_CARDS, HELD)
    for _ in range(2):
        page.clock.run_for(400)
        assert page.locator(".since li.now").count() == 1
    page.locator(HELD, has_text="6 cards").wait_for()
    assert page.evaluate("window.noted") == [5, 6], "one after the other"


def test_it_goes_with_the_next_own_move_and_is_not_shown_twice(
    open_page: OpenPage, http: httpx.Client
) -> None:
    table = table_after_draws_of_ada(http)
    page = table.open(open_page, 1)
    page.locator(LIST).first.wait_for()
    page.reload()
    page.locator(".actions:not(.idle)").wait_for()
    assert page.locator(LIST).count() == 0
    for _ in range(2):
        page.locator(".market button.deck:not([disabled])").click()
    page.locator(".actions.idle").wait_for()
    page.goto("/")
    table.do_first(0, "draw_blind")
    page.goto(f"/table/{table.game}")
    page.locator(LIST).first.wait_for()
    assert page.locator(LIST).count() == 1


def test_who_wants_no_motion_reads_it_and_sees_the_latest_table(
    open_page: OpenPage, http: httpx.Client
) -> None:
    asked: list[str] = []
    table = table_after_draws_of_ada(http)
    page = table.open(open_page, 1)
    page.on("request", lambda request: asked.append(request.url))
    page.locator(LIST).first.wait_for()
    assert "6 cards" in page.locator(HELD).inner_text()
    assert not [url for url in asked if "at=" in url]


def test_who_only_watches_has_no_move_to_go_back_to(open_page: OpenPage, http: httpx.Client) -> None:
    page = open_page(f"/table/{table_after_draws_of_ada(http).game}")
    page.locator("main.playing svg.board").wait_for()
    assert page.locator(LIST).count() == 0
