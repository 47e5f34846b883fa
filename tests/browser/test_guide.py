"""A first game is guided by marks that point, and the rules are one key away."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable, make_tricks
from tests.browser.test_accessibility import violations
from tests.browser.test_lobby import SIZES

pytestmark = pytest.mark.long


COVERED = """() => {
  const mark = document.querySelector('.guide-mark');
  return [...document.querySelectorAll('#page button:not(:disabled), #page input')].filter(each => {
    const box = each.getBoundingClientRect();
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    return mark.contains(document.elementFromPoint(x, y));
  }).map(each => each.textContent || each.outerHTML);
}"""
FOCUSED = "document.activeElement.closest('.guide-mark') !== null"


def first_game(open_page: OpenPage, http: httpx.Client, **more: Any) -> Any:
    table = SeatedTable(http, "usa")
    table.start()
    page = table.open(open_page, 0, guided=True, **more)
    page.locator(".guide-mark").wait_for()
    return page


def next_mark(page: Any) -> None:
    page.locator(".guide-mark .primary").click()


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_ten_marks_point_and_cover_nothing_that_is_clicked(
    open_page: OpenPage, http: httpx.Client, width: int, height: int
) -> None:
    # given
    page = first_game(open_page, http, size={"width": width, "height": height})
    said = []
    # when
    while page.locator(".guide-mark").count():
        said.append(page.locator(".guide-mark p").first.inner_text())
        # then
        assert page.evaluate(COVERED) == []
        next_mark(page)
    assert len({*said}) == len(said)
    assert len(said) == 10 or width < 1366, "a place that isn't seen has no mark"
    page.reload()
    page.locator(".turn").wait_for()
    assert page.locator(".guide-mark").count() == 0


@pytest.mark.parametrize("how", ["button", "key"])
def test_the_marks_are_sent_away_for_good(open_page: OpenPage, http: httpx.Client, how: str) -> None:
    # given
    page = first_game(open_page, http)
    # when
    if how == "key":
        page.keyboard.press("Escape")
    else:
        page.get_by_role("button", name="No more of these").click()
    # then
    page.locator(".guide-mark").wait_for(state="detached")
    page.reload()
    page.locator(".turn").wait_for()
    assert page.locator(".guide-mark").count() == 0


def test_a_mark_takes_no_focus_and_stands_behind_all_else_for_the_keyboard(
    open_page: OpenPage, http: httpx.Client
) -> None:
    page = first_game(open_page, http)
    assert not page.evaluate(FOCUSED)
    page.locator(".turn").wait_for()
    page.keyboard.press("Tab")
    assert not page.evaluate(FOCUSED)


def test_a_game_of_no_board_has_the_marks_of_any_game(open_page: OpenPage) -> None:
    # given
    page = open_page("/", guided=True)
    make_tricks(page)
    # then
    page.locator(".guide-mark").get_by_text("Whose turn it is always stands here").wait_for()
    next_mark(page)
    page.locator(".guide-mark b", has_text="2").wait_for()


def test_rules_and_points_are_one_key_away(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    table = SeatedTable(http, "usa", longest_bonus=7)
    page = table.open(open_page, 0)
    # when
    while not page.locator(".rules-dialog[open]").count():  # the key works once the table is painted
        page.keyboard.press("r")
        page.wait_for_timeout(50)
    # then
    points = page.locator(".rules-dialog .points-table td")
    points.first.wait_for()
    assert points.all_inner_texts() == ["1", "2", "4", "7", "10", "15"]
    page.get_by_text("7 points for the longest trail").wait_for()
    page.locator(".rules-text").get_by_text("You lay trains between cities.").wait_for()
    # when
    page.get_by_role("checkbox", name="The key R opens this").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    # then
    assert page.locator("dialog[open]").count() == 0


def test_marks_and_rules_keep_nothing_from_anybody(open_page: OpenPage, http: httpx.Client) -> None:
    page = first_game(open_page, http, bypass_csp=True)
    assert violations(page) == []
    page.get_by_role("button", name="Rules").click()
    page.locator(".points-table td").first.wait_for()
    assert violations(page) == []
