"""Golden games that go on from other golden games."""

from __future__ import annotations

from typing import Final

from tests.golden.moments import sends
from tests.golden.scenario import Forked, Scenario

FORKS: Final[dict[str, Scenario]] = {
    "usa-forked-tickets": Scenario(
        "usa",
        "",
        "again",
        before=(sends(None, "take_seat", name="Ada", contribution="0ada" * 16),),
        fork=Forked("usa-opening", 47),
    ),
    "usa-players-only-forked": Scenario("usa", "", "again", fork=Forked("usa-players-only", 9)),
    "europe-forked-tunnel": Scenario(
        "europe", "", "again", fork=Forked("europe-switzerland", 21, asker=0, over=False)
    ),
    "marklin-forked-mixes": Scenario("marklin", "", "again", fork=Forked("marklin-two-greedy", 3)),
}
