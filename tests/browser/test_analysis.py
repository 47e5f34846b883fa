"""A finished game analysed on its page: the choices that cost most, each with the way to play on from there."""

from __future__ import annotations

import httpx
import pytest

from services.bots import suggestions
from services.gateway.tables import table_folds
from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable, wait_for_audit

pytestmark = pytest.mark.long


def test_the_choices_that_cost_most_are_shown_and_played_on_from(
    open_page: OpenPage, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given
    monkeypatch.setattr(suggestions, "LIMIT_S", 55.0)  # a busy machine thinks longer than players should wait
    monkeypatch.setattr(table_folds, "MAX_WAIT_S", 60.0)
    table = SeatedTable(http)
    table.start()
    table.play_until()
    wait_for_audit(http, table.game)
    page = table.open(open_page, 0)
    # when
    page.get_by_role("button", name="Analyse").click()
    page.locator(".analysis progress").wait_for()
    page.locator(".analysis progress").wait_for(state="detached")
    # then
    rows = page.locator(".analysis .costly > li")
    assert 1 <= rows.count() <= 3
    costs = [int(text.split()[2]) for text in page.locator(".costly .note").all_inner_texts()]
    assert costs == sorted(costs, reverse=True)
    # when
    number = int(rows.first.get_by_role("button", name="Look").get_attribute("aria-label").split()[-1])
    rows.first.get_by_role("button", name="Look").click()
    assert page.get_by_role("slider").input_value() == str(number)
    page.get_by_role("button", name="Back to now").click()
    rows.first.get_by_role("button", name="Play on").click()
    page.wait_for_url(lambda url: table.game not in url)
    # then
    page.locator(".actions button:not([disabled])").first.wait_for()
    assert "Ada" in page.locator(".seat:has(.you)").inner_text()


def test_who_only_watched_is_offered_no_analysis(open_page: OpenPage, http: httpx.Client) -> None:
    table = SeatedTable(http)
    table.start()
    table.play_until()
    page = open_page(f"/table/{table.game}")
    page.locator(".result").wait_for()
    assert not page.locator(".analysis").count()
