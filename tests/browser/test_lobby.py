"""The lobby: how few steps lead to a game, and that nothing moves under a visitor's finger."""

from __future__ import annotations

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable

SIZES = [(1366, 768), (768, 1024), (844, 390), (390, 844)]
SHIFTS = """window.shifts = 0;
new PerformanceObserver(list => { for (const each of list.getEntries()) window.shifts += each.value; })
  .observe({type: 'layout-shift', buffered: true});"""
MOST_SHIFT = 0.05


@pytest.mark.parametrize("game", ["USA 36", "Tricks"])
def test_a_stranger_plays_a_first_move_against_a_bot_by_two_clicks(open_page: OpenPage, game: str) -> None:
    # given
    page = open_page("/")
    page.get_by_role("radio", name=game).check()
    # when
    page.get_by_role("button", name="Play now").click()
    own_move = page.locator(".offer button:not([disabled]), .parts button:not([disabled])")
    own_move.first.click()
    # then
    own_move.first.wait_for(state="detached")
    assert page.locator(".banner.refusal").count() == 0
    assert page.locator(".seat .bot").count() > 0


def test_a_bot_of_each_strength_is_described_and_sits_down(open_page: OpenPage) -> None:
    # given
    page = open_page("/")
    strengths = page.locator(".strengths label")
    strengths.first.wait_for()
    assert strengths.count() == 3
    assert all(len(text.split()) > 5 for text in strengths.all_inner_texts())
    # when
    page.get_by_role("radio", name="Paul Hard").check()
    page.get_by_role("button", name="Play now").click()
    # then
    page.locator(".seat").get_by_text("Paul", exact=True).wait_for()


def test_lists_without_a_game_are_not_shown(open_page: OpenPage) -> None:
    # given
    page = open_page("about:blank")
    page.route("**/v1/games?*", lambda route: route.fulfill(json={"games": []}))
    # when
    with page.expect_response("**/v1/games?*"):
        page.goto("/")
    page.get_by_role("button", name="Play now").wait_for()
    # then
    assert page.locator(".lists section").count() == 0


@pytest.mark.long
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_nothing_in_the_lobby_moves_while_it_loads(
    open_page: OpenPage, http: httpx.Client, width: int, height: int
) -> None:
    # given
    table = SeatedTable(http)
    table.start()
    # when
    page = open_page("/", {"width": width, "height": height}, SHIFTS + table.known_seat(0))
    page.locator(".game a").first.wait_for()
    page.locator(".game-card img").first.wait_for()
    page.wait_for_load_state("networkidle")
    # then
    assert page.evaluate("window.shifts") < MOST_SHIFT


@pytest.mark.long
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_playing_now_needs_no_scrolling(open_page: OpenPage, width: int, height: int) -> None:
    page = open_page("/", {"width": width, "height": height})
    box = page.get_by_role("button", name="Play now").bounding_box()
    assert 0 <= box["y"] <= box["y"] + box["height"] <= height


def test_options_are_in_words_and_groups_and_those_of_programs_are_left_out(open_page: OpenPage) -> None:
    # given
    page = open_page("/")
    page.locator(".own > summary").click()
    # when
    page.get_by_text("Options of the").click()
    # then
    groups = page.locator(".option-groups h2").all_inner_texts()
    assert groups == ["The table", "Length of the game", "Cards and tickets", "Points"]
    shown = page.locator(".option-groups").inner_text()
    assert "For the longest trail" in shown
    assert "each" in shown
    assert not [word for word in ("Flush", "Refusals", "_", "ms", "null", "{") if word in shown.split()]
