"""Golden games of version 4 of the rules: the sealed scenarios recorded again, and what that version changed."""

from __future__ import annotations

from typing import Final

from schemas.player_names import SaltedName
from tests.golden.moments import claims, sends
from tests.golden.own_boards import VALLEY
from tests.golden.scenario import Forked, Scenario

PLAIN: Final = ["red", "blue", "white", "green", "yellow"]
CHANGED: Final[dict[str, Scenario]] = {
    "europe-v4-all-together": Scenario(
        "europe",
        "random greedy",
        "together",
        position={
            "hands": [{"red": 4}, {"blue": 6}],
            "market": PLAIN,
            "deck": ["blue", "blue"],
            "discard": {"red": 20, "locomotive": 6},
            "cars": [6, 6],
            "ticket_decks": {"regular": [], "long": []},
        },
        script=(claims(0, "barcelona-pamplona-a", red=2),),
    ),
    "usa-v4-players-only": Scenario(
        "usa",
        "random greedy",
        "closed",
        options={"cars": 6},
        access={"visibility": "players", "spectator_delay": 7, "by_invitation": True},
    ),
    "usa-v4-committed-names": Scenario(
        "usa",
        "person person greedy",
        "hidden names",
        drawn=True,
        options={"cars": 6},
        before=(
            sends(None, "take_seat", name=None, name_commitment=SaltedName(bytes(32), "Ada").commitment),
            sends(None, "take_seat", name=None, name_commitment=SaltedName(bytes(32), "Ada").commitment),
            sends(None, "take_seat", name="greedy 3"),
            sends(None, "take_seat", name=None, name_commitment=SaltedName(bytes(32), "Bo").commitment),
        ),
    ),
    "usa-v4-players-only-forked": Scenario("usa", "", "again", fork=Forked("usa-v4-players-only", 9)),
    "usa-v4-paid-flushes": Scenario(
        "usa",
        "random greedy",
        "swept",
        position={
            "hands": [{"red": 6}, {"blue": 6}],
            "market": ["locomotive", "locomotive", "red", "blue", "white"],
            "deck": ["locomotive"] * 31 + PLAIN * 2,
            "discard": {},
            "cars": [3, 3],
            "ticket_decks": {"regular": []},
        },
        script=(sends(0, "draw_market", slot=2),),
    ),
    "marklin-v4-few-tickets": Scenario(
        "marklin",
        "random greedy",
        "few",
        position={
            "hands": [{"red": 4}, {"blue": 4}],
            "market": PLAIN,
            "deck": PLAIN * 3,
            "cars": [4, 4],
            "ticket_decks": {
                "short": [],
                "long": [
                    {"between": ["berlin", "mainz"], "points": 12},
                    {"between": ["kiel", "ulm"], "points": 15},
                ],
            },
        },
        script=(
            sends(0, "draw_tickets", decks={"short": 1}),
            sends(0, "draw_tickets", decks={"long": 2}),
        ),
    ),
    "trains-v4-removed-before-choosing": Scenario(
        "trains",
        "greedy random buy-now",
        "next player",
        board=VALLEY,
        options={"cars": 15},
        ages=(30, 20, 10),
        script=(sends(0, "keep_tickets", keep=[0]),),
    ),
}


def version_4(sealed: dict[str, Scenario]) -> dict[str, Scenario]:
    """The scenarios of version 4 by name: those of sealed games again, and those of what it changed."""
    again = {name.replace("-sealed-", "-v4-"): scenario for name, scenario in sealed.items()}
    for name, scenario in again.items():
        if scenario.fork:
            fork = scenario.fork._replace(of=scenario.fork.of.replace("-sealed-", "-v4-"))
            again[name] = scenario._replace(fork=fork)
    return {**again, **CHANGED}
