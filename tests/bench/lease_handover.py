"""Hand-over: how long the games of a referee stop when it is killed with -9.

Three referees and a worker for bots as processes of their own, and games of bots that never
pause. One referee is killed at a random moment, and the time counts for each game that it was
the last to append to, until that game's next entry; then another referee joins, and so on."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Final

from schemas.commands import CommandEnvelope, CreateGame, StartGame
from schemas.events import GameEnded
from schemas.stored.codec import unpack_entry
from services.ledger import RedisLedger
from services.ledger.engine.connection import connect, init_partition_count
from tests.bench.figure import Figure, Report, Size
from tests.bench.games import bots, fresh_engine
from tests.bench.latency import cut

P99_S: Final = 5.0
REFEREES: Final = 3
GAMES: Final = 48
LOOK_S: Final = 0.01
SETTLE_S: Final = 0.05  # by then, what the killed one had sent is written
STOPPED_S: Final = 60.0  # a game that takes so long will never go on


class Service:
    """A service process, and what its log records of each move."""

    def __init__(self, name: str, engine: str, folder: Path) -> None:
        given = {key: value for key, value in os.environ.items() if not key.startswith("LEDGERLINE_")}
        levels = {"LEDGERLINE_LOG_LEVEL": "debug", "LEDGERLINE_LOG_FORM": "json"}
        self.log_path = folder / f"{name}-{secrets.token_hex(4)}.log"
        with self.log_path.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "services.cli", name],
                env={**given, **levels, "LEDGERLINE_REDIS_URL": engine},
                stderr=log,
            )
        self.read = 0
        self.moved: dict[str, int] = {}  # the number of its last entry in each game

    def read_log(self) -> dict[str, int]:
        """Its last move in every game."""
        with self.log_path.open() as log:
            log.seek(self.read)
            lines = log.read()
        whole = lines[: lines.rfind("\n") + 1]
        self.read += len(whole.encode())
        for line in whole.splitlines():
            record = json.loads(line)
            if record["event"] == "move":
                self.moved[record["game"]] = record["sequence"]
        return self.moved

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


class Server:
    """Referees that are killed and replaced, and bot games."""

    def __init__(self, engine: str, folder: Path) -> None:
        self.engine, self.folder = engine, folder
        client = connect(engine)
        self.ledger = RedisLedger(client, init_partition_count(client))
        self.bots = Service("bots", engine, folder)
        self.referees = [Service("referee", engine, folder) for _ in range(REFEREES)]
        self.games: list[str] = []
        self.created = 0
        self.read: dict[str, int] = {}  # entries of each game
        self.ended: set[str] = set()

    def top_up(self) -> None:
        """Replace the games that have ended."""
        self.games = [game for game in self.games if not self.over(game)]
        while len(self.games) < GAMES:
            self.games.append(game := f"handover-{self.created}")
            self.created += 1
            seats = bots("random", "random", "random", "random")
            self.ledger.submit(CommandEnvelope("create", game, None, CreateGame(seats, seed=game)))
            while not self.ledger.read_result(game, None, "create"):  # a start that overtakes it is rejected
                sleep(LOOK_S)
            self.ledger.submit(CommandEnvelope("start", game, None, StartGame()))

    def over(self, game: str) -> bool:
        """Whether the game has ended, by the entries since the last call."""
        for data in self.ledger.read_entries(game, self.read.get(game, 0)):
            self.read[game] = self.read.get(game, 0) + 1
            if any(isinstance(event, GameEnded) for event in unpack_entry(data).events):
                self.ended.add(game)
        return game in self.ended

    def await_work(self) -> None:
        """Return when every referee has moved a current game."""
        while not all(service.read_log().keys() & {*self.games} for service in self.referees):
            sleep(10 * LOOK_S)
            self.top_up()

    def kill(self, victim: Service) -> list[float]:
        """Kill a referee, and let another join when its games go on. Returns how many seconds each of
        them stopped."""
        killed = monotonic()
        victim.end()
        self.referees.remove(victim)
        others = [service.read_log() for service in self.referees]
        orphaned = [
            game
            for game, number in victim.read_log().items()
            if game in self.games and all(other.get(game, 0) < number for other in others)
        ]
        sleep(SETTLE_S)
        took = self.await_moves({game: len(self.ledger.read_entries(game)) for game in orphaned}, killed)
        self.referees.append(Service("referee", self.engine, self.folder))
        return took

    def await_moves(self, lengths: dict[str, int], killed: float) -> list[float]:
        """The seconds since the kill until each of these games had a further entry."""
        took: list[float] = []
        while lengths:
            sleep(LOOK_S)
            moved = [game for game, number in lengths.items() if self.ledger.read_entries(game, number)]
            took += [monotonic() - killed] * len(moved)
            ended = [game for game in lengths if monotonic() > killed + 1 and self.over(game)]
            lengths = {game: number for game, number in lengths.items() if game not in (*moved, *ended)}
            assert monotonic() < killed + STOPPED_S, f"{[*lengths]} never go on"
        return took

    def end(self) -> None:
        for service in (self.bots, *self.referees):
            service.end()
        self.ledger.close()


@contextmanager
def server() -> Iterator[Server]:
    with fresh_engine() as engine, TemporaryDirectory() as folder:
        started = Server(engine, Path(folder))
        try:
            yield started
        finally:
            started.end()


def measure(size: Size, report: Report) -> Figure:
    kills, took, longest = size.of(20, 2), list[float](), list[float]()
    rng = Random(0)
    with server() as running:
        for number in range(kills):
            report(f"kill {number + 1} of {kills}")
            running.top_up()
            running.await_work()
            sleep(rng.random())  # at any moment
            running.top_up()
            stopped = running.kill(rng.choice(running.referees))
            took += stopped
            longest += [max(stopped)] if stopped else []
    return figure(took, longest, kills)


def figure(took: Sequence[float], longest: Sequence[float], kills: int) -> Figure:
    p50, _, p99 = cut([*took])
    return Figure(
        "hand-over after kill -9 of a referee, until its games move again, s",
        f"p50 {p50:.2f}, p99 {p99:.2f}, longest {max(took):.2f} ({len(took)} games of {kills} kills,"
        f" {REFEREES} referees, {GAMES} games under way)",
        f"p99 under {P99_S:g}",
        p99 < P99_S,
        {
            "kills": kills,
            "games": len(took),
            "p50_s": p50,
            "p99_s": p99,
            "max_s": max(took),
            "longest_of_each_kill_s": [*longest],
        },
    )
