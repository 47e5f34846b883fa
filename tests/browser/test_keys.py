"""A table by keys: each action has one, a list says which, and the focus stays where one plays."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable, make_tricks

pytestmark = pytest.mark.long


FOCUSED = "document.activeElement !== document.body && document.querySelector('#page').contains(document.activeElement)"


def settled(page: Any) -> None:
    """Wait until the page has drawn what was done, and has given the focus back."""
    page.locator("dialog[open]").wait_for(state="detached")
    page.locator(".actions button:not([disabled])").first.wait_for()
    page.wait_for_function(FOCUSED)


def test_keys_act_are_listed_and_never_lose_the_focus(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    table = SeatedTable(http, bots=0, people=2, last_cars=2)
    table.start()
    table.do_first(1, "keep_tickets")
    page = table.open(open_page, 0)
    page.locator(".offer").wait_for()
    # when
    page.keyboard.press("?")
    # then
    assert "Keep" in page.locator("dialog .keys").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    page.locator(".offer").wait_for(state="detached")
    lost = []
    for turn in range(6):
        settled(page)
        key = ("d", "1", "2")[turn % 3]
        if not page.locator(f"button[aria-keyshortcuts='{key}']").count():
            key = "d"
        number = page.locator(".news li").first.inner_text()
        page.keyboard.press(key)
        page.wait_for_function(
            "before => document.querySelector('.news li').innerText !== before || document.querySelector('.actions.idle')",
            arg=number,
        )
        page.wait_for_function(FOCUSED)  # what had it was disabled while the command was on its way
        while not table.kinds(0) and table.kinds(1):
            table.do_first(1, "draw_blind")
        if not page.evaluate(FOCUSED):
            lost.append(turn)
    assert lost == []


def test_moves_are_in_a_drawer_and_not_on_the_way_of_the_tab_key(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = SeatedTable(http, people=2, last_cars=2)
    table.start()
    table.draw_cards(rounds=6)
    page = table.open(open_page, 0)
    page.locator(".actions .primary").first.wait_for()
    assert page.locator(".moves").count() == 0
    # when
    tabs = 0
    while not page.evaluate("document.activeElement.closest('.actions') !== null"):
        page.keyboard.press("Tab")
        tabs += 1
        assert tabs < 25, "what may be done is near"
    # then
    page.keyboard.press("m")
    page.locator(".drawer.moves li").nth(5).wait_for()
    page.keyboard.press("Escape")
    page.locator(".drawer.moves").wait_for(state="detached")


def test_keys_can_be_turned_off_and_a_table_in_parts_has_them_too(open_page: OpenPage) -> None:
    # given
    page = open_page("/")
    make_tricks(page)
    page.locator(".actions button[aria-keyshortcuts=p]:not([disabled])").wait_for()
    page.keyboard.press("p")
    page.locator("dialog[open] .choice").first.wait_for()
    page.keyboard.press("Escape")
    # when
    page.keyboard.press("?")
    page.get_by_role("button", name="Turn keys off").click()
    page.keyboard.press("p")
    # then
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.press("?")
    page.get_by_role("button", name="Turn keys on").wait_for()
