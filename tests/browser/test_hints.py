"""Hints: what a strong bot would do in one's place, with the reason, and one button that does it."""

from __future__ import annotations

import httpx
import pytest

from services.bots import suggestions
from services.gateway.tables import table_folds
from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable, keep_all, make_tricks, two_at_a_table

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine thinks longer than players should wait."""
    monkeypatch.setattr(suggestions, "LIMIT_S", 55.0)
    monkeypatch.setattr(table_folds, "MAX_WAIT_S", 60.0)


def test_a_hint_says_what_and_why_and_one_button_does_it(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    table = SeatedTable(http, last_cars=2)
    table.start()
    page = table.open(open_page, 0)
    keep_all(page)
    page.locator(".actions .hint-key:not([disabled])").wait_for()
    keys = page.locator("[aria-keyshortcuts]").evaluate_all(
        "all => all.map(each => each.getAttribute('aria-keyshortcuts'))"
    )
    assert sorted(keys) == sorted(set(keys)), "each key does one thing"
    # when
    page.keyboard.press("g")
    # then
    hint = page.locator("section.hint")
    hint.wait_for()
    assert "the mean of" in hint.locator(".note").first.inner_text()
    meant = hint.locator("b").inner_text()
    suggested = http.get(
        f"/v1/games/{table.game}/suggestions", headers={"Authorization": f"Bearer {table.tokens[0]}"}
    ).json()["commands"]
    assert meant.lower() == suggested[0]["text"].lower()
    # when
    hint.get_by_role("button", name="Do it").focus()
    page.keyboard.press("Enter")
    # then
    hint.wait_for(state="detached")
    state = http.get(
        f"/v1/games/{table.game}/view", headers={"Authorization": f"Bearer {table.tokens[0]}"}
    ).json()
    done = [entry["events"][0]["type"] for entry in state["entries"] if entry["answers"]][-1]
    sent = suggested[0]["command"]["type"]
    made = {"draw_market": "market_card_taken", "draw_blind": "card_drawn", "draw_tickets": "tickets_offered"}
    assert done == made.get(sent, "route_claimed"), sent


def test_a_game_in_parts_has_hints_too(open_page: OpenPage) -> None:
    page = open_page("/")
    make_tricks(page)
    page.locator(".actions .hint-key:not([disabled])").click()
    page.locator("section.hint").wait_for()
    page.locator("section.hint").get_by_role("button", name="Do it").click()
    page.locator("section.hint").wait_for(state="detached")


def test_people_who_play_with_each_other_have_none_unless_their_host_says_so(open_page: OpenPage) -> None:
    ada, _ = two_at_a_table(open_page)
    ada.locator(".offer").wait_for()
    assert not ada.locator(".hint-key").count()
    page = open_page("/")
    page.locator(".own > summary").click()
    page.get_by_role("radio", name="For everybody").check()
    page.get_by_role("button", name="Invite friends").click()
    page.wait_for_selector("main.table svg.board")
    asked = "fetch(`/v1/games/${location.pathname.split('/')[2]}/state`, {headers: {Authorization: `Bearer ${Object.values(JSON.parse(localStorage['ledgerline.games']))[0].token}`}}).then(reply => reply.json())"
    assert page.evaluate(asked)["suggestions"]
