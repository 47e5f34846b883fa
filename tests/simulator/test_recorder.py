"""What the recorder holds against the server once the engine lost its end, and what it doesn't."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import NamedTuple

import pytest

from tests.simulator.complaints import complaints
from tests.simulator.gateways import Errand
from tests.simulator.plan import LOSSY, draw
from tests.simulator.world import World


class Verdict(NamedTuple):
    sequence: int
    entry: None = None  # its head is none of these tests' business


def world() -> World:
    return World(LOSSY, plan=replace(draw(LOSSY), losses="durable"))


def answered(world: World) -> Errand:
    """An errand whose answer has just left: the first entry of some game."""

    async def answer() -> Verdict:
        return Verdict(1)

    errand = Errand(world, lambda: None)
    asyncio.run(errand.run(answer()))
    return errand


@pytest.mark.parametrize(("level", "promised"), [("decided", False), ("durable", True)])
def test_an_answer_that_a_loss_overtook_holds_if_its_level_outlives_that(level: str, promised: bool) -> None:
    here = world()
    errand = answered(here)
    here.recorder.rewind()
    here.recorder.told("game", 0, "id", level, errand)
    assert [why for why in complaints(here) if why.startswith("P1")] == (
        ["P1 game: id was told 1, the log has None"] if promised else []
    )


def test_an_answer_that_left_after_a_loss_holds() -> None:
    here = world()
    here.recorder.rewind()
    here.recorder.told("game", 0, "id", "decided", answered(here))
    assert [why for why in complaints(here) if why.startswith("P1")]


def test_poison_whose_acceptance_a_loss_overtook_may_be_lost() -> None:
    here = world()
    before = answered(here)
    here.recorder.rewind()
    here.recorder.accepted_poison("before", before)
    here.recorder.accepted_poison("after", answered(here))
    assert here.recorder.poison == {"after"}
