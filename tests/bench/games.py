"""The games of the benchmarks: whole ones, through the pure core or the real pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from schemas.commands import Command, CommandEnvelope, CreateGame, Policy, SeatPlan, StartGame, TakeSeat
from schemas.field_types import Seat
from services.bootstrap.composition import build_referee
from services.bots.worker import BotWorker
from services.ledger import RedisLedger
from services.ledger.engine.connection import connect, init_partition_count
from services.ledger.engine.embedded_engine import running_engine
from services.referee.games import GameState, decide_envelope, fold, legal
from services.runtime.settings import read_settings

NO_SEED = "00" * 32  # never used: these games come with a seed


@contextmanager
def fresh_engine(**settings: Any) -> Iterator[str]:
    """The URL of a new real engine, AOF everysec, in a temporary folder."""
    settings = dict[str, Any](appendfsync="everysec", maxmemory=0) | settings
    with TemporaryDirectory() as folder, running_engine(Path(folder), **settings) as url:
        yield url


@contextmanager
def fresh_ledger(partitions: int = 256, **settings: Any) -> Iterator[RedisLedger]:
    with fresh_engine(**settings) as url:
        client = connect(url)
        yield RedisLedger(client, init_partition_count(client, partitions))


def bots(*policies: Policy) -> tuple[SeatPlan, ...]:
    return tuple(SeatPlan("bot", policy) for policy in policies)


def script(game: str, seats: tuple[SeatPlan, ...], seed: str) -> list[CommandEnvelope]:
    """The commands of a whole game of random moves. The seed decides the deal and the moves, so
    a referee that gets these commands in this order accepts each of them."""
    state, rng, envelopes = GameState(), Random(seed), list[CommandEnvelope]()

    def send(seat: Seat | None, command: Command) -> None:
        envelopes.append(CommandEnvelope(f"c{len(envelopes)}", game, seat, command))
        decide_envelope(state, envelopes[-1], 0, NO_SEED)

    send(None, CreateGame(seats, seed=seed))
    for number, plan in enumerate(seats):
        if plan.kind == "human":
            send(None, TakeSeat(f"player {number}"))
    send(None, StartGame())
    while not state.result:
        seat = min(state.pending_choices)
        send(seat, rng.choice(legal(state, seat)))
    return envelopes


def play(
    ledger: RedisLedger,
    plans: Sequence[tuple[SeatPlan, ...]],
    name: str = "game",
    options: Mapping[str, int] | None = None,
) -> list[str]:
    """Play these games of bots to their ends, concurrently, with a real referee and bot worker.
    Returns the games' ids, which begin with `name`."""
    (referee, _), worker = (
        build_referee(ledger, read_settings(), all_partitions=True),
        BotWorker(ledger, ledger, "bots"),
    )
    games = [f"{name}-{number}" for number in range(len(plans))]
    for game, seats in zip(games, plans, strict=True):
        ledger.submit(CommandEnvelope("create", game, None, CreateGame(seats, seed=game, options=options)))
        ledger.submit(CommandEnvelope("start", game, None, StartGame()))
    for idle in count():
        while referee.step(20) + worker.step(20):
            pass
        if all(fold(ledger.read_entries(game)).result for game in games):
            return games
        assert idle < 10, "the games don't go on"
    raise AssertionError("unreachable")
