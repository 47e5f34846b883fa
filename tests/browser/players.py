"""People at the pages: they make tables, sit down, and play by what they are shown."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import httpx

from tests.browser.conftest import OpenPage

STEP_MS: Final = 5_000
POSSIBLE: Final = {
    "over": ".result",
    "keep": ".offer button:not([disabled])",
    "act": ".actions .primary:not([disabled], .offer *)",
    "take": ".market button:not([disabled])",
}
SHORT: Final[
    dict[str, tuple[str, dict[str, int]]]
] = {  # a board, and options that end a game with its first claims
    "usa": ("usa", {"cars": 45, "last_cars": 42}),
    "europe": ("europe", {"cars": 45, "last_cars": 42}),
    "marklin": ("germany", {"cars": 45, "last_cars": 42}),
    "trains": ("iberia", {"cars": 35, "last_cars": 32}),
}

DRAWN: Final = ("draw_blind", "request_cards")
LIKED: Final = {
    "build_station": 4,
    "move_passenger": 3,
    "claim_route": 2,
    "keep_tickets": 1,
    "draw_tickets": -1,
}


class SeatedTable:
    """A table that was made over the API, with people who have sat down: the short way to a page."""

    def __init__(
        self,
        http: httpx.Client,
        ruleset: str = "usa",
        people: int = 1,
        bots: int = 1,
        access: Mapping[str, object] = MappingProxyType({"visibility": "public"}),
        **options: int,
    ) -> None:
        board, short = SHORT[ruleset]
        seats = [{"kind": "human"}] * people + [{"kind": "bot", "policy": "greedy"}] * bots
        body = {
            "ruleset": ruleset,
            "board": board,
            "options": short | options,
            "seats": seats,
            **access,
        }
        created = http.post("/v1/games", json=body).raise_for_status().json()
        self.http, self.game, self.host = http, created["game"], created["token"]
        self.tokens = [self.join(name) for name in ("Ada", "Bo", "Cy")[:people]]

    def join(self, name: str) -> str:
        """Take the next free seat; its token."""
        joined = self.http.post(f"/v1/games/{self.game}/join", json={"name": name}).raise_for_status()
        token: str = joined.json()["token"]
        return token

    def renew(self, seat: int) -> None:
        """Withdraw a seat's token, and take the new one."""
        headers = {"Authorization": f"Bearer {self.tokens[seat]}"}
        renewed = self.http.post(f"/v1/games/{self.game}/withdraw-token", headers=headers).raise_for_status()
        self.tokens[seat] = renewed.json()["token"]

    def start(self) -> None:
        """Deal."""
        headers = {"Authorization": f"Bearer {self.host}"}
        self.http.post(f"/v1/games/{self.game}/start", headers=headers).raise_for_status()

    def do_first(self, seat: int, kind: str) -> None:
        """Send the first command of this type that a seat may."""
        path, headers = f"/v1/games/{self.game}", {"Authorization": f"Bearer {self.tokens[seat]}"}
        listed = self.http.get(f"{path}/legal", headers=headers).json()["commands"]
        command = next(each["command"] for each in listed if each["command"]["type"] == kind)
        self.http.post(f"{path}/commands", json=command, headers=headers).raise_for_status()

    def draw_cards(self, rounds: int) -> None:
        """Have all people settle what they are asked for at first, then draw in turn: seat 0 so often, and it is to act."""
        drawn = 0
        while True:
            for seat in range(len(self.tokens)):
                kinds = self.kinds(seat)
                if seat == 0 and drawn >= rounds and "claim_route" in kinds:
                    return
                if kinds:
                    drawn += seat == 0
                    self.do_first(seat, next((kind for kind in DRAWN if kind in kinds), kinds[0]))
            time.sleep(0.02)

    def kinds(self, seat: int) -> list[str]:
        """The types of the commands that a seat may send now."""
        headers = {"Authorization": f"Bearer {self.tokens[seat]}"}
        listed = self.http.get(f"/v1/games/{self.game}/legal", headers=headers).json()["commands"]
        return [each["command"]["type"] for each in listed]

    def play_until(self, number: int = 1_000_000) -> None:
        """Play seat 0 over the API, claiming what it can, until the game is over, or it may claim after this entry."""
        path, headers = f"/v1/games/{self.game}", {"Authorization": f"Bearer {self.tokens[0]}"}
        while (state := self.http.get(f"{path}/state", headers=headers).json())["status"] != "over":
            listed = self.http.get(f"{path}/legal", headers=headers).json()["commands"]
            commands = [each["command"] for each in listed]
            if not commands:
                time.sleep(0.02)
                continue
            if state["number"] >= number and sum(each["type"] == "claim_route" for each in commands) > 1:
                return
            command = max(commands, key=lambda each: LIKED.get(each["type"], 0))
            self.http.post(f"{path}/commands", json=command, headers=headers)

    def known_seat(self, seat: int) -> str:
        """A script that lets a browser know of its seat, as if it had sat down there."""
        known = {self.game: {"seat": seat, "token": self.tokens[seat], "host": self.host}}
        return f"localStorage.setItem('ledgerline.games', JSON.stringify({json.dumps(known)}))"

    def open(self, open_page: OpenPage, seat: int, **more: Any) -> Any:
        """The table's page in the browser of the one who sits there."""
        page = open_page(f"/table/{self.game}", script=self.known_seat(seat), **more)
        page.wait_for_selector("main.table svg.board")
        return page


def wait_for_audit(http: httpx.Client, game: str) -> None:
    """Wait until the game, which is over, is in the archive: until then its audit is answered 503."""
    while http.get(f"/v1/games/{game}/audit").status_code == 503:
        time.sleep(0.1)


def make_table(page: Any, *seats: str) -> None:
    """Make a table in the lobby, and sit down at its first seat. A seat is a bot's policy; "" is for a person."""
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("radio", name="USA 36").check()
    page.locator(".own > summary").click()
    seat_selects = page.locator(".seat-list select")
    while seat_selects.count() < len(seats):
        page.get_by_role("button", name="One seat more").click()
    for place, policy in enumerate(seats):
        seat_selects.nth(place).select_option(policy)
    page.get_by_role("button", name="Make the table").click()
    page.wait_for_selector("main.table svg.board")


def make_tricks(page: Any) -> None:
    """Make a table of three in the lobby, with two bots, and start it."""
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("radio", name="Tricks").check()
    page.locator(".own > summary").click()
    for place, policy in enumerate(("", "random", "random")):
        page.locator(".seat-list select").nth(place).select_option(policy)
    page.get_by_role("button", name="Make the table").click()
    page.get_by_role("button", name="Start the game").click()


def invitation(page: Any) -> str:
    """The link that invites somebody to the first free seat."""
    page.get_by_role("button", name="Copy an invitation").first.click()
    link: str = page.locator(".banner .link").input_value()
    return link


def two_at_a_table(open_page: OpenPage, *bots: str) -> tuple[Any, Any]:
    """Ada, who made a table and started it, and Bo, whom she invited."""
    ada = open_page("/")
    make_table(ada, "", "", *bots)
    bo = open_page(invitation(ada))
    bo.get_by_label("Your name").fill("Bo")
    bo.get_by_role("button", name="Take this seat").click()
    bo.locator(".waiting .you").wait_for()
    ada.get_by_text("Everybody is here").wait_for()
    ada.get_by_role("button", name="Start the game").click()
    return ada, bo


def keep_all(page: Any) -> None:
    """Keep all tickets of the offer, or as many as may be kept: the page has chosen them."""
    page.locator(".offer button").click()
    page.locator(".offer").wait_for(state="detached")


def possible(page: Any) -> str:
    """What is shown as possible: of POSSIBLE, the first; it stays so until somebody here acts."""
    script = "(kinds) => kinds.find(([, selector]) => document.querySelector(selector))?.[0]"
    return (
        page.evaluate(script, list(POSSIBLE.items())) or "wait"
    )  # one look: between two, the page may go on


def act(page: Any, turn: int) -> bool:
    """Do one thing that is shown as possible; False where nothing is."""
    kind = possible(page)
    if kind == "keep":
        keep_all(page)
    elif kind == "take":
        page.locator(POSSIBLE["take"]).first.click(timeout=STEP_MS)
    elif kind == "act":
        choose(page, turn)
    return kind in {"keep", "take", "act"}


def choose(page: Any, turn: int) -> None:
    """Claim or pay where that may be done, else do another thing each turn."""
    actions = page.locator(POSSIBLE["act"])
    names = actions.all_inner_texts()
    claim = next((place for place, name in enumerate(names) if name.startswith(("Claim", "Pay"))), None)
    actions.nth(claim if claim is not None else turn % len(names)).click(timeout=STEP_MS)
    if page.locator("dialog[open]").count():
        folded = page.locator("dialog[open] summary")
        if folded.count():
            folded.last.click(timeout=STEP_MS)
        page.locator("dialog[open] .choice:visible").last.click(timeout=STEP_MS)


def play_to_the_end(*pages: Any, most: int = 600) -> None:
    """Play until a page shows the result."""
    for turn in range(most):
        if pages[0].locator(".result").count():
            return
        acted = [act(page, turn) for page in pages if not page.locator(".result").count()]
        if not any(acted):
            pages[0].wait_for_timeout(60)
    raise AssertionError(f"the game isn't over after {most} rounds")
