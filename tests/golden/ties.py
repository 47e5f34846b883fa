"""Games whose first place is level in points, one for each criterion that decides a tie.

Both seats have two cars left and only draw cards, so the game ends after a few turns with
the routes and tickets of its position. Where another criterion would come next, it favours the
other seat, so that the order of the criteria counts.
"""

from __future__ import annotations

from typing import Any, Final

from tests.golden.scenario import Scenario

Ticket = tuple[str, str, int]
DECKS: Final[dict[str, dict[str, list[Any]]]] = {
    "usa": {"regular": []},
    "europe": {"regular": [], "long": []},
    "marklin": {"short": [], "long": []},
    "trains": {"regular": []},
}
PLAIN: Final = ["red", "blue", "white", "green", "red"]


def level(
    rules: str,
    routes: tuple[tuple[str, ...], tuple[str, ...]],
    tickets: tuple[tuple[Ticket, ...], tuple[Ticket, ...]] = ((), ()),
    **laid: Any,
) -> Scenario:
    """A game that is nearly over, with these routes and tickets of the two seats."""
    position = {
        "deck": PLAIN * 2,
        "market": PLAIN if rules != "trains" else [],
        "ticket_decks": DECKS[rules],
        "routes": {name: seat for seat, names in enumerate(routes) for name in names},
        "cars": [2, 2],
        "tickets": [[{"between": [a, b], "points": points} for a, b, points in row] for row in tickets],
        **laid,
    }
    return Scenario(rules, "random random", "level", position=position, always={"type": "draw_blind"})


def in_play_off(
    number: int, wins: tuple[int, int], routes: tuple[tuple[str, ...], tuple[str, ...]]
) -> Scenario:
    """One game of a play-off between the third and the first seat of another game."""
    series = {"of": "europe-of-old", "number": number, "seats": [2, 0], "wins": wins}
    return level("europe", routes)._replace(play_off=series)


DANZIG: Final = ("berlin-danzig-a",)
KYIV: Final = ("bucuresti-kyiv-a",)
JOINED: Final = (*DANZIG, "danzig-riga-a")  # as many points as APART, and a longer route
APART: Final = (*KYIV, "cadiz-madrid-a")

TIES: Final[dict[str, Scenario]] = {
    "usa-tie-tickets": level(
        "usa",
        (("chicago-omaha-a", "denver-omaha-a"), ("dallas-el-paso-a", "charleston-miami-a")),
        ((), (("dallas", "el-paso", 10),)),
    ),
    "usa-tie-longest": level(
        "usa",
        (("chicago-omaha-a", "denver-omaha-a"), ("dallas-el-paso-a", "charleston-miami-a")),
        ((("chicago", "denver", 2),), (("dallas", "el-paso", 12),)),
    ),
    "usa-tie-shared": level("usa", (("dallas-el-paso-a",), ("chicago-omaha-a",))),
    "europe-tie-tickets": level(
        "europe",
        (JOINED, APART),
        ((), (("bucuresti", "kyiv", 18), ("cadiz", "lisboa", 4))),
        stations={"wien": {"seat": 1}},
    ),
    "europe-tie-stations": level(
        "europe",
        (JOINED, APART),
        ((("cadiz", "lisboa", 6),), ()),
        stations={"wien": {"seat": 0}},
    ),
    "europe-tie-longest": level("europe", (JOINED, APART), ((("cadiz", "lisboa", 10),), ())),
    "europe-play-off-goes-on": in_play_off(3, (2, 0), (DANZIG, KYIV)),
    "europe-play-off-last": in_play_off(5, (2, 2), (DANZIG, KYIV)),
    "europe-play-off-late": level("europe", (DANZIG, KYIV))._replace(options={"clock_ms": 1_000}),
    "europe-play-off-left": in_play_off(2, (1, 0), (DANZIG, KYIV))._replace(leave=4),
    "marklin-tie-tickets": level(
        "marklin",
        (("dortmund-kassel-a",), ("berlin-leipzig-a",)),
        ((("dortmund", "kassel", 15),), (("berlin", "leipzig", 4), ("berlin", "leipzig", 6))),
        merchandise=[5, 0],
    ),
    "marklin-tie-merchandise": level(
        "marklin",
        (("dortmund-kassel-a",), ("berlin-leipzig-a",)),
        ((("dortmund", "kassel", 3),), (("berlin", "leipzig", 8),)),
        merchandise=[5, 0],
    ),
}
