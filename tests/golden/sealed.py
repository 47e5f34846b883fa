"""Golden games that are sealed (version 3 of the rules): scenarios recorded again, and where chance comes from."""

from __future__ import annotations

from typing import Final

from tests.golden.moments import sends
from tests.golden.scenario import Forked, Scenario

AGAIN: Final = (
    *("usa-turns", "usa-clock-gone", "usa-move-late", "usa-move-refused", "usa-left", "usa-opening"),
    *(
        "usa-all-passed-starved",
        "usa-tie-tickets",
        "usa-tie-longest",
        "usa-move-tickets",
        "usa-strict-removed",
    ),
    *("europe-tunnels-and-stations", "europe-play-off-left", "europe-all-passed", "europe-move-tunnel"),
    *("europe-play-off-late", "europe-tie-tickets", "europe-tie-stations", "europe-tie-longest"),
    *("europe-play-off-goes-on", "europe-play-off-last", "europe-strict-removed", "europe-mischief"),
    *("marklin-journeys", "marklin-forgotten", "marklin-strict-removed", "marklin-all-passed"),
    *("marklin-tie-tickets", "marklin-tie-merchandise", "marklin-all-gone"),
    *("trains-forgotten", "trains-requests", "trains-tie-shared", "trains-forgiven", "trains-left"),
    "trains-no-change",
    "trains-strict-mischief",
)
CLOCKED: Final = (  # games limited by the clock alone: their moves have no limit of their own
    *("usa-clock-at-the-start", "usa-clock-second-card", "usa-clock-tickets", "europe-clock-tunnel"),
    "marklin-clock-mix",
)
DRAWN: Final = Scenario(
    "usa",
    "person person greedy",
    "chance",
    drawn=True,
    options={"cars": 12},
    before=(
        sends(None, "take_seat", name="Ada", contribution="ada0" * 16),
        sends(None, "take_seat", name="Bob"),
    ),
)
FORKED: Final[dict[str, Scenario]] = {
    "usa-sealed-forked-tickets": Scenario(
        "usa",
        "",
        "again",
        before=(sends(None, "take_seat", name="Ada", contribution="0ada" * 16),),
        fork=Forked("usa-sealed-opening", 69),
    ),
    "europe-sealed-forked-hand": Scenario(
        "europe", "", "again", fork=Forked("europe-sealed-mischief", 48, asker=0, over=False)
    ),
    "marklin-sealed-forked-mixes": Scenario(
        "marklin", "", "again", fork=Forked("marklin-sealed-all-gone", 3)
    ),
}


def sealed(known: dict[str, Scenario]) -> dict[str, Scenario]:
    """The scenarios of sealed games by name; those recorded again are taken from the known ones."""
    again = {name: known[name] for name in AGAIN}
    for name in CLOCKED:
        again[name] = known[name]._replace(options={**known[name].options, "move_ms": None})
    named = {name.replace("-", "-sealed-", 1): scenario for name, scenario in again.items()}
    return {**named, "usa-sealed-contributions": DRAWN, **FORKED}
