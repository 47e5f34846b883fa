"""Tables before their start, in the browser: what their makers choose, and whom they remove."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from services.referee.games import seat_changes
from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable

pytestmark = pytest.mark.long


@pytest.fixture
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A freed seat can be taken at once."""
    monkeypatch.setattr(seat_changes, "FREED_SEAT_RESTS_MS", 0)


def known_to_bo(table: SeatedTable) -> str:
    """A script that lets a browser know of seat 1, and of nothing else of the game."""
    known = json.dumps({table.game: {"seat": 1, "token": table.tokens[1]}})
    return f"localStorage.setItem('ledgerline.games', JSON.stringify({known}))"


def row_of(page: Any, name: str) -> Any:
    return page.locator(".waiting .seat").filter(has=page.get_by_text(name, exact=True))


def test_a_table_is_made_without_hints(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    page = open_page("/")
    page.get_by_label("Your name").fill("Ada")
    page.locator(".own > summary").click()
    assert page.get_by_role("radio", name="Against bots alone").is_checked()
    # when
    page.get_by_role("radio", name="For nobody").check()
    page.get_by_role("button", name="Make the table").click()
    page.wait_for_selector("main.table svg.board")
    # then
    game = page.url.rpartition("/")[2]
    creation = http.get(f"/v1/games/{game}/view").raise_for_status().json()["entries"][0]
    [access] = [event for event in creation["events"] if event["type"] == "access_set"]
    assert access["suggestions"] is False


def test_GAME_9_the_host_frees_a_seat_and_a_bot_takes_it(
    open_page: OpenPage, http: httpx.Client, no_rest: None
) -> None:
    # given
    table = SeatedTable(http, people=2)
    ada = table.open(open_page, 0)
    assert row_of(ada, "Ada").get_by_role("button").count() == 0
    # when
    ada.get_by_role("button", name="Free the seat of Bo …").click()
    ada.locator("dialog").get_by_role("button", name="Free the seat").click()
    # then
    ada.get_by_text("1 seat still free").wait_for()
    assert row_of(ada, "Bo").count() == 0
    # when
    ada.get_by_role("button", name="Let a bot sit here").click()
    # then
    ada.get_by_text("Everybody is here").wait_for()
    row_of(ada, "greedy 2").wait_for()


def test_GAME_9_who_lost_its_seat_is_told_and_watches_on(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    table = SeatedTable(http, people=2)
    bo = open_page(f"/table/{table.game}", script=known_to_bo(table))
    row_of(bo, "Bo").locator(".you").wait_for()
    lobby = open_page("/", script=table.known_seat(0))
    # when
    lobby.get_by_role("button", name="Free the seat of Bo …").click()
    lobby.get_by_role("button", name="Free it").click()
    # then
    lobby.get_by_role("button", name="Free the seat of Bo …").wait_for(state="detached")
    bo.get_by_text("You don't hold a seat here any more").wait_for()
    bo.get_by_text("1 seat still free").wait_for()
    assert bo.locator(".waiting .you").count() == 0
    assert "token" not in bo.evaluate("localStorage.getItem('ledgerline.games')")
    open_page.expected.append("status of 401")
