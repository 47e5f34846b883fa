"""Links that open seats, in the browser: none takes a seat from its holder."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable, make_table

pytestmark = pytest.mark.long


QUESTION = "You hold seat A of this game; this link opens seat B."


@pytest.fixture
def table(http: httpx.Client) -> SeatedTable:
    """Ada in seat A, Bo in seat B, nothing dealt."""
    return SeatedTable(http, people=2)


def open_link(page: Any, table: SeatedTable, token: str, path: str = "table") -> None:
    page.goto("/")  # else only the fragment changes
    page.goto(f"/{path}/{table.game}#token={token}")


def sits_as(page: Any, name: str) -> None:
    page.locator(".waiting .seat").filter(has=page.get_by_text(name, exact=True)).locator(".you").wait_for()


def kept_token(page: Any, game: str) -> object:
    return json.loads(page.evaluate("localStorage.getItem('ledgerline.games')"))[game]["token"]


def test_a_link_to_another_seat_asks_which_counts(open_page: OpenPage, table: SeatedTable) -> None:
    # given
    page = table.open(open_page, 0)
    # when
    open_link(page, table, table.tokens[1])
    # then
    page.get_by_text(QUESTION).wait_for()
    sits_as(page, "Ada")
    assert "token" not in page.url
    # when
    page.get_by_role("button", name="Stay in seat A").click()
    # then
    page.get_by_text(QUESTION).wait_for(state="detached")
    page.reload()
    sits_as(page, "Ada")


def test_the_holder_goes_on_in_the_seat_of_a_link_and_keeps_its_own(
    open_page: OpenPage, table: SeatedTable
) -> None:
    # given
    page = table.open(open_page, 0)
    open_link(page, table, table.tokens[1])
    # when
    page.get_by_role("button", name="Go on in seat B").click()
    # then
    sits_as(page, "Bo")
    assert kept_token(page, table.game) == table.tokens[0]
    # when
    table.renew(1)
    # then
    sits_as(page, "Ada")
    open_page.expected.append("status of 401")


def test_a_link_that_opens_nothing_costs_no_seat(open_page: OpenPage, table: SeatedTable) -> None:
    # given
    page = table.open(open_page, 0)
    # when
    open_link(page, table, "x")
    # then
    page.get_by_text("This link opens no seat of this game").wait_for()
    sits_as(page, "Ada")
    assert kept_token(page, table.game) == table.tokens[0]
    open_page.expected.append("status of 401")


def test_the_audit_page_asks_which_seat_counts_too(open_page: OpenPage, table: SeatedTable) -> None:
    # given
    page = table.open(open_page, 0)
    # when
    open_link(page, table, table.tokens[1], "audit")
    # then
    page.get_by_text(QUESTION).wait_for()
    # when
    page.get_by_role("button", name="Go on in seat B").click()
    # then
    page.get_by_text("What you doubt").wait_for()
    assert page.get_by_text(QUESTION).count() == 0


def test_a_link_opens_its_seat_where_none_is_held(open_page: OpenPage, table: SeatedTable) -> None:
    page = open_page(f"/table/{table.game}#token={table.tokens[1]}")
    sits_as(page, "Bo")


def test_a_seat_whose_token_was_withdrawn_is_opened_again_by_its_join(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    page = open_page("/")
    make_table(page, "", "greedy")
    game = page.url.rpartition("/")[2]
    old = kept_token(page, game)
    sits_as(page, "Ada")
    # when
    headers = {"Authorization": f"Bearer {old}"}
    http.post(f"/v1/games/{game}/withdraw-token", headers=headers).raise_for_status()
    page.wait_for_function(
        "([game, old]) => JSON.parse(localStorage.getItem('ledgerline.games'))[game].token !== old",
        arg=[game, old],
    )
    # then
    sits_as(page, "Ada")
    assert page.get_by_text("You don't hold a seat here any more").count() == 0
    page.get_by_role("button", name="Start the game").click()
    page.locator(".offer").wait_for()
    open_page.expected.append("status of 401")
