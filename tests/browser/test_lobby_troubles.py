"""The lobby where something goes wrong: a list that fails, a name that is refused, a page that is gone back to."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable

pytestmark = pytest.mark.long


LIST = "**/v1/games?*"
DAMAGED = json.dumps({"title": "This list is damaged", "status": 500})


def known_games(page: Any) -> dict[str, Any]:
    known: dict[str, Any] = page.evaluate("JSON.parse(localStorage.getItem('ledgerline.games') ?? '{}')")
    return known


def test_ones_own_games_are_there_though_the_list_fails_and_the_page_says_why(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = SeatedTable(http)
    page = open_page("/docs", script=table.known_seat(0))
    page.route(
        LIST,
        lambda route: route.fulfill(status=500, content_type="application/problem+json", body=DAMAGED),
    )
    # when
    page.goto("/")
    # then
    page.locator(f"a[href='/table/{table.game}']").wait_for()
    page.locator(".banner.away", has_text="This list is damaged.").wait_for()
    page.locator(".create").wait_for()
    page.unroute(LIST)
    page.locator(".banner.away").wait_for(state="detached")
    open_page.expected.append("status of 500")


def test_a_name_that_is_refused_leaves_no_table_behind(open_page: OpenPage) -> None:
    # given
    page = open_page("/")
    name, play = page.get_by_label("Your name"), page.get_by_role("button", name="Play now")
    # when
    for refused in ("Greedy", "Greedy 2"):
        name.fill(refused)
        play.click()
        page.locator(".refused", has_text=refused).wait_for()
    name.fill("  ")  # as who says no name
    play.click()
    page.wait_for_selector("main.table svg.board")
    # then
    assert [*known_games(page)] == [page.url.rpartition("/")[2]]
    open_page.expected.append("status of 409")


def test_who_goes_back_from_a_new_table_can_make_another(open_page: OpenPage) -> None:
    # given
    page = open_page("/")
    play = page.get_by_role("button", name="Play now")
    page.route("**/table/*", lambda route: route.fulfill(status=204))  # the page stays as a browser keeps it
    with page.expect_request("**/table/*"):
        play.click()
    assert play.is_disabled()
    # when
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    # then
    page.unroute("**/table/*")
    play.click()
    page.wait_for_selector("main.table svg.board")
    assert len(known_games(page)) == 2


def test_a_private_game_that_is_over_says_who_won_with_how_much(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = SeatedTable(http, access={"visibility": "unlisted"})
    table.start()
    table.play_until()
    result = http.get(f"/v1/games/{table.game}/state").json()["result"]
    # when
    page = open_page("/", script=table.known_seat(0))
    # then
    [total] = {score["total"] for score in result if score["place"] == 1}
    page.get_by_text(f"won with {total} ").first.wait_for()


def test_the_lobby_names_who_won_by_the_games_own_ranking(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    table = SeatedTable(http)
    table.start()
    table.play_until()
    listed = http.get("/v1/games", params={"most": 60}).raise_for_status().json()
    [row] = [row for row in listed["games"] if row["game"] == table.game]
    result = http.get(f"/v1/games/{table.game}/state").json()["result"]
    assert {seat["seat"]: seat["place"] for seat in row["seats"]} == {
        score["seat"]: score["place"] for score in result
    }
    fewest_first = sorted(row["seats"], key=lambda seat: seat["total"])  # as if the fewest points won
    for place, seat in enumerate(fewest_first, start=1):
        seat["place"] = place
    winner = fewest_first[0]
    # when
    page = open_page("/docs")
    page.route(LIST, lambda route: route.fulfill(json=listed))
    page.goto("/")
    # then
    page.get_by_text(f"{winner['name']} won with {winner['total']} ").first.wait_for()


def test_a_lobby_that_nobody_sees_asks_for_nothing_until_it_is_seen(open_page: OpenPage) -> None:
    # given
    page = open_page(
        "/docs", script="Object.defineProperty(document, 'hidden', { value: true, writable: true })"
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/v1/" in request.url else None)
    page.goto("/")
    page.locator("h1", has_text="around one table").wait_for()
    assert asked == []
    # when
    page.evaluate("document.hidden = false, document.dispatchEvent(new Event('visibilitychange'))")
    # then
    page.locator(".create").wait_for()
    assert asked


def test_what_was_not_done_because_the_server_was_away_is_said_until_it_is_back(open_page: OpenPage) -> None:
    # given
    page = open_page("/")
    play = page.get_by_role("button", name="Play now")
    play.wait_for()
    page.route("**/v1/**", lambda route: route.abort())
    # when
    play.click()
    page.locator(".refused", has_text="can't be reached").wait_for()
    page.unroute("**/v1/**")
    # then
    page.locator(".refused").wait_for(state="detached")
    open_page.expected.append("ERR_")  # the requests that failed
