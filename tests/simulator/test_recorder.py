"""Which answers the recorder still counts as promises after the engine lost its latest writes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import NamedTuple

import pytest

from tests.simulator.complaints import complaints
from tests.simulator.gateways import PendingRequest
from tests.simulator.plan import LOSSY, draw
from tests.simulator.world import World


class Verdict(NamedTuple):
    sequence: int
    entry: None = None  # without a head to check


def lossy_world() -> World:
    return World(LOSSY, plan=replace(draw(LOSSY), losses="durable"))


def answered(world: World) -> PendingRequest:
    """A request whose answer has just left: the first entry of some game."""

    async def answer() -> Verdict:
        return Verdict(1)

    request = PendingRequest(world, lambda: None)
    asyncio.run(request.run(answer()))
    return request


@pytest.mark.parametrize(("level", "promised"), [("decided", False), ("durable", True)])
def test_an_answer_in_flight_during_a_loss_counts_if_its_level_survives_the_loss(
    level: str, promised: bool
) -> None:
    world = lossy_world()
    request = answered(world)
    world.recorder.rewind()
    world.recorder.record_answer("game", 0, "id", level, request)
    assert [why for why in complaints(world) if why.startswith("P1")] == (
        ["P1 game: id was answered as 1, the log has None"] if promised else []
    )


def test_an_answer_that_left_after_a_loss_counts() -> None:
    world = lossy_world()
    world.recorder.rewind()
    world.recorder.record_answer("game", 0, "id", "decided", answered(world))
    assert [why for why in complaints(world) if why.startswith("P1")]


def test_poison_accepted_before_a_loss_may_be_lost() -> None:
    world = lossy_world()
    before = answered(world)
    world.recorder.rewind()
    world.recorder.accepted_poison("before", before)
    world.recorder.accepted_poison("after", answered(world))
    assert world.recorder.poison == {"after"}
