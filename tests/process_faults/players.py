"""Players over HTTP who play while services are killed, and record what was acknowledged.

A player without a reply sends the command again under the same id, as every client may. Whatever
entry is acknowledged in the end must be in the log afterwards.
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
from schemas.stored.entries import Entry
from services.referee.games import GameState, fold_events, legal
from tests.gateway.clients import bearer, read_events

THREADS: Final = 8  # shared by the players
PATIENCE_S: Final = 120.0  # a fail-over may take a few seconds; this is far longer
BODY: Final = {
    "seats": [{"kind": "human"}, {"kind": "bot", "policy": "random"}, {"kind": "bot", "policy": "greedy"}],
    "ruleset": "usa",
    "options": {"cars": 8},  # some forty entries: a game that a test can see to its end
}


class Acknowledgement(NamedTuple):
    """What a player was acknowledged: this command of this seat is that entry, at that level."""

    game: str
    seat: int
    id: str
    level: str
    number: int  # 0 where the command was only accepted
    aof: int = 0  # the length of the engine's AOF by then, where a test measures it


class FaultClock:
    """Seconds, which don't pass while a fault goes on: how long one takes depends on the machine, not on the games."""

    def __init__(self) -> None:
        self._stopped_s = 0.0
        self._since_s: float | None = None

    def __call__(self) -> float:
        """The time."""
        since_s = self._since_s
        return (time.monotonic() if since_s is None else since_s) - self._stopped_s

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """A fault goes on until the end of the block."""
        self._since_s = began_s = time.monotonic()
        try:
            yield
        finally:
            self._stopped_s += time.monotonic() - began_s
            self._since_s = None


class HttpPlayer:
    """One seat of one game: its projection of its view, and its choice of moves."""

    def __init__(
        self, http: httpx.Client, random: Random, losses: Callable[[], int], clock: FaultClock
    ) -> None:
        self.http, self.random, self.losses, self.clock = http, random, losses, clock
        self.awaits = ""  # a command that was accepted, and isn't decided yet
        self.ids = [secrets.token_hex(12) for _ in range(3)]
        self.sit_down()

    def sit_down(self) -> None:
        """Create a game, join and start it. After a loss, the same ids give the same game again; one that is over by
        then gives no token any more, and a new one is begun."""
        while not self._has_joined():
            assert self.lost != self.losses(), "rejected"
        self.forget()

    def _has_joined(self) -> bool:
        """Whether nothing was lost meanwhile."""
        self.lost = self.losses()
        create, join, start = self.ids
        created = self._post("/v1/games", BODY, create)
        self.game = created.json().get("game", "")
        joined = self._post(self._path("join"), {"name": "Ada"}, join)
        if joined.status_code == 409 and joined.json()["rule"] == "GAME-3":
            self.ids = [secrets.token_hex(12) for _ in range(3)]
            return self._has_joined()
        self.seat, self.token = joined.json().get("seat"), joined.json().get("token")
        return self._post(self._path("start"), {}, start, self.token).is_success

    def look(self) -> None:
        """Fold the new entries; all of them again where the engine lost some that were shown."""
        reply = ask(
            lambda: self.http.get(self._path("view"), params={"after": self.number}, headers=self._headers),
            clock=self.clock,
        )
        if self.lost != self.losses():
            self.sit_down()
            return
        page = reply.json()
        for entry in page["entries"]:
            fold_events(self.state, entry["at"], read_events(entry))
            self.number = entry["number"]
            if entry["answers"] == self.awaits:
                self.awaits = ""

    def forget(self) -> None:
        self.state, self.number = GameState(), 0
        self.awaits = ""

    def act(self, level: str) -> Acknowledgement | None:
        """Send one legal move as of the last look, to be acknowledged at this level. None where there
        is no move, or the command got no entry."""
        moves = legal(self.state, self.seat) if not self.awaits else ()
        if not moves:
            return None
        id_ = secrets.token_hex(8)
        command, asked = (
            write_command(self.random.choice(moves)),
            httpx.QueryParams(level=level, wait_ms=5_000),
        )
        headers = {**self._headers, "Idempotency-Key": id_}
        reply = ask(
            lambda: self.http.post(self._path("commands"), params=asked, json=command, headers=headers),
            lambda reply: reply.status_code == 202 and reply.json()["level"] != level,
            self.clock,
        )
        fields = reply.json()
        if reply.status_code == 202:
            self.awaits = id_
        elif reply.status_code != 200:  # rejected: this player's state is stale
            self.forget()
        if fields.get("level") != level:
            return None
        return Acknowledgement(self.game, self.seat, id_, level, fields.get("number") or 0)

    def _path(self, what: str) -> str:
        return f"/v1/games/{self.game}/{what}"

    @property
    def _headers(self) -> dict[str, str]:
        return bearer(self.token)

    def _post(self, path: str, body: object, id_: str, token: str | None = None) -> httpx.Response:
        headers = {**bearer(token), "Idempotency-Key": id_}
        return ask(lambda: self.http.post(path, json=body, headers=headers), clock=self.clock)


def ask(
    once: Callable[[], httpx.Response],
    unknown: Callable[[httpx.Response], bool] = lambda reply: False,
    clock: Callable[[], float] = time.monotonic,
) -> httpx.Response:
    """The reply to a request that is repeated until there is one, as services are being killed."""
    end = clock() + PATIENCE_S
    while clock() < end:
        try:
            reply = once()
            if reply.status_code != 429 and not reply.is_server_error and not unknown(reply):
                return reply
        except httpx.HTTPError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"no answer within {PATIENCE_S:g} s")


class PlayerPool:
    """Players of so many games at once. One that has finished a game begins another, until the end of
    `playing`, and then plays its last game to the end."""

    def __init__(self, url: str, games_at_once: int, seed: str, levels: Sequence[str]) -> None:
        self.url, self.games_at_once, self.seed, self.levels = url, games_at_once, seed, levels
        self.aof: Callable[[], int] = lambda: 0
        self.transport: Callable[[], httpx.BaseTransport | None] = lambda: None  # httpx's own
        self.one_by_one = False  # whether the last level is asked for one command at a time
        self.losses = 0  # how often the engine came back with less
        self.clock = FaultClock()
        self.games: list[str] = []
        self.acknowledgements: list[Acknowledgement] = []
        self.recording, self._last = Condition(), Event()  # nothing is acknowledged while it is held
        self._broken = False

    @contextmanager
    def playing(self) -> Iterator[None]:
        """Return when the last game has ended. Raises what a player raised."""
        with ThreadPoolExecutor(THREADS) as pool:
            runs = [pool.submit(self._play, thread) for thread in range(THREADS)]
            try:
                yield
            finally:
                self._last.set()
                for run in as_completed(runs):
                    run.result()

    @property
    def games_acknowledged(self) -> set[str]:
        """The games that players began or were acknowledged in. A player whose game was over at a loss begins another
        by itself, and leaves that one if it is lost too."""
        return {*self.games, *(ack.game for ack in self.acknowledgements)}

    def await_acknowledgements(self, more: int) -> None:
        """Return after so many more acknowledgements of any players."""
        with self.recording:
            goal = len(self.acknowledgements) + more
            held = self.recording.wait_for(
                lambda: self._broken or len(self.acknowledgements) >= goal, PATIENCE_S
            )
        assert held and not self._broken, "a player failed" if self._broken else "nothing moves"

    def _play(self, thread: int) -> None:
        try:
            self._serve(thread)
        except BaseException:
            self._broken = True  # the others need not go on
            raise

    def _serve(self, thread: int) -> None:
        random = Random(f"{self.seed} hand {thread}")
        with httpx.Client(base_url=self.url, timeout=10, trust_env=False, transport=self.transport()) as http:
            players = [self._sit_down(http, random) for _ in range(thread, self.games_at_once, THREADS)]
            moved = self.clock()
            while players and not self._broken:
                acted = [self._turn(player) for player in players]
                over = [player for player in players if player.state.result]
                players = [player for player in players if player not in over]
                if not self._last.is_set():
                    players += [self._sit_down(http, random) for _ in over]
                if any(acted) or over:
                    moved = self.clock()
                else:
                    time.sleep(0.03)  # it's the bots' turn everywhere
                    stuck = [player.game for player in players]
                    assert self.clock() < moved + PATIENCE_S, f"{stuck} stand still"

    def _sit_down(self, http: httpx.Client, random: Random) -> HttpPlayer:
        player = HttpPlayer(http, random, lambda: self.losses, self.clock)
        self.games.append(player.game)
        return player

    def _turn(self, player: HttpPlayer) -> bool:
        player.look()
        level = player.random.choice(self.levels)
        with self.recording if self.one_by_one and level == self.levels[-1] else nullcontext():
            ack = player.act(level)
            if ack is None:  # nothing to do, or an accepted command's verdict is still to come
                return False
            with self.recording:
                self.acknowledgements.append(ack._replace(aof=self.aof()))
                self.recording.notify_all()
        return True


def missing(
    acknowledgements: Sequence[Acknowledgement], logs: dict[str, list[Entry]]
) -> list[Acknowledgement]:
    """The acknowledgements that these logs don't bear out."""
    places: dict[tuple[str, int | None, str], list[int]] = {}
    for game, log in logs.items():
        for number, entry in enumerate(log, 1):
            places.setdefault((game, entry.seat, entry.id), []).append(number)

    def is_kept(ack: Acknowledgement) -> bool:
        sequences = places.get((ack.game, ack.seat, ack.id), [])
        return len(sequences) == 1 and ack.number in (0, *sequences)

    return [ack for ack in acknowledgements if not is_kept(ack)]
