"""The board under wheel, keys, buttons and pointers: what is seen of it, and which route a tap means."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable

pytestmark = pytest.mark.long


PHONE = {"width": 390, "height": 844}
PALED = """() => {
  const count = (selector) => document.querySelectorAll(`.board .route${selector}`).length;
  return count(".paled") > 0 && count(".paled") === count(":not(.owned):not(.legal)");
}"""
BESIDE = """() => {  // 11 px beside the middle of the longest route that may be claimed
  const svg = document.querySelector("svg.board");
  const lines = [...svg.querySelectorAll(".route.legal .way")];
  const line = lines.toSorted((a, b) => b.getTotalLength() - a.getTotalLength())[0];
  const half = line.getTotalLength() / 2, matrix = svg.getScreenCTM();
  const [a, b] = [half - 1, half + 1].map((at) => line.getPointAtLength(at).matrixTransform(matrix));
  const far = Math.hypot(b.x - a.x, b.y - a.y);
  return [(a.x + b.x) / 2 - ((b.y - a.y) / far) * 11, (a.y + b.y) / 2 + ((b.x - a.x) / far) * 11];
}"""


def seen_width(page: Any) -> float:
    width: float = page.evaluate("document.querySelector('svg.board').viewBox.baseVal.width")
    return width


def at_turn(open_page: OpenPage, http: httpx.Client, **more: Any) -> Any:
    table = SeatedTable(http, last_cars=2)  # which isn't over with its first claims
    table.start()
    table.play_until(8)
    page = table.open(open_page, 0, **more)
    page.locator(".route.legal").first.wait_for(state="attached")
    return page


def test_wheel_double_click_keys_and_buttons_zoom_the_board(open_page: OpenPage, http: httpx.Client) -> None:
    page = at_turn(open_page, http)
    whole = seen_width(page)
    frame = page.locator(".board-frame")
    frame.hover()
    page.mouse.wheel(0, -100)
    page.wait_for_function("document.querySelector('svg.board').hasAttribute('data-zoomed')")
    assert seen_width(page) < whole
    page.get_by_role("button", name="All of the board").click()
    assert seen_width(page) == whole
    frame.focus()
    page.keyboard.press("+")
    once = seen_width(page)
    page.keyboard.press("-")
    assert once < whole == seen_width(page)
    page.get_by_role("button", name="Zoom in").click()
    assert seen_width(page) == once


def touch(session: Any, kind: str, *points: tuple[float, float]) -> None:
    """Fingers on the glass, as the browser is told of them by its device."""
    fingers = [{"x": x, "y": y, "id": place} for place, (x, y) in enumerate(points)]
    session.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": fingers})


def pinch(session: Any, at: tuple[float, float], spans: list[float]) -> None:
    """Two fingers that are as far apart as each of these, one after the other."""
    x, y = at
    touch(session, "Start", (x - spans[0] / 2, y))
    touch(session, "Start", (x - spans[0] / 2, y), (x + spans[0] / 2, y))
    for span in spans[1:]:
        touch(session, "Move", (x - span / 2, y), (x + span / 2, y))
    touch(session, "End")


def test_two_fingers_zoom_the_board_and_one_moves_what_is_seen_of_it(
    open_page: OpenPage, http: httpx.Client
) -> None:
    page = at_turn(open_page, http, size=PHONE, has_touch=True, is_mobile=True)
    session = page.context.new_cdp_session(page)
    whole = seen_width(page)
    box = page.locator("svg.board").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    pinch(session, middle, [60, 90, 120, 150, 180])
    assert whole / 3.3 < seen_width(page) < whole / 2  # thrice as far apart, but for what begins it
    assert page.evaluate("visualViewport.scale") == 1  # the page itself stays as it is
    corner = page.evaluate("document.querySelector('svg.board').viewBox.baseVal.x")
    touch(session, "Start", middle)
    for step in range(1, 6):
        touch(session, "Move", (middle[0] - 12 * step, middle[1]))
    touch(session, "End")
    assert page.evaluate("document.querySelector('svg.board').viewBox.baseVal.x") > corner
    assert page.locator("dialog[open]").count() == 0  # a finger that drags means no route
    pinch(session, middle, [180, 120, 60, 30, 20])
    assert seen_width(page) == whole


def test_two_taps_zoom_to_where_they_are(open_page: OpenPage, http: httpx.Client) -> None:
    page = at_turn(open_page, http, size=PHONE, has_touch=True, is_mobile=True)
    session = page.context.new_cdp_session(page)
    whole = seen_width(page)
    box = page.locator("svg.board").bounding_box()
    sea = (box["x"] + 12, box["y"] + box["height"] - 12)  # where no route is
    for _ in range(2):
        touch(session, "Start", sea)
        touch(session, "End")
    page.wait_for_function(
        "whole => document.querySelector('svg.board').viewBox.baseVal.width < whole", arg=whole
    )
    assert page.evaluate("visualViewport.scale") == 1


def test_a_tap_beside_a_route_claims_it(open_page: OpenPage, http: httpx.Client) -> None:
    page = at_turn(open_page, http, size=PHONE, has_touch=True)
    page.touchscreen.tap(*page.evaluate(BESIDE))
    page.locator("dialog[open]").get_by_role("heading", name="Claim this route").wait_for()


def test_what_cannot_be_claimed_is_paled(open_page: OpenPage, http: httpx.Client) -> None:
    page = at_turn(open_page, http)
    page.wait_for_function(PALED)
    assert page.locator(".route.owned .ribbon .pattern").count() > 0


def test_each_way_to_claim_a_route_with_a_passenger_names_its_city(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = SeatedTable(http, "marklin")
    table.start()
    table.play_until(4)
    page = table.open(open_page, 0)
    # when
    page.get_by_role("button", name="Claim a route").click()
    page.locator("dialog[open] .choice .note").first.wait_for(state="attached")
    # then
    groups = page.locator("dialog[open] .group:has(.choice .note)").evaluate_all(
        "groups => groups.map((group) => [group.textContent, [...group.querySelectorAll('.choice .note')].map((note) => note.textContent)])"
    )
    assert groups
    for text, notes in groups:
        cities = {note.removeprefix("with a passenger in ") for note in notes}
        assert all(text.count(city) > notes.count(f"with a passenger in {city}") for city in cities), text
