"""Live and again: a connection that is lost comes back without a gap; a game is looked back through."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.chromium import PHONE
from tests.browser.conftest import OpenPage
from tests.browser.players import keep_all, make_table, two_at_a_table

pytestmark = pytest.mark.long  # test_games.py has the short form


def test_a_lost_connection_comes_back_without_a_gap(open_page: OpenPage) -> None:
    # given
    ada, bo = two_at_a_table(open_page)
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
    assert "as of entry" in bo.locator(".banner.away").inner_text()
    is_away = False
    # then
    bo.locator(".banner.away").wait_for(state="detached")
    keep_all(bo)
    ada.locator(".actions").get_by_role("button", name="Draw blind").click()
    bo.locator(".said", has_text="Ada draws a card blind.").first.wait_for()


def test_a_game_is_looked_back_through_with_the_slider(open_page: OpenPage) -> None:
    page = open_page("/")
    make_table(page, "", "greedy")
    page.get_by_role("button", name="Start the game").click()
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


def test_on_a_phone_no_page_is_wider_than_the_screen(open_page: OpenPage) -> None:
    page = open_page("/", size=PHONE)
    width = "document.documentElement.scrollWidth"
    page.locator(".create").wait_for()
    assert page.evaluate(width) <= PHONE["width"]
    make_table(page, "", "greedy", board="Europe 47")
    page.get_by_role("button", name="Start the game").click()
    page.locator(".offer").wait_for()
    assert page.evaluate(width) <= PHONE["width"]
