"""Guests: people who play in a house while it is being hit, and note what it promised them.

A guest who gets no answer asks again under the same id, as every client may; whatever number
it is told in the end is a promise, to be found in the log afterwards.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from random import Random
from threading import Condition, Event
from typing import Any, Final, NamedTuple

import httpx
import redis

from schemas import keys
from schemas.commands import write_command
from services.ledger.connection import birth, connect
from services.referee.rules import Table, fold_events, legal
from tests.gateway.clients import bearer, read_events

HANDS: Final = 4  # threads that the guests share
PATIENCE_S: Final = 30.0  # a hand-over may take a few seconds; this is for ever
BUSY: Final = (202, 429)  # no verdict yet, or too many at once: ask again; so with every 5xx
BODY: Final = {
    "seats": [{"kind": "human"}, {"kind": "bot", "policy": "random"}, {"kind": "bot", "policy": "greedy"}],
    "ruleset": "usa",
    "options": {"cars": 12},  # some fifty entries: a game that a test can see to its end
}
Confirm = Callable[[str, int, str], bool]  # whether a command's verdict is as safe as the level says


class Promise(NamedTuple):
    """What a guest was told: this command of this seat is that entry, at that level."""

    game: str
    seat: int
    id: str
    level: str
    number: int
    aof: int = 0  # how long the engine's log was by then, where somebody measures it


class Guest:
    """One seat of one game, its own fold of what it is shown, and its choice of moves."""

    def __init__(self, http: httpx.Client, dice: Random, losses: Callable[[], int]) -> None:
        self.http, self.dice, self.losses = http, dice, losses
        self.forget()
        laid = self._answer("/games", BODY, None)
        self.game: str = laid["game"]
        joined = self._answer(f"/games/{self.game}/join", {"name": "Ada"}, None)
        self.seat, self.token = joined["seat"], joined["token"]
        self._answer(f"/games/{self.game}/start", {}, self.token)

    def look(self) -> None:
        """Fold what came since; all of it anew where the house has lost what it showed."""
        reply = ask(
            lambda: self.http.get(self._path("view"), params={"after": self.number}, headers=self._who)
        )
        page = reply.json()
        if page["next"] < self.number or self.lost != self.losses():
            self.forget()
            return
        for entry in page["entries"]:
            fold_events(self.table, entry["at"], read_events(entry))
            self.number = entry["number"]

    def forget(self) -> None:
        self.table, self.number, self.lost = Table(), 0, self.losses()

    def act(self) -> tuple[str, int] | None:
        """Do one thing that the seat may do as of the last look; the command's id and the
        number of its verdict. None where there is nothing to do, or no verdict was kept."""
        moves = legal(self.table, self.seat)
        if not moves:
            return None
        id_ = secrets.token_hex(8)
        command = write_command(self.dice.choice(moves))
        headers = {**self._who, "Idempotency-Key": id_}
        reply = ask(lambda: self.http.post(self._path("commands"), json=command, headers=headers))
        told = reply.json()
        if reply.status_code != 200:  # refused: the game isn't where this guest thinks it is
            self.forget()
            return (id_, told["number"]) if "number" in told else None
        return id_, told["entry"]["number"]

    def _path(self, what: str) -> str:
        return f"/games/{self.game}/{what}"

    @property
    def _who(self) -> dict[str, str]:
        return bearer(self.token)

    def _answer(self, path: str, body: object, token: str | None) -> Any:
        headers = {**bearer(token), "Idempotency-Key": secrets.token_hex(12)}
        reply = ask(lambda: self.http.post(path, json=body, headers=headers))
        assert reply.is_success, reply.text
        return reply.json()


def ask(once: Callable[[], httpx.Response]) -> httpx.Response:
    """The house's answer, asked for until there is one: it is being hit, after all."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            reply = once()
            if reply.status_code not in BUSY and not reply.is_server_error:
                return reply
        except httpx.HTTPError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"no answer within {PATIENCE_S:g} s")


class Crowd:
    """Guests at so many tables at once: who has finished a game begins another, until told to
    stop, and then plays its last to the end."""

    def __init__(
        self, url: str, tables: int, seed: str, level: str, confirm: Confirm, asks: float = 1.0
    ) -> None:
        self.url, self.tables, self.seed = url, tables, seed
        self.level, self.confirm = level, confirm
        self.asks = asks  # of the commands: for so many a promise is asked
        self.aof: Callable[[], int] = lambda: 0
        self.losses = 0  # how often the engine came back with less
        self.games: list[str] = []
        self.promises: list[Promise] = []
        self.noting, self._last = Condition(), Event()  # nobody is promised anything while it is held

    @contextmanager
    def playing(self) -> Iterator[None]:
        """Come back when the last game has ended. What broke a guest is raised."""
        with ThreadPoolExecutor(HANDS) as pool:
            hands = [pool.submit(self._play, hand) for hand in range(HANDS)]
            try:
                yield
            finally:
                self._last.set()
            wait(hands)
            for hand in hands:
                hand.result()

    def await_promises(self, more: int) -> None:
        """Return after so many more acknowledgements, whoever gets them."""
        with self.noting:
            goal = len(self.promises) + more
            assert self.noting.wait_for(lambda: len(self.promises) >= goal, PATIENCE_S), "nothing moves"

    def _play(self, hand: int) -> None:
        dice = Random(f"{self.seed} hand {hand}")
        with httpx.Client(base_url=self.url, timeout=10, trust_env=False) as http:
            guests = [self._sit_down(http, dice) for _ in range(hand, self.tables, HANDS)]
            moved = time.monotonic()
            while guests:
                acted = [self._turn(guest) for guest in guests]
                over = [guest for guest in guests if guest.table.over]
                guests = [guest for guest in guests if guest not in over]
                if not self._last.is_set():
                    guests += [self._sit_down(http, dice) for _ in over]
                if any(acted) or over:
                    moved = time.monotonic()
                else:
                    time.sleep(0.01)  # it's the bots' turn everywhere
                    stuck = [guest.game for guest in guests]
                    assert time.monotonic() < moved + PATIENCE_S, f"{stuck} stand still"

    def _sit_down(self, http: httpx.Client, dice: Random) -> Guest:
        guest = Guest(http, dice, lambda: self.losses)
        self.games.append(guest.game)
        return guest

    def _turn(self, guest: Guest) -> bool:
        guest.look()
        told = guest.act()
        if told is None or guest.dice.random() >= self.asks:
            return told is not None
        with self.noting:
            if self.confirm(guest.game, guest.seat, told[0]):
                promise = Promise(guest.game, guest.seat, told[0], self.level, told[1], self.aof())
                self.promises.append(promise)
                self.noting.notify_all()
        return True


def nothing_more(game: str, seat: int, id_: str) -> bool:
    """`decided`: the verdict that was told is confirmation enough."""
    return True


def durably(url: str) -> Confirm:
    """`durable`: the verdict is there, and the engine has fsynced all that it holds by now."""
    client: Any = connect(url)
    partitions = birth(client)

    def confirm(game: str, seat: int, id_: str) -> bool:
        partition = keys.partition_of(game, partitions)
        pipe = client.pipeline(transaction=False)
        pipe.hget(keys.verdicts(partition, game, seat), id_)
        pipe.set(f"{keys.tag(partition)}:confirmed", 1)
        pipe.execute_command("WAITAOF", 1, 0, 2_000)
        try:
            number, _, (fsynced, _) = pipe.execute()
        except redis.RedisError:
            return False
        return number is not None and fsynced == 1

    return confirm


def missing(promises: Sequence[Promise], logs: dict[str, list[Any]]) -> list[Promise]:
    """The promises that these logs don't keep."""
    return [
        promise
        for promise in promises
        if [n for n, e in enumerate(logs[promise.game], 1) if (e.seat, e.id) == (promise.seat, promise.id)]
        != [promise.number]
    ]
