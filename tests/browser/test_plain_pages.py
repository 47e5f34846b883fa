"""The pages that people read: the rules, and the API. What their policy forbids would be printed on the console."""

from __future__ import annotations

import pytest

from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.long


def test_the_page_of_the_api_shows_its_requests(open_page: OpenPage) -> None:
    # given
    page = open_page("/docs")
    # when
    call = page.locator("details.call").filter(has=page.get_by_text("/v1/games/{game}/join", exact=True))
    call.locator("summary").first.click()
    # then
    assert "in the path" in call.locator(".rows").first.inner_text()
    call.get_by_role("link", name="JoinRequest").first.click()
    assert page.url.endswith("#JoinRequest")
    page.locator("#JoinRequest .rows").wait_for()


def test_a_page_of_rules_is_drawn_as_its_sheet_says(open_page: OpenPage) -> None:
    # given
    page = open_page("/rules")
    # when
    page.get_by_role("link", name="ROUTE-1", exact=True).first.click()
    page.wait_for_url("**/rules/ROUTE-1")
    # then
    width = page.evaluate("getComputedStyle(document.body).maxWidth")
    assert width.endswith("px"), "the sheet was taken"
