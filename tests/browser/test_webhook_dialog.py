"""A seat's webhook on the page of its table: set in a chat's form, tested and removed; what the server refuses is said."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable

pytestmark = pytest.mark.long


def stored(table: SeatedTable) -> Any:
    """Bo's webhook, as the API shows it."""
    headers = {"Authorization": f"Bearer {table.tokens[1]}"}
    return table.http.get(f"/v1/games/{table.game}/webhook", headers=headers).raise_for_status().json()


def test_SHAPE_1_a_webhook_is_set_tested_and_removed_and_a_refusal_stands_at_its_field(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = SeatedTable(http, people=2, bots=0, last_cars=2)
    table.start()
    page = table.open(open_page, 1)
    open_page.expected.append("status of 422")
    page.get_by_role("button", name="Message me elsewhere").click()
    address = page.get_by_label("Its address")
    save = page.get_by_role("button", name="Save")
    # when
    address.fill("https://127.0.0.1/hook")
    save.click()
    # then
    page.locator("#webhook-error", has_text="no public address").wait_for()
    assert (address.get_attribute("aria-invalid"), stored(table)["url"]) == ("true", None)
    # when
    page.locator("dialog select").select_option("slack")
    address.fill("https://hooks.invalid/services/T0")
    save.click()
    page.get_by_role("status").get_by_text("Saved.").wait_for()
    shown = stored(table)
    page.get_by_role("button", name="Send a test").click()
    # then
    page.get_by_role("status").get_by_text("The test has not arrived: no connection").wait_for()
    assert (shown["url"], shown["form"]) == ("https://hooks.invalid/services/T0", "slack")
    # and it is shown again when the page is opened again
    page.reload()
    page.get_by_role("button", name="Message me elsewhere").click()
    page.get_by_text("Slack is told of your turns").wait_for()
    assert address.input_value() == "https://hooks.invalid/services/T0"
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("status").get_by_text("Removed.").wait_for()
    assert stored(table)["url"] is None
