"""Live and again: a connection that is lost comes back without a gap; a game is looked back through."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest

from tests.browser.chromium import PHONE
from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable, keep_all

pytestmark = pytest.mark.long  # test_games.py has the short form


def test_a_lost_connection_comes_back_without_a_gap(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    table = SeatedTable(http, people=2, bots=0)
    table.start()
    ada, bo = table.open(open_page, 0), table.open(open_page, 1)
    keep_all(ada)
    sockets: list[Any] = []
    is_away = True

    def through(socket: Any) -> None:
        if is_away and sockets:
            socket.close(code=1001, reason="away")
            return
        socket.connect_to_server()
        sockets.append(socket)

    bo.route_web_socket("**/play*", through)
    bo.reload()
    bo.locator(".offer").wait_for()
    # when
    sockets[0].close(code=1001, reason="away")
    bo.locator(".banner.away").wait_for()
    assert "This is the table as of entry" in bo.locator(".banner.away").inner_text()
    is_away = False
    # then
    bo.locator(".banner.away").wait_for(state="detached")
    keep_all(bo)
    ada.locator(".actions").get_by_role("button", name="Draw blind").click()
    bo.locator(".sentence", has_text="Ada draws a card blind.").first.wait_for()


def test_who_moves_can_do_nothing_more_until_its_page_shows_the_move(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = SeatedTable(http, people=3, bots=0)
    table.start()
    page = table.open(open_page, 0)
    for seat in range(3):
        table.do_first(seat, "keep_tickets")
    blind = page.locator(".actions").get_by_role("button", name="Draw blind")
    blind.wait_for()
    answers: list[Callable[[], None]] = []  # with the table as it is when the page asks
    page.route("**/state?*", lambda route: answers.append(partial(route.fulfill, response=route.fetch())))
    http.post(
        f"/v1/games/{table.game}/leave", headers={"Authorization": f"Bearer {table.tokens[2]}"}
    ).raise_for_status()
    wait_in(page, lambda: len(answers) == 1)
    # when
    with page.expect_response("**/commands"):
        blind.click()
    answers[0]()
    wait_in(page, lambda: len(answers) == 2)
    # then
    assert blind.is_disabled()
    answers[1]()
    page.locator(".sentence", has_text="Ada draws").first.wait_for()
    assert blind.is_enabled()


def test_a_seat_leaves_while_it_waits_and_only_once(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    table = SeatedTable(http, people=3, bots=0)
    table.start()
    for seat in range(3):
        table.do_first(seat, "keep_tickets")
    page = table.open(open_page, 1)
    leave = page.get_by_role("button", name="Leave the game")
    # when
    leave.click()
    assert page.locator("#actions-title").inner_text() == "Wait for the others"
    page.locator("dialog[open]").get_by_role("button", name="Leave the table").click()
    # then
    leave.wait_for(state="detached")
    assert http.get(f"/v1/games/{table.game}/state").json()["seats"][1]["gone"] == "left"


def wait_in(page: Any, is_so: Callable[[], bool]) -> None:
    """Let the page go on until something is so."""
    while not is_so():
        page.wait_for_timeout(10)


def test_a_game_is_looked_back_through_with_the_slider(open_page: OpenPage, http: httpx.Client) -> None:
    table = SeatedTable(http)
    table.start()
    page = table.open(open_page, 0)
    keep_all(page)
    page.get_by_role("button", name="Look back").click()
    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    page.get_by_text("Entry 1 of").first.wait_for()
    page.locator("main.table.waiting").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_text("Entry 2 of").first.wait_for()
    page.get_by_role("button", name="Back to now").click()
    page.locator("main.table.playing .actions").wait_for()


def test_a_game_that_is_over_is_seen_as_any_seat_saw_it_from_a_link_to_a_moment(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = SeatedTable(http)
    table.start()
    table.play_until()
    # when
    page = open_page(f"/table/{table.game}#at=5&as=1")
    # then
    page.get_by_role("heading", name="greedy 2’s cards").wait_for()
    page.get_by_text("Entry 5 of").first.wait_for()
    page.get_by_label("Seen by").select_option(label="Ada")
    page.get_by_role("heading", name="Ada’s cards").wait_for()
    best = page.get_by_label("Best move")
    best.select_option(index=1)
    page.locator(".moves li.now", has_text=": +").wait_for()
    page.get_by_label("Speed").select_option("fast")
    page.get_by_role("button", name="Play").click()
    page.locator(".result").wait_for()


def test_on_a_phone_no_page_is_wider_than_the_screen(open_page: OpenPage, http: httpx.Client) -> None:
    width = "document.documentElement.scrollWidth"
    lobby = open_page("/", size=PHONE)
    lobby.locator(".create").wait_for()
    assert lobby.evaluate(width) <= PHONE["width"]
    table = SeatedTable(http, "europe")
    page = table.open(open_page, 0, size=PHONE)
    page.get_by_role("button", name="Start the game").click()
    page.locator(".offer").wait_for()
    assert page.evaluate(width) <= PHONE["width"]
    page.goto(f"/audit/{table.game}")
    page.locator(".checks").wait_for()
    assert page.evaluate(width) <= PHONE["width"]
