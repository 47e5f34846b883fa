"""Games in the browser: two people and a bot, on every ruleset, by mouse and by keyboard alone."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import keep_all, make_table, play_to_the_end, two_at_a_table

BOARDS = {"usa": "USA 36", "europe": "Europe 47", "marklin": "Germany 40", "trains": "Iberia 35"}


def test_two_people_and_a_bot_begin_a_game(open_page: OpenPage) -> None:
    # given
    ada, bo = two_at_a_table(open_page, "greedy")
    # when
    keep_all(ada)
    keep_all(bo)
    ada.locator(".actions").get_by_role("button", name="Draw blind").click()
    # then
    ada.locator(".hand .count").first.wait_for()
    bo.locator(".said", has_text="Ada draws a card blind.").first.wait_for()
    assert "#" not in bo.url, "an invitation stays in no address"
    assert ada.locator(".seat .you").count() == bo.locator(".seat .you").count() == 1
    bo.locator(".seal.good").wait_for()


@pytest.mark.long
@pytest.mark.parametrize("ruleset", BOARDS)
def test_two_people_and_a_bot_play_a_game_to_its_end(open_page: OpenPage, ruleset: str) -> None:
    ada, bo = two_at_a_table(open_page, "greedy", board=BOARDS[ruleset], cars=12)
    play_to_the_end(ada, bo)
    bo.locator(".result").wait_for()
    assert ada.locator(".result tbody").inner_text() == bo.locator(".result tbody").inner_text()


@pytest.mark.long
def test_a_whole_game_is_played_by_keyboard_alone(open_page: OpenPage) -> None:
    page = open_page("/")
    make_table(page, "", "greedy", cars=9)
    press(page, "Start the game")
    for _ in range(400):
        if page.locator(".result").count():
            break
        boxes = page.locator(".offer input")
        if boxes.count():
            for place in range(boxes.count()):
                boxes.nth(place).focus()
                page.keyboard.press("Space")
            press(page, "Keep")
            page.locator(".offer").wait_for(state="detached")
        elif page.locator(".actions .primary:not([disabled])").count():
            page.locator(".actions .primary:not([disabled])").last.focus()
            page.keyboard.press("Enter")
            if page.locator("dialog[open] .choice").count():
                page.locator("dialog[open] .choice").first.focus()
                page.keyboard.press("Enter")
        page.wait_for_timeout(150)  # what was sent is answered
    page.locator(".result").wait_for()


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
    illegal = '{"type": "claim_route", "route": "calgary-vancouver-a", "cards": {"red": 9}}'
    ada.route("**/commands", lambda route: route.continue_(post_data=illegal))
    # when
    ada.locator(".actions").get_by_role("button", name="Draw blind").click()
    # then
    refusal = ada.locator(".banner.refusal")
    refusal.wait_for()
    assert refusal.get_by_role("link").get_attribute("href").startswith("/rules/")
    assert "refused" in ada.locator("#live").inner_text().lower()
    ada.unroute("**/commands")
    open_page.said.clear()  # type: ignore[attr-defined]  # the browser names every answer of 409
    ada.locator(".actions").get_by_role("button", name="Draw blind").click()
    bo.locator(".said", has_text="Ada draws a card blind.").first.wait_for()


@pytest.mark.long
def test_a_spectator_sees_a_public_game_and_no_button_to_act(open_page: OpenPage, http: httpx.Client) -> None:
    body = {"visibility": "public", "seats": [{"kind": "bot", "policy": "greedy"}] * 2}
    game = http.post("/v1/games", json=body).json()["game"]
    page = open_page("/")
    page.get_by_role("link", name=game).click()
    page.wait_for_selector("main.table svg.board")
    assert page.locator(".actions, .hand").count() == 0
