"""Every golden game by its name: whole games on every board, every way to end, ties, rare moments, other games."""

from __future__ import annotations

from typing import Any, Final

from services.referee.games import RULESETS
from services.referee.games.state import Ruleset
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.golden.forks import FORKS
from tests.golden.moments import MOMENTS, PLAIN, RICH, claims, sends
from tests.golden.own_boards import ISLES, VALLEY
from tests.golden.scenario import Scenario
from tests.golden.ties import TIES

EMPTY: Final[dict[str, Any]] = {"market": [], "deck": [], "discard": {}}
NO_CLOCK: Final = {"clock_ms": None}
CLOCK_ONLY: Final = {"clock_ms": 1_000, "move_ms": None}
REQUEST: Final = {"type": "request_cards"}
VALLEY_DECK: Final = {"cards": {"red": 10, "blue": 9, "green": 8, "white": 8}}


def hurried(rules: str, clock_ms: int, *script: Any, **more: Any) -> Scenario:
    """A game that starts from a position and in which a clock, its only limit, runs out in the middle of a turn."""
    position = {"hands": [RICH, RICH], "market": ["red", "blue", "white", "green", "red"], **more}
    options = {"clock_ms": clock_ms, "move_ms": None}
    return Scenario(rules, "greedy random", "hurried", options=options, position=position, script=script)


def urged(rules: str, move_ms: int, *script: Any, **more: Any) -> Scenario:
    """A game that starts from a position, with little time for each move and much for the whole game."""
    scenario = hurried(rules, 60_000, *script, **more)
    return scenario._replace(options={**scenario.options, "move_ms": move_ms})


WHOLE: Final[dict[str, Scenario]] = {
    "usa-two-greedy": Scenario("usa", "greedy greedy", "friday"),
    "usa-four-mixed": Scenario("usa", "greedy greedy random random", "saturday"),
    "usa-mischief": Scenario("usa", "random greedy random greedy", "pranks", mischief=0.2),
    "usa-1910-three": Scenario("usa", "greedy random greedy", "nineteen ten", board="usa-1910"),
    "usa-mega-two": Scenario("usa", "greedy greedy", "mega", board="usa-mega"),
    "usa-own-board": Scenario("usa", "greedy random greedy", "isles", board=ISLES),
    "europe-mischief": Scenario(
        "europe", "greedy random greedy random", "ostende", options=NO_CLOCK, mischief=0.15
    ),
    "europe-switzerland": Scenario("europe", "greedy random", "bern", board="switzerland"),
    "marklin-two-greedy": Scenario("marklin", "greedy greedy", "ulm"),
    "marklin-mischief": Scenario("marklin", "greedy random greedy random", "mainz", mischief=0.2),
    "trains-iberia-eight": Scenario(
        "trains",
        "greedy hold-10 buy-now random greedy hold-10 buy-now random",
        "iberia",
        ages=(30, 44, 8, 90, 30, 61, 12, 71),
    ),
    "trains-strict-mischief": Scenario(
        "trains", "greedy random buy-now", "pranks", board=VALLEY, mischief=0.03
    ),
}

ENDS: Final[dict[str, Scenario]] = {
    "usa-strict-removed": Scenario(
        "usa", "greedy greedy random", "thursday", options={"strict": True}, leave=80
    ),
    "usa-clock-at-the-start": Scenario("usa", "random random", "late", options=CLOCK_ONLY),
    "usa-clock-second-card": hurried(
        "usa", 2_000, sends(0, "draw_blind"), cars=[4, 4], ticket_decks={"regular": []}
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
    "europe-clock-tunnel": hurried(
        "europe",
        2_000,
        claims(0, "venezia-zurich-a", green=2),
        deck=["green", "locomotive", "red", "green", "red", "white", "white", "blue"],
    ),
    "europe-strict-removed": Scenario(
        "europe", "greedy random", "wilno", options={"strict": True, "clock_ms": None}, leave=90
    ),
    "europe-all-passed": Scenario(
        "europe",
        "random random",
        "sofia",
        position={**EMPTY, "ticket_decks": {"regular": [], "long": []}, "hands": [{}, {}]},
    ),
    "marklin-clock-mix": Scenario("marklin", "greedy random", "erfurt", options=CLOCK_ONLY),
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
    "trains-left": Scenario(
        "trains", "greedy random", "home", board=VALLEY, options={"strict": False}, leave=30
    ),
}  # fmt: skip

MOVES: Final[dict[str, Scenario]] = {  # that took too long, and games that every seat abandoned
    "usa-move-at-the-start": Scenario("usa", "random random", "late", options={"move_ms": 1_000}),
    "usa-move-refused": urged("usa", 4_000, sends(0, "pass"), sends(0, "pass"), cars=[4, 4]),
    "usa-move-late": urged("usa", 2_000, sends(0, "draw_blind"), sends(0, "draw_blind"), sends(0, "leave")),
    "usa-move-or-clock": Scenario(
        "usa", "random greedy random", "sand", options={"move_ms": 4_000, "clock_ms": 11_000}
    ),
    "europe-move-tunnel": urged(
        "europe",
        2_000,
        claims(0, "venezia-zurich-a", green=2),
        deck=["green", "locomotive", "red", "green", "red", "white", "white", "blue"],
    ),
    "europe-forgotten": Scenario("europe", "greedy random random", "fog", board="nordic", absent=60),
    "marklin-move-mix": Scenario("marklin", "greedy random", "erfurt", options={"move_ms": 1_000}),
    "trains-move-missed": Scenario(
        "trains", "greedy random buy-now", "slow", board=VALLEY, options={"move_ms": 1_000}
    ),
    "trains-forgiven": Scenario(
        "trains", "greedy hold-10", "rust", board=VALLEY, options={"strict": False}, absent=9
    ),
}  # fmt: skip

SEATS: Final[dict[str, Scenario]] = {  # who sits there, who watches, and what each contributes
    "usa-contributions": Scenario(
        "usa",
        "person person greedy",
        "chance",
        drawn=True,
        options={"cars": 12},
        before=(
            sends(None, "take_seat", name="Ada", contribution="ada0" * 16),
            sends(None, "take_seat", name="Bob"),
        ),
    ),
    "usa-undone": Scenario(
        "usa",
        "person person greedy",
        "undone",
        options={"cars": 12},
        access={"undo": "consent"},
        before=(sends(None, "take_seat", name="Ada"), sends(None, "take_seat", name="Bob")),
        script=(sends(0, "ask_undo"), sends(1, "answer_undo", agrees=True)),
        undo=0.5,
    ),
    "tricks-undone": Scenario("tricks", "random random random", "undone", access={"undo": "free"}, undo=0.2),
    "usa-names": Scenario(
        "usa",
        "person person greedy",
        "hidden names",
        drawn=True,
        options={"cars": 6},
        before=(
            sends(None, "take_seat", name="Ada"),
            sends(None, "take_seat", name="Ada"),
            sends(None, "take_seat", name="Bo"),
        ),
    ),
    "usa-players-only": Scenario(
        "usa",
        "random greedy",
        "closed",
        options={"cars": 6},
        access={"visibility": "players", "spectator_delay": 7, "by_invitation": True},
    ),
}

DECKS: Final[dict[str, Scenario]] = {  # that have too little, or are shuffled in a way of their own
    "europe-all-together": Scenario(
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
    "marklin-few-tickets": Scenario(
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
    "trains-removed-before-choosing": Scenario(
        "trains",
        "greedy random buy-now",
        "next player",
        board=VALLEY,
        options={"cars": 15},
        ages=(30, 20, 10),
        script=(sends(0, "keep_tickets", keep=[0]),),
    ),
}


def of_any_game(ruleset: Ruleset) -> dict[str, Scenario]:
    """The golden games of a game that brings nothing for them: each number of seats, each way out, wrong commands."""
    name, least, most = ruleset.name, ruleset.rule_options.seats_least, ruleset.rule_options.seats_most
    few = " ".join(["random"] * least)
    contributes = sends(None, "take_seat", name="Ada", contribution="0ada" * 16)
    return {
        **{f"{name}-{n}": Scenario(name, " ".join(["random"] * n), f"{n}") for n in range(least, most + 1)},
        f"{name}-contributed": Scenario(name, f"person{few[6:]}", "Ada", before=(contributes,)),
        f"{name}-left": Scenario(name, few, "left", leave=20),
        f"{name}-late": Scenario(name, few, "late", absent=20),
        f"{name}-mischief": Scenario(name, few, "pranks", mischief=0.5),
        f"{name}-strict-removed": Scenario(name, few, "strict", options={"strict": True}, mischief=0.05),
    }


OTHERS: Final[dict[str, Scenario]] = {
    name: scenario
    for ruleset in RULESETS.values()
    if ruleset.name not in TRAIN_RULESETS
    for name, scenario in of_any_game(ruleset).items()
}
SCENARIOS: Final[dict[str, Scenario]] = {
    **WHOLE,
    **ENDS,
    **TIES,
    **MOMENTS,
    **MOVES,
    **SEATS,
    **DECKS,
    **FORKS,
    **OTHERS,
}
