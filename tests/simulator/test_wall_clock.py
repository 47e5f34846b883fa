"""P10: a wall clock that jumps by an hour changes nothing but the recorded times."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schemas.events import GameCreated
from schemas.stored.entries import Entry
from tests.long_runs import long_after
from tests.simulator.plan import Plan, draw
from tests.simulator.simulate import quiet
from tests.simulator.world import World

JUMPS = {"wall clock jumps": 1.5}


def logs(plan: Plan) -> dict[str, list[Entry]]:
    """Every game's log, without the time of its creation."""
    with quiet():
        world = World(plan.seed, plan=plan).run()
    assert not world.complaints, world.complaints
    return {
        game: [timeless(entry) for entry in result.entries] for game, result in world.recorder.records.items()
    }


def timeless(entry: Entry) -> Entry:
    events = (replace(e, created=0) if isinstance(e, GameCreated) else e for e in entry.events)
    return replace(entry, events=tuple(events))


@pytest.mark.parametrize("seed", long_after(2, (1, 4, 7, 12, 15)))
def test_P10_logs_are_the_same_with_and_without_jumps_of_the_wall_clock(seed: int) -> None:
    plan = replace(draw(seed), incidents=JUMPS)
    assert logs(plan) == logs(replace(plan, jump_ms=0))
