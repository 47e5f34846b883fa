"""A referee that lacks a game which another process has: what an operator reads, and how the game goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from schemas.commands import Command, CommandEnvelope, CreateGame, Leave, SeatPlan, StartGame
from services.ledger import CommandResult, RedisLedger
from tests.cli.command_line import run_in_process
from tests.conftest import Connect, connections_to
from tests.games.added_package import BIDS, added_package
from tests.referee.running_referee import GAME, answer_of, left_in_streams, referee_at, submit

REASON = (
    "version 1 of the rules bids isn't installed here: install the package that has it, and start this program again;"
    " `ledgerline dead retry` then queues the command again"
)


@pytest.fixture(params=["engine"])
def connection(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Makes connections to a real engine, which the operator's commands reach from their own process."""
    yield from connections_to(request)


@pytest.mark.parametrize("readable", [False, True], ids=["a command of the game", "one of every game"])
def test_P8_a_command_of_a_game_that_a_referee_lacks_is_decided_once_it_is_installed_and_the_command_retried(
    ledger: RedisLedger, client: Any, engine_url: str, readable: bool
) -> None:
    # given a game of bids, a command of a seat that waits, and a referee that was started without its package
    with added_package(BIDS, "ledgerline_bids", "BIDS") as package:
        plans = (SeatPlan("bot", "random"),) * 2
        create = CreateGame(plans, "bids", seed="a seed")
        submit(ledger, [CommandEnvelope("create", GAME, None, create)])
        submit(ledger, [CommandEnvelope("start", GAME, None, StartGame())])
        referee_at(ledger).step(0)
        command: Command = Leave() if readable else package.LayBid("3")
        submit(ledger, [CommandEnvelope("c1", GAME, 0, command)])
    # when
    referee_at(ledger, "without").step(0)
    # then the operator reads what to do, the seat that nothing was decided
    (dead,) = ledger.dead_letters().list_all()
    assert dead.reason == REASON
    shown = run_in_process("dead", "show", dead.reference, LEDGERLINE_REDIS_URL=engine_url).stdout
    assert all(part in shown for part in (REASON, GAME, '"seat": 0', '"id": "c1"'))
    listed = run_in_process("dead", "list", LEDGERLINE_REDIS_URL=engine_url).stdout
    assert "bids" in listed and GAME in listed
    answer = ledger.read_result(GAME, 0, "c1")
    assert answer is not None and (answer.sequence, answer.rule) == (0, "POISON-1")
    # when the package is there, and the command is queued again
    assert (
        "is queued again"
        in run_in_process("dead", "retry", dead.reference, LEDGERLINE_REDIS_URL=engine_url).stdout
    )
    assert ledger.read_result(GAME, 0, "c1") is None
    with added_package(BIDS, "ledgerline_bids", "BIDS"):
        referee_at(ledger, "with").step(0)
    # then it has its one verdict
    assert answer_of(ledger, 0, "c1") == CommandResult(3)
    assert ledger.dead_letters().list_all() == []
    assert [name for name in left_in_streams(client) if name.endswith("commands")] == []
