"""The games that are measured on: whole ones, through the pure core or the real pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from schemas.commands import Command, CreateGame, Letter, Policy, SeatPlan, StartGame, TakeSeat
from schemas.field_types import Seat
from services.bootstrap.composition import make_referee
from services.bots.worker import Bots, Stream
from services.ledger import RedisLedger
from services.ledger.connection import birth, connect
from services.ledger.embedded_engine import engine
from services.referee.rules import Table, fold, judge, legal
from services.runtime.settings import read_settings

NO_SEED = "00" * 32  # for what the seed given with the game decides


@contextmanager
def fresh_engine(**settings: Any) -> Iterator[str]:
    """The URL of a new real engine, AOF everysec, on a folder that goes with it."""
    with TemporaryDirectory() as folder, engine(Path(folder), **settings) as url:
        yield url


@contextmanager
def fresh_ledger(partitions: int = 256, **settings: Any) -> Iterator[RedisLedger]:
    with fresh_engine(**settings) as url:
        client = connect(url)
        yield RedisLedger(client, birth(client, partitions))


def bots(*policies: Policy) -> tuple[SeatPlan, ...]:
    return tuple(SeatPlan("bot", policy) for policy in policies)


def script(game: str, seats: tuple[SeatPlan, ...], seed: str) -> list[Letter]:
    """The letters of a whole game of random moves. The seed decides the deal and the moves, so
    a referee that gets these letters in this order accepts each of them."""
    table, dice, letters = Table(), Random(seed), list[Letter]()

    def say(seat: Seat | None, command: Command) -> None:
        letters.append(Letter(f"c{len(letters)}", game, seat, command))
        judge(table, letters[-1], 0, NO_SEED)

    say(None, CreateGame(seats, seed=seed))
    for number, plan in enumerate(seats):
        if plan.kind == "human":
            say(None, TakeSeat(f"player {number}"))
    say(None, StartGame())
    while not table.over:
        seat = min(table.awaits)
        say(seat, dice.choice(legal(table, seat)))
    return letters


def play(ledger: RedisLedger, plans: Sequence[tuple[SeatPlan, ...]], name: str = "game") -> list[str]:
    """Play these games of bots to their ends, side by side, with the referee and the bots'
    worker of the real thing; the games' ids, which begin with this name."""
    (referee, _), worker = (
        make_referee(ledger, read_settings(leases=False)),
        Bots(ledger, Stream(ledger), "bots"),
    )
    games = [f"{name}-{number}" for number in range(len(plans))]
    for game, seats in zip(games, plans, strict=True):
        ledger.submit(Letter("create", game, None, CreateGame(seats, seed=game)))
        ledger.submit(Letter("start", game, None, StartGame()))
    for idle in count():
        while referee.step(20) + worker.step(20):
            pass
        if all(fold(ledger.history(game)).over for game in games):
            return games
        assert idle < 10, "the games stand still"
    raise AssertionError("unreachable")
