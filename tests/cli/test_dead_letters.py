"""P8: `ledgerline dead` lists, shows, retries and drops what broke the referee."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from schemas.commands import CommandEnvelope, DrawBlind
from services.ledger import RedisLedger
from services.ledger.connection import connect, init_partition_count
from tests.conftest import ALL, PARTITIONS
from tests.deploy.compose import ROOT

Dead = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def store(engine_url: str) -> Iterator[RedisLedger]:
    client = connect(engine_url)
    client.flushdb()
    ledger = RedisLedger(client, init_partition_count(client, PARTITIONS))
    yield ledger
    client.flushdb()
    ledger.close()


@pytest.fixture
def dead(engine_url: str, store: RedisLedger) -> Dead:
    """`ledgerline dead` with these words, on the store."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "services.cli", "dead", *words],
            cwd=ROOT, env={"PATH": os.environ["PATH"], "LEDGERLINE_REDIS_URL": engine_url},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    return run


def put_aside(ledger: RedisLedger, id_: str) -> str:
    """A letter that broke the referee; what `dead list` calls it."""
    letter = CommandEnvelope(id_, "game-one", 2, DrawBlind())
    ledger.submit(letter)
    [taken] = ledger.take("one", ALL, 10, 0)
    ledger.move_to_dead_letters(taken, letter, "KeyError: 'purple'")
    return ledger.dead_letters().list_all()[-1].reference


def test_P8_dead_letters_are_listed_and_shown(dead: Dead, store: RedisLedger) -> None:
    assert "No dead letters" in dead("list").stdout
    reference = put_aside(store, "c1")
    listed = dead("list").stdout
    assert reference in listed
    assert "KeyError: 'purple'" in listed
    [told] = json.loads(dead("list", "--json").stdout)["dead"]
    assert json.loads(dead("show", reference).stdout) == told
    assert (told["game"], told["seat"], told["id"]) == ("game-one", 2, "c1")
    assert told["command"] == {"type": "draw_blind"}


def test_P8_a_dead_letter_is_retried_or_dropped(dead: Dead, store: RedisLedger) -> None:
    first, second, third = (put_aside(store, f"c{n}") for n in range(3))
    assert f"{first} is queued again" in dead("retry", first).stdout
    [again] = store.take("one", ALL, 10, 0)
    assert b"c0" in again.data
    assert f"{second} is dropped" in dead("drop", second).stdout
    assert [letter.reference for letter in store.dead_letters().list_all()] == [third]
    dead("drop", "--all")
    assert store.dead_letters().list_all() == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "p00/1-0"), "there is no p00/1-0"),
        (("show", "nonsense"), "is named as `ledgerline dead list` shows it"),
        (("show", "pff/1-0"), "is named as `ledgerline dead list` shows it"),
        (("retry",), "use --all"),
        (("drop", "p00/1-0", "--all"), "use --all"),
    ],
)
def test_P8_a_wrong_word_is_one_clear_line(dead: Dead, words: tuple[str, ...], said: str) -> None:
    done = dead(*words)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith("ledgerline: dead letter")
    assert said in line
