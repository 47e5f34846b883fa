"""Who sat at a table that is over plays again with the same people; who only watches is told so, and counted."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable, make_tricks, wait_for_audit

pytestmark = pytest.mark.long


def finished(http: httpx.Client, ruleset: str = "usa") -> SeatedTable:
    """A game of Ada, Bo and a bot that is over: both have left."""
    table = SeatedTable(http, ruleset, people=2)
    table.start()
    for token in table.tokens:
        headers = {"Authorization": f"Bearer {token}"}
        http.post(f"/v1/games/{table.game}/leave", headers=headers).raise_for_status()
    while http.get(f"/v1/games/{table.game}/state").json()["status"] != "over":
        time.sleep(0.1)
    wait_for_audit(http, table.game)
    return table


@pytest.mark.parametrize("ruleset", ["usa", "trains"])
def test_one_offers_a_rematch_and_the_other_joins_in_the_own_seat(
    open_page: OpenPage, http: httpx.Client, ruleset: str
) -> None:
    table = finished(http, ruleset)
    bo, ada = table.open(open_page, 1), table.open(open_page, 0)
    bo.get_by_role("button", name="Play again").click()
    bo.locator(".panel.waiting").wait_for()
    ada.get_by_text("seat A is kept for you, Ada").wait_for()
    ada.get_by_role("button", name="Join the rematch").click()
    ada.locator(".panel.waiting").wait_for()
    assert ada.url.partition("#")[0] == bo.url.partition("#")[0]
    for page, seat in ((bo, 1), (ada, 0)):
        if ruleset == "trains":  # which asks for ages
            page.get_by_label("Your name").fill("Ada" if seat == 0 else "Bo")
            page.get_by_role("button", name="Take this seat").click()
        page.locator(".waiting .seat").nth(seat).locator(".you").wait_for()
    ada.get_by_text("Everybody is here").wait_for()
    ada.get_by_role("button", name="Start the game").click()
    bo.locator("main.playing").wait_for()


def test_who_watched_is_led_to_the_rematch(open_page: OpenPage, http: httpx.Client) -> None:
    table = finished(http)
    watching = open_page(f"/table/{table.game}")
    watching.locator(".result").wait_for()
    assert watching.get_by_role("button", name="Play again").count() == 0
    table.open(open_page, 0).get_by_role("button", name="Play again").click()
    watching.get_by_role("link", name="Watch the rematch").click()
    watching.locator(".panel.waiting").wait_for()


def test_a_game_in_parts_is_played_again_too(open_page: OpenPage) -> None:
    page = open_page("/")
    make_tricks(page)
    play_parts(page)
    page.get_by_role("button", name="Play again").click()
    page.get_by_text("Everybody is here").wait_for()


def play_parts(page: Any) -> None:
    """Play the first of what is shown until the game is over. It is found and clicked in one look: by a second one it may be
    another."""
    shown = page.locator("main.playing button.bare:not([disabled]), .actions .primary:not([disabled])")
    while not page.locator(".result").count():
        shown.evaluate_all("([first]) => first?.click()")
        page.wait_for_timeout(60)


def test_who_watches_is_told_so_and_counted(open_page: OpenPage, http: httpx.Client) -> None:
    table = SeatedTable(http, people=2, bots=0)
    table.start()
    ada = table.open(open_page, 0)
    for _ in range(2):
        page = open_page(f"/table/{table.game}")
        page.get_by_text("You are watching").wait_for()
    ada.locator("#seats-title .watchers", has_text="2 watch").wait_for()
    assert ada.get_by_text("You are watching").count() == 0
    page.goto("/")
    ada.locator("#seats-title .watchers", has_text="1 watches").wait_for()
