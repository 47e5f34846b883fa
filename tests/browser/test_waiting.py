"""Tables before their start, in the browser: what their makers choose, and whom they remove."""

from __future__ import annotations

import httpx

from tests.browser.conftest import OpenPage


def test_a_table_is_made_without_suggestions(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    page = open_page("/")
    page.get_by_label("Your name").fill("Ada")
    suggestions = page.get_by_role("checkbox", name="Suggestions")
    assert suggestions.is_checked()
    # when
    suggestions.uncheck()
    page.get_by_role("button", name="Make the table").click()
    page.wait_for_selector("main.table svg.board")
    # then
    game = page.url.rpartition("/")[2]
    creation = http.get(f"/v1/games/{game}/view").raise_for_status().json()["entries"][0]
    [access] = [event for event in creation["events"] if event["type"] == "access_set"]
    assert access["suggestions"] is False
