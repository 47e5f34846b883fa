"""Ages in the browser: asked for where the turns go by them, and nowhere else."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.long


def table_by(http: httpx.Client, order: str) -> str:
    """A table of two people whose turns go by this."""
    body = {"seats": [{"kind": "human"}] * 2, "options": {"order": order}}
    game: str = http.post("/v1/games", json=body).raise_for_status().json()["game"]
    return game


def sit_down(open_page: OpenPage, game: str, name: str, age: str) -> Any:
    page = open_page(f"/table/{game}")
    page.get_by_label("Your name").first.fill(name)
    page.get_by_label("Your age or birthday").first.fill(age)
    page.get_by_role("button", name="Take this seat").first.click()
    page.locator(".waiting .you").wait_for()
    return page


def test_TURN_1_the_youngest_begins_by_the_ages_that_people_type(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    game = table_by(http, "youngest")
    sit_down(open_page, game, "Ada", "1950-06-01")
    bo = sit_down(open_page, game, "Bo", "9")
    # when
    bo.get_by_role("button", name="Start the game").click()
    bo.locator(".offer").wait_for()
    # then
    assert http.get(f"/v1/games/{game}/state").json()["turn_order"] == [1, 0]


def test_nobody_is_asked_for_an_age_where_turns_go_by_seat(open_page: OpenPage, http: httpx.Client) -> None:
    page = open_page(f"/table/{table_by(http, 'seated')}")
    page.get_by_label("Your name").first.wait_for()
    assert page.get_by_label("Your age or birthday").count() == 0


def test_who_makes_a_table_says_its_age_where_the_oldest_begins(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    page = open_page("/")
    page.get_by_label("Your name").fill("Ada")
    assert page.get_by_label("Your age or birthday").count() == 0
    page.locator(".own > summary").click()
    page.get_by_text("Options of the").click()
    page.get_by_label("Who begins", exact=True).select_option("age")
    # when
    page.get_by_label("Your age or birthday").fill("36")
    page.get_by_role("button", name="Make the table").click()
    page.wait_for_selector("main.table svg.board")
    # then
    game = page.url.rpartition("/")[2]
    events = [
        event
        for entry in http.get(f"/v1/games/{game}/view").json()["entries"]
        for event in entry["events"]
        if event["type"] == "seat_taken" and event["policy"] is None
    ]
    assert [event["age"] for event in events] == [36]
