"""Moves that come together are shown one after another, unless they are skipped, or the person wants no motion."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable

pytestmark = pytest.mark.long


def two_draws_seen_by_bo(open_page: OpenPage, http: httpx.Client, motion: bool = True) -> Any:
    """Bo's page, whose clock stands still, after Ada has drawn two cards."""
    table = SeatedTable(http, people=2, bots=0, last_cars=2)
    table.start()
    for seat in range(2):
        table.do_first(seat, "keep_tickets")
    page = table.open(open_page, 1, motion=motion)
    page.clock.install(time=0)
    page.reload()  # a timer from before is on the browser's clock, and the connection's would end it
    page.locator(".actions.idle").wait_for()
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 2)  # less than a connection may be silent
    for _ in range(2):
        table.do_first(0, "draw_blind")
    page.locator(".actions:not(.idle)").wait_for()
    return page


def told_draws(page: Any) -> int:
    draws: int = page.locator(".news li", has_text="Ada draws a card blind.").count()
    return draws


def test_moves_that_come_together_are_shown_one_after_another(
    open_page: OpenPage, http: httpx.Client
) -> None:
    page = two_draws_seen_by_bo(open_page, http)
    page.clock.run_for(30)  # until an own move would be painted
    assert told_draws(page) == 1
    page.clock.run_for(399)
    assert told_draws(page) == 1
    page.clock.run_for(2)
    assert told_draws(page) == 2


def test_a_press_shows_all_moves_at_once(open_page: OpenPage, http: httpx.Client) -> None:
    page = two_draws_seen_by_bo(open_page, http)
    page.mouse.click(5, 400)
    assert told_draws(page) == 2


def test_who_wants_no_motion_sees_all_moves_at_once(open_page: OpenPage, http: httpx.Client) -> None:
    page = two_draws_seen_by_bo(open_page, http, motion=False)
    assert told_draws(page) == 2
