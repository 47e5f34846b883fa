"""Every golden game by its name: whole games on every board, every way to end, ties, rare moments."""

from __future__ import annotations

from typing import Any, Final

from schemas.field_types import COLORS
from tests.golden.forks import FORKS
from tests.golden.moments import MOMENTS, RICH, claims, sends
from tests.golden.own_boards import ISLES, VALLEY
from tests.golden.scenario import Scenario
from tests.golden.sealed import sealed
from tests.golden.ties import TIES
from tests.golden.version_4 import version_4

EMPTY: Final[dict[str, Any]] = {"market": [], "deck": [], "discard": {}}
FEW_CARDS: Final = {**dict.fromkeys(COLORS, 1), "red": 4, "blue": 3, "white": 4, "locomotive": 2}
NO_CLOCK: Final = {"clock_ms": None}
REQUEST: Final = {"type": "request_cards"}
VALLEY_DECK: Final = {"cards": {"red": 10, "blue": 9, "green": 8, "white": 8}}


def hurried(rules: str, clock_ms: int, *script: Any, **more: Any) -> Scenario:
    """A game that starts from a position and in which a clock runs out in the middle of a turn."""
    position = {"hands": [RICH, RICH], "market": ["red", "blue", "white", "green", "red"], **more}
    options = {"clock_ms": clock_ms}
    return Scenario(rules, "greedy random", "hurried", options=options, position=position, script=script)


def urged(rules: str, move_ms: int, *script: Any, **more: Any) -> Scenario:
    """The same, with little time for each move and much for the whole game."""
    scenario = hurried(rules, 60_000, *script, **more)
    return scenario._replace(options={**scenario.options, "move_ms": move_ms})


WHOLE: Final[dict[str, Scenario]] = {
    "usa-two-greedy": Scenario("usa", "greedy greedy", "friday"),
    "usa-four-mixed": Scenario("usa", "greedy greedy random random", "saturday"),
    "usa-five-random": Scenario("usa", "random random random random random", "sunday"),
    "usa-mischief": Scenario("usa", "random greedy random greedy", "pranks", mischief=0.2),
    "usa-strict-mischief": Scenario(
        "usa", "random greedy random greedy", "pranks", options={"strict": True}, mischief=0.012
    ),
    "usa-1910-three": Scenario("usa", "greedy random greedy", "nineteen ten", board="usa-1910"),
    "usa-mega-two": Scenario("usa", "greedy greedy", "mega", board="usa-mega"),
    "usa-own-board": Scenario("usa", "greedy random greedy", "isles", board=ISLES),
    "europe-two-greedy": Scenario("europe", "greedy greedy", "dover", options=NO_CLOCK),
    "europe-five-mixed": Scenario(
        "europe", "greedy random greedy random greedy", "calais", options={"clock_ms": 600_000}
    ),
    "europe-mischief": Scenario(
        "europe", "greedy random greedy random", "ostende", options=NO_CLOCK, mischief=0.15
    ),
    "europe-nordic": Scenario("europe", "greedy greedy random", "bergen", board="nordic"),
    "europe-switzerland": Scenario("europe", "greedy random", "bern", board="switzerland"),
    "marklin-two-greedy": Scenario("marklin", "greedy greedy", "ulm"),
    "marklin-three-mixed": Scenario("marklin", "greedy random greedy", "dortmund"),
    "marklin-five-mixed": Scenario("marklin", "greedy random greedy random greedy", "kiel"),
    "marklin-mischief": Scenario("marklin", "greedy random greedy random", "mainz", mischief=0.2),
    "trains-iberia-eight": Scenario(
        "trains",
        "greedy hold-10 buy-now random greedy hold-10 buy-now random",
        "iberia",
        ages=(30, 44, 8, 90, 30, 61, 12, 71),
    ),
    "trains-two-hold-10": Scenario(
        "trains", "hold-10 hold-10", "ten", board=VALLEY, ages=(7, 9), options={"cars": 15}
    ),
    "trains-strict-mischief": Scenario(
        "trains", "greedy random buy-now", "pranks", board=VALLEY, mischief=0.03
    ),
}

ENDS: Final[dict[str, Scenario]] = {
    "usa-out-of-time": Scenario("usa", "greedy random random", "tuesday", options={"clock_ms": 40_000}),
    "usa-all-gone": Scenario("usa", "greedy random", "wednesday", leave=60),
    "usa-strict-removed": Scenario(
        "usa", "greedy greedy random", "thursday", options={"strict": True}, leave=80
    ),
    "usa-all-passed": Scenario(
        "usa",
        "random random",
        "monday",
        options={
            "cards": FEW_CARDS,
            "hand": 2,
            "cars": 100,
            "start_tickets": {"regular": 2},
            "start_keep": 1,
            "draw_tickets": {"regular": 1},
        },
    ),
    "usa-clock-at-the-start": Scenario("usa", "random random", "late", options={"clock_ms": 1_000}),
    "usa-clock-second-card": hurried(
        "usa", 2_000, sends(0, "draw_blind"), cars=[4, 4], ticket_decks={"regular": []}
    ),
    "usa-clock-tickets": hurried("usa", 2_000, sends(0, "draw_tickets"), sends(0, "keep_tickets", keep=[0])),
    "usa-clock-gone": hurried(
        "usa",
        2_000,
        sends(0, "draw_blind"),
        sends(1, "draw_blind"),
        sends(0, "draw_blind"),
        sends(None, "call_time", seat=0),
        sends(0, "draw_blind"),
    ),
    "usa-left": hurried("usa", 40_000, sends(1, "leave"), sends(1, "draw_blind"), sends(1, "leave"), cars=[4, 4]),
    "usa-ended-by-its-host": Scenario(
        "usa", "random greedy random", "host", before=(sends(None, "end_game"),), script=(sends(None, "end_game"),)
    ),
    "usa-seats-freed": Scenario(
        "usa",
        "person person greedy",
        "chair",
        drawn=True,
        before=(
            sends(None, "take_seat", name="one"),
            sends(None, "take_seat", name="two", contribution="2c" * 32),
            sends(1, "draw_blind"),
            sends(None, "free_seat", seat=1),
            sends(None, "take_seat", name="three"),  # too soon
            sends(1, "draw_blind"),  # leaves no entry
            sends(None, "free_seat", seat=2),
            sends(None, "free_seat", seat=2),
            sends(None, "start_game"),
            sends(1, "draw_blind"),
            sends(1, "draw_blind"),
            sends(None, "take_seat", name="three", contribution="3c" * 32),
            sends(None, "seat_bot", seat=1, policy="random"),
            sends(1, "draw_blind"),
            sends(None, "seat_bot", seat=2, policy="random"),
        ),
        script=(sends(None, "free_seat", seat=1),),
    ),
    "europe-out-of-time": Scenario("europe", "random random", "brest"),
    "europe-clock-tunnel": hurried(
        "europe",
        2_000,
        claims(0, "venezia-zurich-a", green=2),
        deck=["green", "locomotive", "red", "green", "red", "white", "white", "blue"],
    ),
    "europe-all-gone": Scenario("europe", "greedy random greedy", "riga", options=NO_CLOCK, leave=150),
    "europe-strict-removed": Scenario(
        "europe", "greedy random", "wilno", options={"strict": True, "clock_ms": None}, leave=90
    ),
    "europe-all-passed": Scenario(
        "europe",
        "random random",
        "sofia",
        position={**EMPTY, "ticket_decks": {"regular": [], "long": []}, "hands": [{}, {}]},
    ),
    "marklin-out-of-time": Scenario(
        "marklin", "greedy random", "emden", options={"clock_ms": 60_000}
    ),
    "marklin-clock-mix": Scenario("marklin", "greedy random", "erfurt", options={"clock_ms": 1_000}),
    "marklin-all-gone": Scenario("marklin", "greedy random", "lindau", leave=100),
    "marklin-strict-removed": Scenario(
        "marklin", "greedy random greedy", "bremen", options={"strict": True}, leave=120
    ),
    "marklin-all-passed": Scenario(
        "marklin",
        "random random random",
        "rostock",
        position={**EMPTY, "ticket_decks": {"short": [], "long": []}},
    ),
    "trains-no-change": Scenario(
        "trains", "random random", "nobody", board=VALLEY, options=VALLEY_DECK, always=REQUEST
    ),
    "trains-all-gone": Scenario("trains", "greedy random", "away", board=VALLEY, leave=12),
    "trains-left": Scenario(
        "trains", "greedy random", "home", board=VALLEY, options={"strict": False}, leave=30
    ),
    "trains-missed-deadlines": Scenario(
        "trains", "greedy random buy-now", "slow", board=VALLEY, options={"clock_ms": 20_000}
    ),
    "trains-out-of-time": Scenario(
        "trains",
        "greedy random buy-now",
        "slow",
        board=VALLEY,
        options={"strict": False, "clock_ms": 20_000},
    ),
}  # fmt: skip

MOVES: Final[dict[str, Scenario]] = {  # that took too long, and games that every seat abandoned
    "usa-move-at-the-start": Scenario("usa", "random random", "late", options={"move_ms": 1_000}),
    "usa-move-second-card": urged("usa", 2_000, sends(0, "draw_blind"), ticket_decks={"regular": []}),
    "usa-move-tickets": urged("usa", 2_000, sends(0, "draw_tickets")),
    "usa-move-refused": urged("usa", 4_000, sends(0, "pass"), sends(0, "pass"), cars=[4, 4]),
    "usa-move-late": urged("usa", 2_000, sends(0, "draw_blind"), sends(0, "draw_blind"), sends(0, "leave")),
    "usa-move-or-clock": Scenario(
        "usa", "random greedy random", "sand", options={"move_ms": 4_000, "clock_ms": 11_000}
    ),
    "usa-forgotten": Scenario("usa", "greedy random", "dust", absent=40),
    "europe-move-tunnel": urged(
        "europe",
        2_000,
        claims(0, "venezia-zurich-a", green=2),
        deck=["green", "locomotive", "red", "green", "red", "white", "white", "blue"],
    ),
    "europe-forgotten": Scenario("europe", "greedy random random", "fog", board="nordic", absent=60),
    "marklin-move-mix": Scenario("marklin", "greedy random", "erfurt", options={"move_ms": 1_000}),
    "marklin-forgotten": Scenario("marklin", "greedy random greedy", "moss", absent=2),
    "trains-move-missed": Scenario(
        "trains", "greedy random buy-now", "slow", board=VALLEY, options={"move_ms": 1_000}
    ),
    "trains-forgotten": Scenario("trains", "greedy hold-10", "rust", board=VALLEY, absent=9),
    "trains-forgiven": Scenario(
        "trains", "greedy hold-10", "rust", board=VALLEY, options={"strict": False}, absent=9
    ),
}  # fmt: skip

UNSEALED: Final[dict[str, Scenario]] = {**WHOLE, **ENDS, **TIES, **MOMENTS, **MOVES, **FORKS}
SEALED: Final[dict[str, Scenario]] = sealed(UNSEALED)
SCENARIOS: Final[dict[str, Scenario]] = {**UNSEALED, **SEALED, **version_4(SEALED)}
