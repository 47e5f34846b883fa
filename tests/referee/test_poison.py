"""P8: a command that crashes its referees becomes a dead letter, and its game and the others go on."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from schemas.commands import CommandEnvelope
from schemas.trains.commands import KeepTickets
from services.ledger import CommandResult, RedisLedger
from services.referee import command_processor, worker
from services.referee.decision_building import Decision, build_decision
from services.referee.fork_expansion import PendingCommand
from services.referee.worker import Referee
from tests.conftest import ALL
from tests.referee.running_referee import (
    GAME,
    answer_of,
    dead_letter_reasons,
    opening_commands,
    referee_at,
    submit,
)

KEEP = KeepTickets((0, 1))


class Killed(BaseException):
    """The process is gone, amid a decision."""


@pytest.fixture
def poison(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    """Commands whose id begins with `poison` raise what this list holds, for as long as it does."""
    harm: list[BaseException] = []

    def poisoned(command: PendingCommand, *args: Any) -> Decision:
        if command.envelope.id.startswith("poison") and harm:
            raise harm[0]
        return build_decision(command, *args)

    monkeypatch.setattr(command_processor, "build_decision", poisoned)
    return harm


def count_crashes(ledger: RedisLedger) -> int:
    """Referee after referee reclaims what the one before left, until nothing is left; returns how many crash."""
    for deaths in range(100):
        with suppress(Killed):
            while referee_at(ledger, f"heir-{deaths}").reclaim(0):
                pass
            return deaths
    raise AssertionError("something is always pending")


def test_P8_a_command_that_can_not_be_decided_is_a_dead_letter_and_its_game_goes_on(
    ledger: RedisLedger, opened: Referee, client: Any, poison: list[BaseException]
) -> None:
    poison.append(KeyError("a card"))
    submit(ledger, [CommandEnvelope("poison", GAME, 1, KEEP), CommandEnvelope("keep", GAME, 0, KEEP)])
    opened.step(0)
    assert dead_letter_reasons(client) == [b"KeyError: 'a card'"]
    assert answer_of(ledger, 0, "keep") == CommandResult(3)
    result = ledger.read_result(GAME, 1, "poison")
    assert result is not None
    assert (result.sequence, result.rule) == (0, "POISON-1")


def test_P8_a_command_that_kills_its_referees_is_a_dead_letter_after_so_many(
    ledger: RedisLedger, opened: Referee, client: Any, poison: list[BaseException]
) -> None:
    poison.append(Killed())
    submit(ledger, [CommandEnvelope("keep", GAME, 0, KEEP), CommandEnvelope("poison", GAME, 1, KEEP)])
    with pytest.raises(Killed):
        opened.step(0)
    assert count_crashes(ledger) == worker.MAX_DELIVERIES - 1
    assert dead_letter_reasons(client) == [b"it was handed out 9 times and never answered"]
    assert answer_of(ledger, 0, "keep") == CommandResult(3)
    assert ledger.commands.reclaim("anybody", ALL, 0) == []


def test_P8_the_other_commands_of_a_deadly_batch_are_all_decided(
    ledger: RedisLedger, opened: Referee, client: Any, poison: list[BaseException]
) -> None:
    poison.append(Killed())
    more = [envelope for n in range(5) for envelope in opening_commands(f"other-{n}")]
    submit(ledger, [more[0], CommandEnvelope("poison", GAME, 1, KEEP), *more[1:]])
    with pytest.raises(Killed):
        opened.step(0)
    assert count_crashes(ledger) > 0
    assert len(dead_letter_reasons(client)) == 1
    assert [len(ledger.read_entries(f"other-{n}")) for n in range(5)] == [2] * 5


def test_P8_a_dead_letter_is_listed_shown_retried_and_dropped(
    ledger: RedisLedger, opened: Referee, poison: list[BaseException]
) -> None:
    poison.append(KeyError("a card"))
    submit(ledger, [CommandEnvelope("poison", GAME, 1, KEEP), CommandEnvelope("poison-2", GAME, 1, KEEP)])
    opened.step(0)
    store = ledger.dead_letters()
    first, second = store.list_all()
    assert store.find(first.reference) == first
    assert first.envelope == CommandEnvelope("poison", GAME, 1, KEEP)
    assert store.drop(second)
    assert not store.drop(second)
    assert store.list_all() == [first]
    poison.clear()  # the bug is fixed
    assert store.retry(first)
    assert not store.retry(first)
    opened.step(0)
    assert answer_of(ledger, 1, "poison") == CommandResult(3)
    assert store.list_all() == []
    assert store.find(first.reference) is None


def test_P8_a_dead_letter_that_is_retried_has_no_result_until_it_is_decided(
    ledger: RedisLedger, opened: Referee, poison: list[BaseException]
) -> None:
    poison.append(KeyError("a card"))
    submit(ledger, [CommandEnvelope("poison", GAME, 1, KEEP)])
    opened.step(0)
    [first] = ledger.dead_letters().list_all()
    ledger.dead_letters().retry(first)
    assert ledger.read_result(GAME, 1, "poison") is None
