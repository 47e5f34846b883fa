"""A game without a page of its own, in the browser: made in the lobby, played by clicking, looked back through, audited."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.bootstrap.embedded import run_embedded_server
from services.referee.games import RULESETS, GameState
from services.referee.games.found_games import RULESET_VERSIONS
from tests.browser.conftest import OpenPage
from tests.browser.players import STEP_MS, make_tricks, wait_for_audit
from tests.games.added_package import BIDS, added_package
from tests.many_clients import settings_for_many_clients

pytestmark = pytest.mark.long


def play_a_card(page: Any, turn: int) -> None:
    """Play a card that may be played: by the card itself, or by its sentence in the dialog."""
    cards = page.locator(".parts button:not([disabled])")
    actions = page.locator(".actions .primary:not([disabled])")
    if turn % 3:
        cards.first.click(timeout=STEP_MS)
        return
    actions.first.click(timeout=STEP_MS)
    if page.locator("dialog[open]").count():
        page.locator("dialog[open] .choice").first.click(timeout=STEP_MS)


def test_a_whole_game_of_tricks_is_played_by_clicking(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    page = open_page("/")
    make_tricks(page)
    page.locator("main.table.playing .actions").wait_for()
    assert page.locator(".face").count() == 20, "the own hand; others' cards are face down"
    assert page.locator(".facts", has_text="hand: 20 cards").count() == 2
    # when
    for turn in range(20):
        page.locator(".parts button:not([disabled]), .result").first.wait_for()
        before = page.locator(".parts:has(#own-title) .face").count()
        play_a_card(page, turn)
        page.wait_for_function(
            "before => document.querySelectorAll('.parts:has(#own-title) .face').length < before || document.querySelector('.result')",
            arg=before,
        )
    # then
    page.locator(".result").wait_for()
    totals = page.locator(".result tbody td:nth-child(2)").all_inner_texts()
    assert sum(map(int, totals)) == 20, "a point for each trick"
    page.get_by_role("button", name="Watch it again").click()
    page.set_viewport_size({"width": 768, "height": 1024})
    for entry in range(4, 9):
        page.get_by_role("slider").fill(str(entry))
        page.locator(".replay", has_text=f"Entry {entry} of").wait_for()
        assert page.locator(".felt").bounding_box()["height"] >= 150, "the table is in sight on a tablet, too"
    page.locator("main").get_by_label("Seen by").select_option(index=2)
    page.locator("#own-title", has_text="’s").wait_for()
    # and its proof holds
    game = page.url.rpartition("/")[2].partition("#")[0]
    wait_for_audit(http, game)
    page.get_by_role("link", name="Explain or doubt this entry").click()
    page.locator(".verdict.good").wait_for()
    page.locator(".move dt", has_text="hand").first.wait_for()


def test_a_game_in_parts_is_watched_by_the_public_with_all_hands_hidden(
    open_page: OpenPage, http: httpx.Client
) -> None:
    seats = [{"kind": "human"}, *[{"kind": "bot", "policy": "random"}] * 2]
    body = {"ruleset": "tricks", "seats": seats, "visibility": "public"}
    created = http.post("/v1/games", json=body).raise_for_status().json()
    path = f"/v1/games/{created['game']}"
    http.post(f"{path}/join", json={"name": "Ada"}).raise_for_status()
    http.post(f"{path}/start", headers={"Authorization": f"Bearer {created['token']}"}).raise_for_status()
    # when
    page = open_page(f"/table/{created['game']}")
    # then
    page.locator("main.table.playing").wait_for()
    assert page.locator(".face").count() == 0
    assert page.locator(".facts", has_text="hand: 20 cards · tricks: 0").count() == 3
    lobby = open_page("/")
    lobby.get_by_role("link", name=f"Watch: Tricks, {created['game']}").wait_for()


def test_of_cards_of_equal_names_the_own_one_is_played(chromium: Any, tmp_path: Path) -> None:
    # given
    with (
        added_package(BIDS, "ledgerline_bids", "BIDS"),
        run_embedded_server(tmp_path, settings_for_many_clients()) as server,
    ):
        page = chromium.new_page(base_url=server.url)
        page.goto("/")
        page.get_by_label("Your name").fill("Ada")
        page.get_by_role("radio", name="Bids").check()
        page.locator(".own > summary").click()
        page.get_by_role("button", name="Make the table").click()
        page.get_by_role("button", name="Start the game").click()
        # when
        page.locator("section:has(#own-title) button").first.click()
        page.locator(".sentence", has_text="Ada has bid 1.").wait_for()
        # then
        page.locator(".actions .primary").wait_for()
        assert page.locator(".parts button").count() == 12, "no prize, and no bid of the other seat"
        page.close()


def drawn(state: GameState, viewer: int | None) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><text y="15">'
        f"{len(state.own.trick)} of {viewer}</text></svg>"
    )


def test_a_game_may_bring_a_drawing_of_its_table(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given
    ruleset = replace(RULESETS["tricks"], draw=drawn)
    monkeypatch.setitem(RULESETS, "tricks", ruleset)
    monkeypatch.setitem(RULESET_VERSIONS, ("tricks", ruleset.version), ruleset)
    # when
    page = open_page("/")
    make_tricks(page)
    # then
    page.locator("img.drawing").wait_for()
    assert "0%20of%200" in page.locator("img.drawing").get_attribute("src")
    assert page.evaluate("document.querySelector('img.drawing').decode().then(() => true)")
