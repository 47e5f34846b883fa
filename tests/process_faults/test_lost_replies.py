"""P2 and P3 where replies are lost: up to ten thousand commands, each sent one to eleven times by
clients that retry by themselves, through proxies that drop replies, to referees behind such proxies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
import redis

from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan, StartGame, TakeSeat
from schemas.trains.commands import KeepTickets
from services.cli.operating.keys import password_file
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, init_partition_count
from tests.deploy.compose import Stage, stage, wait_until
from tests.process_faults.proxy import LossyProxy
from tests.process_faults.seeds import run_seed, sizes
from tests.referee.running_referee import entries, view_problems

SEATS: Final = 4
COMMANDS: Final = 10  # of a game
SENDERS: Final = 4
SENDER_DROP_RATE: Final = 0.01
REFEREE_DROP_RATE: Final = 0.005  # a batch has many replies, and the loss of one may end it
PARTITIONS: Final = 16


def rounds(game: str) -> Sequence[Sequence[CommandEnvelope]]:
    """Ten commands that are all accepted, whatever the order within each round."""

    def envelope(id_: str, seat: int | None, command: Command) -> CommandEnvelope:
        return CommandEnvelope(id_, game, seat, command)

    seats = range(SEATS)
    return (
        [envelope("create", None, CreateGame((SeatPlan(),) * SEATS, seed=game))],
        [envelope(f"seat-{n}", None, TakeSeat(f"player {n}", n)) for n in seats],
        [envelope("start", None, StartGame())],
        [envelope("keep", n, KeepTickets((0, 1, 2))) for n in seats],
    )


def deliveries_plan(games: Iterable[str], random: Random) -> list[list[CommandEnvelope]]:
    """Every command once in its round, and up to ten times more in it or in a later one."""
    plan: list[list[CommandEnvelope]] = [[], [], [], []]
    for game in games:
        for number, envelopes in enumerate(rounds(game)):
            for envelope in envelopes:
                plan[number].append(envelope)
                for _ in range(min(random.randint(0, 10), random.randint(0, 10))):
                    plan[random.randint(number, len(plan) - 1)].append(envelope)
    for envelopes in plan:
        random.shuffle(envelopes)
    return plan


class Setup:
    """An engine, referees and senders, with lossy proxies between them."""

    def __init__(self, at: Stage, seed: str) -> None:
        self.at = at
        at.start_engine()
        wait_until(lambda: is_up(at.engine_url))
        self.client: Any = connect(at.engine_url)  # the only direct connection: it looks from outside
        self.ledger = RedisLedger(self.client, init_partition_count(self.client, PARTITIONS))
        self.senders = LossyProxy(at.engine_port, f"{seed} senders", SENDER_DROP_RATE)
        self.referees = LossyProxy(at.engine_port, f"{seed} referees", REFEREE_DROP_RATE)

    @contextmanager
    def open(self) -> Iterator[ThreadPoolExecutor]:
        with self.senders.open(), self.referees.open(), ThreadPoolExecutor(SENDERS) as pool:
            url = f"redis://referee@127.0.0.1:{self.referees.port}/0"
            for _ in range(2):
                self.at.start("referee", LEDGERLINE_REDIS_URL=url, LEDGERLINE_LOG_LEVEL="info")
            yield pool

    def lengths(self, games: Sequence[str]) -> list[int]:
        """The lengths of the games' logs."""
        pipe = self.client.pipeline(transaction=False)
        for game in games:
            pipe.xlen(keys.log(keys.partition_of(game, PARTITIONS), game))
        return [int(length) for length in pipe.execute()]

    def waiting(self) -> int:
        """How many commands have no result yet, and how many dead letters there are."""
        streams = [
            name(partition) for name in (keys.commands, keys.dead_letters) for partition in range(PARTITIONS)
        ]
        return sum(self.client.xlen(stream) for stream in streams)

    def send(self, pool: ThreadPoolExecutor, envelopes: Sequence[CommandEnvelope]) -> None:
        """Submit all of these, with redis-py as it comes, ten silent retries included."""
        self.ledger.load_scripts()  # as a referee does, on its next look: a gateway may not
        password = password_file(self.at.folder / "secrets", "gateway").read_text()
        runs = [
            pool.submit(send_all, self.senders.port, password, envelopes[n::SENDERS]) for n in range(SENDERS)
        ]
        for run in runs:
            run.result()

    def await_length(self, games: Sequence[str], length: int) -> None:
        """Return when the shortest log is so long."""
        wait_until(lambda: min(self.lengths(games)) >= length)


def send_all(port: int, password: str, envelopes: Sequence[CommandEnvelope]) -> None:
    with redis.Redis(port=port, username="gateway", password=password, socket_timeout=0.5) as stock:
        ledger = RedisLedger(stock, PARTITIONS)
        for envelope in envelopes:
            ledger.submit(envelope)


def is_up(url: str) -> bool:
    try:
        with connect(url) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def test_the_stock_client_retries_by_itself() -> None:
    """Else these tests would prove nothing."""
    retry: Any = redis.Redis().get_retry()
    assert retry._retries == 10


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("games_played",), sizes((30,), (80,), (1_000,)))
def test_P2_P3_commands_whose_replies_are_lost_are_decided_once_each(
    tmp_path: Path, games_played: int
) -> None:
    random = Random(seed := run_seed())
    games = [f"game-{number}" for number in range(games_played)]
    with stage(tmp_path) as at:
        setup, length = Setup(at, seed), 0
        with setup.open() as pool:
            for envelopes, more in zip(deliveries_plan(games, random), rounds("any"), strict=True):
                setup.send(pool, envelopes)
                length += len(more)
                setup.await_length(games, length)
            wait_until(lambda: setup.waiting() == 0)
        assert sum(setup.lengths(games)) == COMMANDS * games_played
        for game in games:
            log = entries(setup.ledger, game)
            wanted = {(envelope.seat, envelope.id) for envelopes in rounds(game) for envelope in envelopes}
            assert len(log) == len(wanted)
            assert {(entry.seat, entry.id) for entry in log} == wanted
        for game in random.sample(games, 20):
            assert view_problems(setup.ledger, game, SEATS) == []
        print(f"{setup.senders.dropped} replies of senders dropped, {setup.referees.dropped} of referees")
        assert setup.senders.dropped > games_played / 10 and setup.referees.dropped > 0
        setup.client.close()
