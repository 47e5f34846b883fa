"""P8: `ledgerline dead` lists, shows, retries and drops the commands that broke the referee."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from schemas.commands import CommandEnvelope
from schemas.trains.commands import DrawBlind
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, init_partition_count
from tests.cli.command_line import CommandResult, run_in_process
from tests.conftest import ALL, PARTITIONS

RunDead = Callable[..., CommandResult]


@pytest.fixture
def ledger(engine_url: str) -> Iterator[RedisLedger]:
    client = connect(engine_url)
    client.flushdb()
    ledger = RedisLedger(client, init_partition_count(client, PARTITIONS))
    yield ledger
    client.flushdb()
    ledger.close()


@pytest.fixture
def dead(engine_url: str, ledger: RedisLedger) -> RunDead:
    """`ledgerline dead` with these words, on the ledger."""

    def run(*words: str) -> CommandResult:
        return run_in_process("dead", *words, LEDGERLINE_REDIS_URL=engine_url)

    return run


def add_dead_letter(ledger: RedisLedger, command_id: str) -> str:
    """Put aside a command that broke the referee; its reference."""
    envelope = CommandEnvelope(command_id, "game-one", 2, DrawBlind())
    ledger.submit(envelope)
    [delivered] = ledger.commands.take("one", ALL, 10, 0)
    ledger.move_to_dead_letters(delivered, envelope, "KeyError: 'purple'")
    return ledger.dead_letters().list_all()[-1].reference


def test_P8_dead_letters_are_listed_and_shown(dead: RunDead, ledger: RedisLedger) -> None:
    assert "No dead letters" in dead("list").stdout
    reference = add_dead_letter(ledger, "c1")
    listed = dead("list").stdout
    assert reference in listed
    assert "KeyError: 'purple'" in listed
    [fields] = json.loads(dead("list", "--json").stdout)["dead"]
    assert json.loads(dead("show", reference).stdout) == fields
    assert (fields["game"], fields["seat"], fields["id"]) == ("game-one", 2, "c1")
    assert fields["command"] == {"type": "draw_blind"}


def test_P8_a_dead_letter_is_retried_or_dropped(dead: RunDead, ledger: RedisLedger) -> None:
    first, second, third = (add_dead_letter(ledger, f"c{n}") for n in range(3))
    assert f"{first} is queued again" in dead("retry", first).stdout
    [delivered] = ledger.commands.take("one", ALL, 10, 0)
    assert b"c0" in delivered.data
    assert f"{second} is dropped" in dead("drop", second).stdout
    assert [dead_letter.reference for dead_letter in ledger.dead_letters().list_all()] == [third]
    dead("drop", "--all")
    assert ledger.dead_letters().list_all() == []


def test_P8_dead_letters_are_listed_page_by_page(dead: RunDead, ledger: RedisLedger, engine_url: str) -> None:
    with connect(engine_url) as client:
        for partition, id_ in ((1, "7-0"), (2, "7-0"), (2, "7-1"), (3, "7-0"), (0, "8-0"), (1, "8-0")):
            client.xadd(keys.dead_letters(partition), {"reason": "broke"}, id_)
    store, pages = ledger.dead_letters(), list[list[str]]()
    while page := store.list_all(2, pages[-1][-1] if pages else ""):
        pages.append([letter.reference for letter in page])
        store.drop(page[-1])  # the next page follows it all the same
    assert pages == [["p01/7-0", "p02/7-0"], ["p02/7-1", "p03/7-0"], ["p00/8-0", "p01/8-0"]]
    listed = dead("list", "--most", "1").stdout
    assert "`ledgerline dead list --after p01/7-0` shows those that follow." in listed
    assert "p00/8-0" in dead("list", "--after", "p02/7-1").stdout
    assert "No dead letters follow it." in dead("list", "--after", "p01/8-0").stdout


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("list", "--after", "nonsense"), "is named as `ledgerline dead list` shows it"),
        (("show", "p00/1-0"), "there is no p00/1-0"),
        (("show", "nonsense"), "is named as `ledgerline dead list` shows it"),
        (("show", "pff/1-0"), "is named as `ledgerline dead list` shows it"),
        (("retry",), "use --all"),
        (("drop", "p00/1-0", "--all"), "use --all"),
    ],
)
def test_P8_bad_input_is_one_clear_line(dead: RunDead, words: tuple[str, ...], why: str) -> None:
    result = dead(*words)
    assert result.returncode == 2
    [line] = result.stderr.splitlines()
    assert line.startswith("ledgerline: dead letter")
    assert why in line
