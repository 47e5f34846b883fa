"""Games that start with what bots rarely do: every refusal, and the rarer moves of each ruleset.

Each starts from a position that makes these moves possible. The scripted commands are sent in
order, refused ones included, and then bots play on to the end.
"""

from __future__ import annotations

from typing import Any, Final

from schemas.field_types import Seat
from tests.golden.own_boards import VALLEY
from tests.golden.scenario import Scenario, ScriptedCommand

PLAIN: Final = ["red", "blue", "white", "green", "yellow"]
RICH: Final = {"red": 6, "blue": 6, "green": 6, "white": 6, "purple": 2, "locomotive": 6}


def sends(sender: Seat | None, kind: str, /, **fields: Any) -> ScriptedCommand:
    return sender, {"type": kind, **fields}


def claims(seat: Seat, route: str, passenger: str | None = None, /, **cards: int) -> ScriptedCommand:
    given = {} if passenger is None else {"passenger": passenger}
    return sends(seat, "claim_route", route=route, cards=cards, **given)


def builds(seat: Seat, city: str, neighbour: str | None = None, /, **cards: int) -> ScriptedCommand:
    return sends(seat, "build_station", city=city, cards=cards, neighbour=neighbour)


USA_SETUP = Scenario(
    "usa",
    "person greedy random",
    "opening",
    options={"cars": 15},
    before=(
        sends(None, "start_game"),
        sends(0, "draw_blind"),
        sends(0, "start_game"),
        sends(None, "take_seat", name="Ada", age=36),
        sends(None, "take_seat", name="Bob"),
    ),
    script=(
        sends(None, "start_game"),
        sends(None, "draw_blind"),
        sends(None, "call_time", seat=1),
        sends(0, "keep_tickets", keep=[0]),
        sends(0, "keep_tickets", keep=[1, 1]),
        sends(0, "claim_route", route="atlanta-nashville-a", cards={"red": 1}),
        sends(0, "keep_tickets", keep=[0, 2]),
        sends(0, "keep_tickets", keep=[0, 1]),
    ),
)

USA_TURNS = Scenario(
    "usa",
    "random greedy",
    "turns",
    position={
        "hands": [{"red": 6, "blue": 3, "yellow": 4, "locomotive": 2}, {"green": 3}],
        "market": ["locomotive", "red", "locomotive", "white", None],
        "deck": ["blue", *["locomotive"] * 40],
        "routes": {"atlanta-new-orleans-a": 0, "portland-seattle-a": 1},
        "cars": [5, 12],
        "ticket_decks": {
            "regular": [{"between": ["denver", "el-paso"], "points": n} for n in (4, 5, 6)],
        },
    },
    script=(
        sends(1, "draw_blind"),
        sends(0, "build_station", city="denver", cards={"red": 1}),
        sends(0, "pass"),
        sends(0, "keep_tickets", keep=[0]),
        sends(0, "draw_tickets", decks={"regular": 2}),
        claims(0, "nowhere-a", red=1),
        claims(0, "portland-seattle-a", red=1),
        claims(0, "portland-seattle-b", red=1),
        claims(0, "atlanta-new-orleans-b", orange=4),
        claims(0, "montreal-toronto-a", red=2),
        claims(0, "montreal-toronto-a", red=2, blue=1),
        claims(0, "montreal-toronto-a", black=3),
        claims(0, "miami-new-orleans-a", red=6),
        sends(0, "draw_market", slot=4),
        sends(0, "draw_market", color="passenger"),
        sends(0, "draw_blind"),
        sends(0, "draw_market", slot=0),
        claims(0, "montreal-toronto-a", red=3),
        sends(0, "draw_market", color="red"),  # a third locomotive comes up, and so on five times
        sends(1, "draw_tickets"),
        sends(1, "keep_tickets", keep=[]),
        sends(1, "keep_tickets", keep=[2]),
    ),
)

USA_STARVED = Scenario(
    "usa",
    "random random",
    "starved",
    position={
        "hands": [{"red": 2}, {}],
        "market": [],
        "deck": [],
        "discard": {},
        "ticket_decks": {"regular": []},
    },
    script=(
        sends(0, "draw_blind"),
        sends(0, "draw_tickets"),
        sends(0, "pass"),
    ),
)

EUROPE = Scenario(
    "europe",
    "greedy random random",
    "tunnels",
    options={"clock_ms": None},
    position={
        "hands": [RICH, RICH, RICH],
        "market": PLAIN,
        "deck": [
            *("red", "red", "red"),
            *("white", "locomotive", "red"),
            *("green", "yellow", "black"),
            *("red", "locomotive", "purple"),
            *PLAIN * 8,
        ],
        "cars": [15, 15, 15],
        "tickets": [
            [{"between": ["angora", "constantinople"], "points": 8}],
            [],
            [{"between": ["amsterdam", "london"], "points": 5}],
        ],
        "stations": {"constantinople": {"seat": 0}, "london": {"seat": 2, "neighbour": "amsterdam"}},
    },
    script=(
        claims(0, "munchen-venezia-a", blue=2),
        claims(1, "angora-constantinople-a", white=2),
        sends(1, "draw_blind"),
        sends(1, "pay_tunnel", cards={"white": 1}),
        sends(1, "pay_tunnel", cards={"white": 1, "locomotive": 1}),
        claims(2, "venezia-zurich-a", green=2),
        sends(2, "decline_tunnel"),
        claims(0, "marseille-zurich-a", locomotive=2),
        sends(0, "pay_tunnel", cards={"locomotive": 1}),
        claims(1, "amsterdam-london-a", white=1, locomotive=1),
        claims(1, "amsterdam-london-a", locomotive=2),
        builds(2, "nowhere", red=2),
        builds(2, "constantinople", red=2),
        builds(2, "wien", red=1),
        builds(2, "wien", "paris", red=2),
        builds(2, "wien", "budapest", red=2),
        builds(0, "berlin", red=1, locomotive=1),
        sends(1, "move_passenger", city="wien", path=["budapest-wien-a"]),
    ),
)

MARKLIN = Scenario(
    "marklin",
    "greedy random greedy random",
    "journeys",
    position={
        "hands": [
            {"green": 3, "blue": 2, "yellow": 5, "locomotive4": 2, "passenger": 1},
            {"red": 3, "locomotive": 1, "passenger": 2},
            {"red": 6, "white": 2, "passenger": 2},
            {"purple": 4, "red": 2},
        ],
        "market": ["passenger", "passenger", "red", "blue", "white"],
        "deck": ["passenger", *PLAIN * 3, "locomotive", "locomotive4", "passenger", *PLAIN * 4],
        "routes": {
            "frankfurt-koln-a": 0,
            "frankfurt-mainz-a": 1,
            "dusseldorf-koln-b": 2,
            "dusseldorf-niederlande-a": 2,
            "dortmund-dusseldorf-a": 1,
            "dortmund-dusseldorf-b": 2,
            "frankreich-freiburg-a": 3,
            "freiburg-schweiz-a": 3,
        },
        "cars": [14, 14, 14, 14],
        "tickets": [
            [],
            [],
            [{"between": ["koln", "niederlande"], "points": 7}],
            [{"between": ["frankreich", "schweiz"], "points": 5}],
        ],
        "passengers": {"koln": 0, "mainz": 1},
    },
    script=(
        claims(0, "bremen-hannover-a", yellow=2, locomotive4=1),
        claims(0, "konstanz-lindau-a", passenger=1),
        claims(0, "danemark-kiel-a", "danemark", blue=2),
        claims(0, "dortmund-kassel-a", "koln", green=3, locomotive4=1),
        claims(0, "dortmund-kassel-a", "kassel", green=3, locomotive4=1),
        sends(1, "move_passenger", city="mainz", path=["frankfurt-mainz-b"]),
        sends(1, "move_passenger", city="koln", path=["frankfurt-koln-a"]),
        sends(1, "move_passenger", city="mainz", path=["frankfurt-mainz-a", "frankfurt-koln-a"]),
        sends(2, "draw_market", slot=2),  # a third passenger card comes up
        sends(2, "draw_blind"),
        claims(3, "dortmund-dusseldorf-c", "dusseldorf", red=1),
        sends(0, "draw_tickets"),
        sends(0, "draw_tickets", decks={"short": 3}),
        sends(0, "draw_tickets", decks={"short": 3, "long": 1}),
        sends(0, "keep_tickets", keep=[0, 3]),
        claims(1, "koblenz-koln-a", "koblenz", red=1),
        claims(2, "hamburg-hannover-b", red=4),
        sends(3, "move_passenger", city="dusseldorf", path=["dortmund-dusseldorf-c"]),
    ),
)

TRAINS = Scenario(
    "trains",
    "hold-10 random buy-now",
    "requests",
    board=VALLEY,
    ages=(20, 70, 50),
    options={"strict": False, "cards": {"red": 14, "blue": 13, "green": 14, "white": 14}, "cars": 12},
    script=(
        sends(0, "keep_tickets", keep=[0, 1]),
        sends(1, "keep_tickets", keep=[0, 1, 2]),
        sends(1, "keep_tickets", keep=[0]),
        sends(1, "keep_tickets", keep=[0, 1]),
        sends(2, "keep_tickets", keep=[3, 4]),
        sends(0, "keep_tickets", keep=[0, 4]),
        sends(1, "draw_tickets"),
        sends(1, "pass"),
        sends(1, "request_cards"),
    ),
)

MOMENTS: Final[dict[str, Scenario]] = {
    "usa-opening": USA_SETUP,
    "usa-turns": USA_TURNS,
    "usa-all-passed-starved": USA_STARVED,
    "europe-tunnels-and-stations": EUROPE,
    "marklin-journeys": MARKLIN,
    "trains-requests": TRAINS,
}
