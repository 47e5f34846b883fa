"""The simulator's engine is to be believed: it answers as a real one does, command for command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from services.ledger.engine import engine
from tests.simulator.any_command import AnyCommand
from tests.simulator.twins import Twins


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The engine that comes with us, whichever the other tests are given: older ones answer
    some commands otherwise, and let time pass in a transaction."""
    with engine(tmp_path_factory.mktemp("honest")) as url:
        yield url


@pytest.fixture
def twins(url: str) -> Iterator[Twins]:
    twins = Twins(url)
    yield twins
    twins.close()


@pytest.mark.parametrize("seed", range(6))
def test_any_row_of_commands_is_answered_as_a_real_engine_answers_it(twins: Twins, seed: int) -> None:
    any_command = AnyCommand(Random(seed))
    for _ in range(2500):
        call = any_command()
        [reply] = twins.told(call)
        if call[0] == "XADD" and isinstance(reply, bytes):
            any_command.ids.append(reply.decode())
    twins.same_contents()
