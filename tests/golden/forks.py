"""Golden games that go on from other golden games."""

from __future__ import annotations

from typing import Final

from tests.golden.scenario import Forked, Scenario

FORKS: Final[dict[str, Scenario]] = {
    "usa-forked-tickets": Scenario("usa", "", "again", fork=Forked("usa-four-mixed", 43)),
    "europe-forked-tunnel": Scenario(
        "europe", "", "again", fork=Forked("europe-switzerland", 35, asker=0, over=False)
    ),
    "marklin-forked-mixes": Scenario("marklin", "", "again", fork=Forked("marklin-two-greedy", 3)),
}
