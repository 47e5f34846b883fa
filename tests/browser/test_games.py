"""Games in the browser: two people and a bot, on every ruleset, by mouse and by keyboard alone."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import (
    POSSIBLE,
    SHORT,
    SeatedTable,
    keep_all,
    play_to_the_end,
    possible,
    two_at_a_table,
)


def test_two_people_and_a_bot_begin_a_game(open_page: OpenPage) -> None:
    # given
    ada, bo = two_at_a_table(open_page, "greedy")
    # when
    keep_all(ada)
    keep_all(bo)
    ada.locator(".actions").get_by_role("button", name="Draw blind").click()
    # then
    ada.locator(".hand .count").first.wait_for()
    bo.locator(".sentence", has_text="Ada draws a card blind.").first.wait_for()
    assert "#" not in bo.url, "an invitation stays in no address"
    assert ada.locator(".seat .you").count() == bo.locator(".seat .you").count() == 1
    bo.locator(".chain.good").wait_for()


@pytest.mark.long
@pytest.mark.parametrize("ruleset", SHORT)
def test_two_people_and_a_bot_play_a_game_to_its_end(
    open_page: OpenPage, http: httpx.Client, ruleset: str
) -> None:
    # given
    table = SeatedTable(http, ruleset, people=2)
    motion = ruleset == "usa"
    ada, bo = (table.open(open_page, seat, motion=motion) for seat in (0, 1))
    ada.get_by_role("button", name="Start the game").click()
    # when
    play_to_the_end(ada, bo)
    # then
    bo.locator(".result").wait_for()
    assert ada.locator(".result tbody").inner_text() == bo.locator(".result tbody").inner_text()


@pytest.mark.long
def test_a_whole_game_is_played_by_keyboard_alone(open_page: OpenPage, http: httpx.Client) -> None:
    page = SeatedTable(http).open(open_page, 0)
    press(page, "Start the game")
    for _ in range(400):
        kind = possible(page)
        if kind == "over":
            return
        if kind == "keep":
            keep_by_keyboard(page)
        elif kind == "act":
            page.locator(POSSIBLE["act"]).last.focus()
            page.keyboard.press("Enter")
            choose_by_keyboard(page)
        else:
            page.wait_for_timeout(60)
    raise AssertionError("the game isn't over after 400 looks")


def keep_by_keyboard(page: Any) -> None:
    """Keep all tickets of the offer: what isn't chosen is chosen."""
    for box in page.locator(".offer input").all():
        box.focus()
        if not box.is_checked():
            page.keyboard.press("Space")
    page.get_by_role("button", name="Keep").first.focus()
    page.keyboard.press("Enter")
    page.locator(".offer").wait_for(state="detached")


def choose_by_keyboard(page: Any) -> None:
    """Choose the first of what an open dialog offers."""
    if not page.locator("dialog[open]").count():
        return
    folded = page.locator("dialog[open] summary")
    if folded.count():
        folded.first.focus()
        page.keyboard.press("Enter")
    page.locator("dialog[open] .choice:visible").first.focus()
    page.keyboard.press("Enter")


def press(page: Any, name: str) -> None:
    """Press a button by the keyboard."""
    button = page.get_by_role("button", name=name).first
    button.wait_for()
    button.focus()
    page.keyboard.press("Enter")


def test_a_refused_move_shows_its_reason_and_the_way_to_the_rule(open_page: OpenPage) -> None:
    # given
    ada, bo = two_at_a_table(open_page)
    keep_all(ada)
    keep_all(bo)
    ada.locator(".actions").get_by_role("button", name="Draw blind").wait_for()
    illegal = {"type": "claim_route", "route": "calgary-vancouver-a", "cards": {"red": 9}}
    is_changed, heard = True, list[str]()

    def through(socket: Any) -> None:
        server = socket.connect_to_server()

        def pass_on(text: str) -> None:
            socket.send(text)
            heard.append(text)

        server.on_message(pass_on)
        socket.on_message(
            lambda text: server.send(
                json.dumps(json.loads(text) | {"command": illegal}) if is_changed else text
            )
        )

    ada.route_web_socket("**/play*", through)
    ada.reload()
    while not heard:  # it isn't attached yet, and would send its move another way
        ada.wait_for_timeout(10)
    # when
    ada.locator(".actions").get_by_role("button", name="Draw blind").click()
    # then
    refusal = ada.locator(".banner.refusal")
    refusal.wait_for()
    assert refusal.get_by_role("link").get_attribute("href").startswith("/rules/")
    assert "refused" in ada.locator("#live").inner_text().lower()
    is_changed = False
    ada.locator(".actions").get_by_role("button", name="Draw blind").click()
    bo.locator(".sentence", has_text="Ada draws a card blind.").first.wait_for()


@pytest.mark.long
def test_a_spectator_sees_a_public_game_and_no_button_to_act(open_page: OpenPage, http: httpx.Client) -> None:
    body = {"visibility": "public", "seats": [{"kind": "bot", "policy": "greedy"}] * 2}
    game = http.post("/v1/games", json=body).json()["game"]
    page = open_page("/")
    page.get_by_role("link", name=game).click()
    page.wait_for_selector("main.table svg.board")
    assert page.locator(".actions, .hand").count() == 0


@pytest.mark.long
def test_a_host_may_not_end_a_game_that_is_still_played(open_page: OpenPage, http: httpx.Client) -> None:
    table = SeatedTable(http)
    table.start()
    page = table.open(open_page, 0)
    page.get_by_role("button", name="End the game …").click()
    page.locator("dialog").get_by_role("button", name="End the game").click()
    page.locator(".banner.refusal").get_by_role("link", name="Rule GAME-8").wait_for()
    open_page.expected.append("status of 409")
