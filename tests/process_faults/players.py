"""Guests: people who play in a house while it is being hit, and note what it promised them.

A guest who gets no answer asks again under the same id, as every client may; whatever number
it is told in the end is a promise, to be found in the log afterwards.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from random import Random
from threading import Condition, Event
from typing import Final, NamedTuple

import httpx

from schemas.commands import write_command
from schemas.entries import Entry
from services.referee.rules import GameState, fold_events, legal
from tests.gateway.clients import bearer, read_events

HANDS: Final = 8  # threads that the guests share
PATIENCE_S: Final = 120.0  # a hand-over may take a few seconds; this is for ever
BODY: Final = {
    "seats": [{"kind": "human"}, {"kind": "bot", "policy": "random"}, {"kind": "bot", "policy": "greedy"}],
    "ruleset": "usa",
    "options": {"cars": 8},  # some forty entries: a game that a test can see to its end
}


class Promise(NamedTuple):
    """What a guest was told: this command of this seat is that entry, at that level."""

    game: str
    seat: int
    id: str
    level: str
    number: int  # 0 where only its coming was acknowledged
    aof: int = 0  # how long the engine's log was by then, where somebody measures it


class Guest:
    """One seat of one game, its own fold of what it is shown, and its choice of moves."""

    def __init__(self, http: httpx.Client, dice: Random, losses: Callable[[], int]) -> None:
        self.http, self.dice, self.losses = http, dice, losses
        self.awaits = ""  # a command that was accepted, and isn't decided yet
        self.ids = [secrets.token_hex(12) for _ in range(3)]
        self.sit_down()

    def sit_down(self) -> None:
        """Have a game, a seat and a start. Said again after a loss, the same ids give the same."""
        while not self._is_let_in():
            assert self.lost != self.losses(), "turned away"
        self.forget()

    def _is_let_in(self) -> bool:
        """Whether nothing was lost meanwhile."""
        self.lost = self.losses()
        create, join, start = self.ids
        laid = self._post("/games", BODY, create)
        self.game = laid.json().get("game", "")
        joined = self._post(self._path("join"), {"name": "Ada"}, join)
        self.seat, self.token = joined.json().get("seat"), joined.json().get("token")
        return self._post(self._path("start"), {}, start, self.token).is_success

    def look(self) -> None:
        """Fold what came since; all of it anew where the house has lost what it showed."""
        reply = ask(
            lambda: self.http.get(self._path("view"), params={"after": self.number}, headers=self._who)
        )
        if self.lost != self.losses():
            self.sit_down()
            return
        page = reply.json()
        for entry in page["entries"]:
            fold_events(self.table, entry["at"], read_events(entry))
            self.number = entry["number"]
            if entry["answers"] == self.awaits:
                self.awaits = ""

    def forget(self) -> None:
        self.table, self.number = GameState(), 0
        self.awaits = ""

    def act(self, level: str) -> Promise | None:
        """Do one thing that the seat may do as of the last look, and be promised so much. None
        where there is nothing to do, or the answer has no place in the log."""
        moves = legal(self.table, self.seat) if not self.awaits else ()
        if not moves:
            return None
        id_ = secrets.token_hex(8)
        command, asked = write_command(self.dice.choice(moves)), httpx.QueryParams(level=level, wait_ms=5_000)
        headers = {**self._who, "Idempotency-Key": id_}
        reply = ask(
            lambda: self.http.post(self._path("commands"), params=asked, json=command, headers=headers),
            lambda reply: reply.status_code == 202 and reply.json()["level"] != level,
        )
        told = reply.json()
        if reply.status_code == 202:
            self.awaits = id_
        elif reply.status_code != 200:  # refused: the game isn't where this guest thinks it is
            self.forget()
        if told.get("level") != level:
            return None
        return Promise(self.game, self.seat, id_, level, told.get("number") or 0)

    def _path(self, what: str) -> str:
        return f"/games/{self.game}/{what}"

    @property
    def _who(self) -> dict[str, str]:
        return bearer(self.token)

    def _post(self, path: str, body: object, id_: str, token: str | None = None) -> httpx.Response:
        headers = {**bearer(token), "Idempotency-Key": id_}
        return ask(lambda: self.http.post(path, json=body, headers=headers))


def ask(
    once: Callable[[], httpx.Response], unknown: Callable[[httpx.Response], bool] = lambda reply: False
) -> httpx.Response:
    """The house's answer, asked for until there is one: it is being hit, after all."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            reply = once()
            if reply.status_code != 429 and not reply.is_server_error and not unknown(reply):
                return reply
        except httpx.HTTPError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"no answer within {PATIENCE_S:g} s")


class Crowd:
    """Guests at so many tables at once: who has finished a game begins another, until told to
    stop, and then plays its last to the end."""

    def __init__(self, url: str, tables: int, seed: str, levels: Sequence[str]) -> None:
        self.url, self.tables, self.seed, self.levels = url, tables, seed, levels
        self.aof: Callable[[], int] = lambda: 0
        self.one_by_one = False  # whether one promise at a time is asked for at the last level
        self.losses = 0  # how often the engine came back with less
        self.games: list[str] = []
        self.promises: list[Promise] = []
        self.noting, self._last = Condition(), Event()  # nobody is promised anything while it is held
        self._broken = False

    @contextmanager
    def playing(self) -> Iterator[None]:
        """Come back when the last game has ended. What broke a guest is raised."""
        with ThreadPoolExecutor(HANDS) as pool:
            hands = [pool.submit(self._play, hand) for hand in range(HANDS)]
            try:
                yield
            finally:
                self._last.set()
                for hand in as_completed(hands):
                    hand.result()

    def await_promises(self, more: int) -> None:
        """Return after so many more acknowledgements, whoever gets them."""
        with self.noting:
            goal = len(self.promises) + more
            held = self.noting.wait_for(lambda: self._broken or len(self.promises) >= goal, PATIENCE_S)
        assert held and not self._broken, "a guest broke" if self._broken else "nothing moves"

    def _play(self, hand: int) -> None:
        try:
            self._serve(hand)
        except BaseException:
            self._broken = True  # the others need not go on
            raise

    def _serve(self, hand: int) -> None:
        dice = Random(f"{self.seed} hand {hand}")
        with httpx.Client(base_url=self.url, timeout=10, trust_env=False) as http:
            guests = [self._sit_down(http, dice) for _ in range(hand, self.tables, HANDS)]
            moved = time.monotonic()
            while guests and not self._broken:
                acted = [self._turn(guest) for guest in guests]
                over = [guest for guest in guests if guest.table.result]
                guests = [guest for guest in guests if guest not in over]
                if not self._last.is_set():
                    guests += [self._sit_down(http, dice) for _ in over]
                if any(acted) or over:
                    moved = time.monotonic()
                else:
                    time.sleep(0.03)  # it's the bots' turn everywhere
                    stuck = [guest.game for guest in guests]
                    assert time.monotonic() < moved + PATIENCE_S, f"{stuck} stand still"

    def _sit_down(self, http: httpx.Client, dice: Random) -> Guest:
        guest = Guest(http, dice, lambda: self.losses)
        self.games.append(guest.game)
        return guest

    def _turn(self, guest: Guest) -> bool:
        guest.look()
        level = guest.dice.choice(self.levels)
        with self.noting if self.one_by_one and level == self.levels[-1] else nullcontext():
            promise = guest.act(level)
            if promise is None:
                return bool(guest.awaits)
            with self.noting:
                self.promises.append(promise._replace(aof=self.aof()))
                self.noting.notify_all()
        return True


def missing(promises: Sequence[Promise], logs: dict[str, list[Entry]]) -> list[Promise]:
    """The promises that these logs don't keep."""
    places: dict[tuple[str, int | None, str], list[int]] = {}
    for game, log in logs.items():
        for number, entry in enumerate(log, 1):
            places.setdefault((game, entry.seat, entry.id), []).append(number)

    def kept(promise: Promise) -> bool:
        found = places.get((promise.game, promise.seat, promise.id), [])
        return len(found) == 1 and promise.number in (0, *found)

    return [promise for promise in promises if not kept(promise)]
