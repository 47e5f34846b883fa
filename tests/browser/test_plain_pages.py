"""The pages that people read: the rules, and the API. What their policy forbids would be printed on the console."""

from __future__ import annotations

from tests.browser.conftest import OpenPage


def test_the_page_of_the_api_shows_its_requests(open_page: OpenPage) -> None:
    # given
    page = open_page("/docs")
    # when
    page.get_by_text("Take a free seat").first.click()
    # then
    page.get_by_role("button", name="Try it out").first.wait_for()


def test_a_page_of_rules_is_drawn_as_its_sheet_says(open_page: OpenPage) -> None:
    # given
    page = open_page("/rules")
    # when
    page.get_by_role("link", name="ROUTE-1", exact=True).first.click()
    page.wait_for_url("**/rules/ROUTE-1")
    # then
    width = page.evaluate("getComputedStyle(document.body).maxWidth")
    assert width.endswith("px"), "the sheet was taken"
