"""The switch "Tell me on this device": this browser is named to the server, shows what it is sent, and is named no more."""

from __future__ import annotations

import json
from typing import Any, Final

import httpx
import pytest

from tests.auditor.webhook_receiver import Browser
from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable

pytestmark = pytest.mark.long

SWITCH: Final = "Tell me on this device when it is my turn"
ENDPOINT: Final = "https://push.example.org/send/1"
SUBSCRIPTION: Final = json.dumps({"endpoint": ENDPOINT, "expirationTime": None, "keys": Browser().keys})
SUBSCRIBING: Final = f"""
PushManager.prototype.subscribe = async (options) => {{
  window.subscribedWith = [options.userVisibleOnly, options.applicationServerKey.length];
  return {{ toJSON: () => ({SUBSCRIPTION}) }};
}};
0
"""
SHOWN: Final = """async () => {
  const registration = await navigator.serviceWorker.ready;
  for (let frames = 0; frames < 60; frames++) {
    const [shown] = await registration.getNotifications();
    if (shown) return [shown.title, shown.tag, shown.data];
    await new Promise(requestAnimationFrame);
  }
  return null;
}"""


@pytest.fixture(scope="module")
def chromium(notifying_chromium: Any) -> Any:
    return notifying_chromium


def playing(http: httpx.Client) -> SeatedTable:
    table = SeatedTable(http, people=2, bots=0, last_cars=2)
    table.start()
    return table


def devices(table: SeatedTable) -> Any:
    """How many devices of Bo are told: removing one that isn't there changes nothing."""
    return table.http.delete(
        f"/v1/games/{table.game}/push?endpoint=none", headers={"Authorization": f"Bearer {table.tokens[1]}"}
    ).json()["devices"]


def test_a_device_is_told_by_consent_and_shows_what_it_is_sent(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = playing(http)
    page = table.open(open_page, 1, permissions=["notifications"])
    page.evaluate(SUBSCRIBING)
    switch = page.get_by_role("button", name=SWITCH)
    # when
    switch.click()
    page.locator(f"[aria-label='{SWITCH}'][aria-pressed=true]").wait_for()
    # then
    assert (page.evaluate("subscribedWith"), devices(table)) == ([True, 65], 1)
    # and what is sent is shown while no page of the table is open
    session = page.context.new_cdp_session(page)
    registrations: list[str] = []
    session.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: registrations.extend(each["registrationId"] for each in event["registrations"]),
    )
    session.send("ServiceWorker.enable")
    page.goto("/")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    origin = page.evaluate("location.origin")
    sent = json.dumps({"type": "your_turn", "game": table.game, "seat": 1, "number": 9})
    message = {"origin": origin, "registrationId": registrations[-1], "data": sent}
    shown = None
    while shown is None:  # nothing is shown while the table that was left still counts as open
        session.send("ServiceWorker.deliverPushMessage", message)
        shown = page.evaluate(SHOWN)
    assert shown == ["It is your turn", table.game, f"/table/{table.game}"]
    # and it is told no more once it is switched off
    page.go_back()
    switch.click()
    page.locator(f"[aria-label='{SWITCH}'][aria-pressed=false]").wait_for()
    assert devices(table) == 0


def test_a_browser_that_can_not_be_told_says_why_or_shows_no_switch(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = playing(http)
    script = table.known_seat(1) + "\ndelete window.PushManager;"
    without = open_page(f"/table/{table.game}", script=script)
    page = table.open(open_page, 1, permissions=["notifications"])
    page.evaluate("PushManager.prototype.subscribe = async () => { throw new Error('no service') }; 0")
    # when
    page.get_by_role("button", name=SWITCH).click()
    # then
    page.get_by_text("This browser reaches no push service now.").first.wait_for()
    assert devices(table) == 0
    without.get_by_role("button", name="Message me elsewhere").wait_for()
    assert without.get_by_role("button", name=SWITCH).count() == 0
