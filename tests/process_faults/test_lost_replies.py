"""P2 and P3 where replies are lost: up to ten thousand commands, each sent one to eleven times by
clients that retry in silence, through lines that eat replies, to referees on such lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
import redis

from schemas.commands import Command, CommandEnvelope, CreateGame, KeepTickets, SeatPlan, StartGame, TakeSeat
from services.ledger import RedisLedger, keys
from services.ledger.connection import connect, init_partition_count
from tests.deploy.compose import Stage, stage, wait_until
from tests.process_faults.proxy import BadLine
from tests.process_faults.seeds import run_seed, sizes
from tests.referee.running_referee import entries, view_problems

SEATS: Final = 4
COMMANDS: Final = 10  # of a game
SENDERS: Final = 4
EATEN_OF_SENDERS: Final = 0.01
EATEN_OF_REFEREES: Final = 2.0  # divided by the games: a batch has many replies, and each may end it
PARTITIONS: Final = 16


def rounds(game: str) -> Sequence[Sequence[CommandEnvelope]]:
    """Ten commands that are all accepted, whatever the order within each round."""

    def letter(id_: str, seat: int | None, command: Command) -> CommandEnvelope:
        return CommandEnvelope(id_, game, seat, command)

    seats = range(SEATS)
    return (
        [letter("create", None, CreateGame((SeatPlan(),) * SEATS, seed=game))],
        [letter(f"seat-{n}", None, TakeSeat(f"guest {n}", n)) for n in seats],
        [letter("start", None, StartGame())],
        [letter("keep", n, KeepTickets((0, 1, 2))) for n in seats],
    )


def sendings(games: Iterable[str], dice: Random) -> list[list[CommandEnvelope]]:
    """Every command once in its round, and up to ten times more in it or in a later one."""
    plan: list[list[CommandEnvelope]] = [[], [], [], []]
    for game in games:
        for number, letters in enumerate(rounds(game)):
            for letter in letters:
                plan[number].append(letter)
                for _ in range(min(dice.randint(0, 10), dice.randint(0, 10))):
                    plan[dice.randint(number, len(plan) - 1)].append(letter)
    for letters in plan:
        dice.shuffle(letters)
    return plan


class House:
    """An engine, referees and senders, with none but bad lines between them."""

    def __init__(self, at: Stage, seed: str, games: int) -> None:
        self.at = at
        at.start_engine()
        wait_until(lambda: is_up(at.engine_url))
        self.client: Any = connect(at.engine_url)  # the only good line: it looks from outside
        self.ledger = RedisLedger(self.client, init_partition_count(self.client, PARTITIONS))
        self.senders = BadLine(at.engine_port, f"{seed} senders", EATEN_OF_SENDERS)
        self.referees = BadLine(at.engine_port, f"{seed} referees", EATEN_OF_REFEREES / games)

    @contextmanager
    def open(self) -> Iterator[ThreadPoolExecutor]:
        with self.senders.open(), self.referees.open(), ThreadPoolExecutor(SENDERS) as pool:
            url = f"redis://127.0.0.1:{self.referees.port}/0"
            for _ in range(2):
                self.at.start("referee", LEDGERLINE_REDIS_URL=url, LEDGERLINE_LOG_LEVEL="info")
            yield pool

    def lengths(self, games: Sequence[str]) -> list[int]:
        """Of the games' logs."""
        pipe = self.client.pipeline(transaction=False)
        for game in games:
            pipe.xlen(keys.log(keys.partition_of(game, PARTITIONS), game))
        return [int(length) for length in pipe.execute()]

    def waiting(self) -> int:
        """Letters that have no answer yet, and letters that were buried."""
        streams = [
            name(partition) for name in (keys.commands, keys.dead_letters) for partition in range(PARTITIONS)
        ]
        return sum(self.client.xlen(stream) for stream in streams)

    def send(self, pool: ThreadPoolExecutor, letters: Sequence[CommandEnvelope]) -> None:
        """Submit all of these, with redis-py as it comes: ten silent retries and all."""
        hands = [pool.submit(send_all, self.senders.port, letters[n::SENDERS]) for n in range(SENDERS)]
        for hand in hands:
            hand.result()

    def await_length(self, games: Sequence[str], length: int) -> None:
        """Return when the shortest log is so long."""
        wait_until(lambda: min(self.lengths(games)) >= length)


def send_all(port: int, letters: Sequence[CommandEnvelope]) -> None:
    with redis.Redis(port=port, socket_timeout=0.5) as stock:
        ledger = RedisLedger(stock, PARTITIONS)
        for letter in letters:
            ledger.submit(letter)


def is_up(url: str) -> bool:
    try:
        with connect(url) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def test_the_stock_client_retries_in_silence() -> None:
    """Else these tests would prove nothing."""
    retry: Any = redis.Redis().get_retry()
    assert retry._retries == 10


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("games_played",), sizes((150,), (1_000,), (1_000,)))
def test_P2_P3_commands_over_lines_that_eat_replies_get_one_verdict_each(
    tmp_path: Path, games_played: int
) -> None:
    dice = Random(seed := run_seed())
    games = [f"game-{number}" for number in range(games_played)]
    with stage(tmp_path) as at:
        house, length = House(at, seed, games_played), 0
        with house.open() as pool:
            for letters, more in zip(sendings(games, dice), rounds("any"), strict=True):
                house.send(pool, letters)
                length += len(more)
                house.await_length(games, length)
            wait_until(lambda: house.waiting() == 0)
        assert sum(house.lengths(games)) == COMMANDS * games_played
        for game in games:
            log = entries(house.ledger, game)
            wanted = {(letter.seat, letter.id) for letters in rounds(game) for letter in letters}
            assert len(log) == len(wanted)
            assert {(entry.seat, entry.id) for entry in log} == wanted
        for game in dice.sample(games, 20):
            assert view_problems(house.ledger, game, SEATS) == []
        print(f"{house.senders.eaten} replies of senders eaten, {house.referees.eaten} of referees")
        assert house.senders.eaten > games_played / 10 and house.referees.eaten > 3
        house.client.close()
