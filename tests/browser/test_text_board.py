"""The board in words, for people who don't see it: by owner, by city, and what is still open for a ticket."""

from __future__ import annotations

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable

pytestmark = pytest.mark.long


@pytest.mark.parametrize("ruleset", ["europe", "marklin"])
def test_the_board_is_read_by_keyboard_alone(open_page: OpenPage, http: httpx.Client, ruleset: str) -> None:
    table = SeatedTable(http, ruleset, last_cars=2)
    table.start()
    table.play_until(24)
    page = table.open(open_page, 0)
    page.locator(".actions:not(.idle)").wait_for()
    page.keyboard.press("?")
    assert (
        "The board in words" in page.locator(".keys div", has=page.get_by_text("w", exact=True)).inner_text()
    )
    page.keyboard.press("Escape")
    page.keyboard.press("w")
    words = page.get_by_role("dialog", name="The board in words")
    words.wait_for()
    state = http.get(
        f"/v1/games/{table.game}/state", headers={"Authorization": f"Bearer {table.tokens[0]}"}
    ).json()
    board = http.get(f"/v1/games/{table.game}/board").json()
    for seat in state["seats"]:
        owned = sum(owner == seat["seat"] for owner in state["routes"].values())
        shown = f"{seat['name']}: {owned} route" + ("" if owned == 1 else "s")
        assert words.locator("summary", has_text=shown).count() == 1
    assert words.locator("details").count() == len(state["seats"]) + 1 + len(board["cities"])
    tickets = words.locator(".inside > ul > li").all_inner_texts()
    assert len(tickets) == len(state["tickets"])
    for ticket, text in zip(state["tickets"], tickets, strict=True):
        assert ("still open" in text) is (ticket["open"] and not ticket["made"])
        assert text.count("space") == (len(ticket["way"]) + 1 if ticket["way"] else 0)
    for _ in range(20):  # from the button that closes it on to the first that opens
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.text-board summary')"):
            break
    page.keyboard.press("Enter")
    assert words.locator("details[open] li").count() > 0
    page.keyboard.press("Escape")
    assert words.count() == 0
    assert page.evaluate("document.activeElement !== document.body")


def test_a_city_says_its_routes_and_who_has_them(open_page: OpenPage, http: httpx.Client) -> None:
    table = SeatedTable(http, last_cars=2)
    table.start()
    table.play_until(24)
    page = table.open(open_page, 0)
    state = http.get(f"/v1/games/{table.game}/state").json()
    board = http.get(f"/v1/games/{table.game}/board").json()
    page.keyboard.press("w")
    route = next(each for each in board["routes"] if each["id"] in state["routes"])
    names = {city["id"]: city["name"] for city in board["cities"]}
    owner = state["seats"][state["routes"][route["id"]]]["name"]
    city = page.locator(".text-board details", has=page.locator("summary", has_text=names[route["a"]] + ":"))
    city.locator("summary").click()
    shown = city.locator("li", has_text=f"to {names[route['b']]}").all_inner_texts()
    assert any(f"{owner} has it" in text and f"{route['length']} space" in text for text in shown)
