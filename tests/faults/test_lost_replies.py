"""P2 and P3 where replies are lost: ten thousand commands, each sent one to eleven times by
clients that retry in silence, through lines that eat replies, to referees on such lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
import redis

from schemas import keys
from schemas.commands import Command, CreateGame, KeepTickets, Letter, SeatPlan, StartGame, TakeSeat
from services.ledger import RedisLedger
from services.ledger.connection import birth, connect
from tests.deploy.compose import stage, wait_until
from tests.faults.proxy import BadLine
from tests.faults.seeds import SOAK, new_seed
from tests.referee.at_work import entries

SEATS: Final = 4
GAMES: Final = 1_000
SENDERS: Final = 4
EATS: Final = 0.01
PARTITIONS: Final = 16


def rounds(game: str) -> Sequence[Sequence[Letter]]:
    """Ten commands that are all accepted, whatever the order within each round."""

    def letter(id_: str, seat: int | None, command: Command) -> Letter:
        return Letter(id_, game, seat, command)

    seats = range(SEATS)
    return (
        [letter("create", None, CreateGame((SeatPlan(),) * SEATS, seed=game))],
        [letter(f"seat-{n}", None, TakeSeat(f"guest {n}", n)) for n in seats],
        [letter("start", None, StartGame())],
        [letter("keep", n, KeepTickets((0, 1, 2))) for n in seats],
    )


def sendings(games: Iterable[str], dice: Random) -> list[list[Letter]]:
    """Every command once in its round, and up to ten times more in it or in a later one."""
    plan: list[list[Letter]] = [[], [], [], []]
    for game in games:
        for number, letters in enumerate(rounds(game)):
            for letter in letters:
                plan[number].append(letter)
                for _ in range(dice.randint(0, 10)):
                    plan[dice.randint(number, len(plan) - 1)].append(letter)
    for letters in plan:
        dice.shuffle(letters)
    return plan


def send_all(port: int, letters: Sequence[Letter]) -> None:
    """Submit these with redis-py as it comes: ten silent retries and all."""
    with redis.Redis(port=port, socket_timeout=0.5) as stock:
        assert stock.get_retry()._retries == 10  # type: ignore[union-attr]
        ledger = RedisLedger(stock, PARTITIONS)
        for letter in letters:
            ledger.submit(letter)


def lengths(client: Any, games: Sequence[str]) -> list[int]:
    pipe = client.pipeline(transaction=False)
    for game in games:
        pipe.xlen(keys.log(keys.partition_of(game, PARTITIONS), game))
    return [int(length) for length in pipe.execute()]


def waiting(client: Any) -> int:
    """Letters that have no answer yet, and letters that were buried."""
    streams = [name(partition) for name in (keys.commands, keys.dead) for partition in range(PARTITIONS)]
    return sum(client.xlen(stream) for stream in streams)


def is_up(url: str) -> bool:
    try:
        with connect(url) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


@pytest.mark.timeout(600 if SOAK else 120)
def test_P2_P3_ten_thousand_commands_over_lines_that_eat_replies_get_as_many_verdicts(tmp_path: Path) -> None:
    dice = Random(seed := new_seed())
    games = [f"game-{number}" for number in range(GAMES)]
    with stage(tmp_path) as at:
        at.start_engine()
        line = BadLine(at.engine_port, seed, EATS)
        wait_until(lambda: is_up(at.engine_url))
        with line.open(), ThreadPoolExecutor(SENDERS) as pool:
            url = f"redis://127.0.0.1:{line.port}/0"
            for _ in range(2):
                at.start(
                    "referee", LEDGERLINE_REDIS_URL=url, LEDGERLINE_PARTITIONS=str(PARTITIONS),
                    LEDGERLINE_LOG_LEVEL="info",
                )  # fmt: skip
            client = connect(at.engine_url)
            ledger = RedisLedger(client, birth(client, PARTITIONS))
            expected = 0
            for number, letters in enumerate(sendings(games, dice)):
                list(pool.map(lambda n: send_all(line.port, letters[n::SENDERS]), range(SENDERS)))
                expected += len(rounds("any")[number])
                wait_until(lambda: min(lengths(client, games)) >= expected)
            wait_until(lambda: waiting(client) == 0)
        assert sum(lengths(client, games)) == 10_000
        for game in games:
            wanted = {(letter.seat, letter.id) for letters in rounds(game) for letter in letters}
            log = entries(ledger, game)
            assert len(log) == len(wanted)
            assert {(entry.seat, entry.id) for entry in log} == wanted
        assert line.eaten > 100
        client.close()
