"""What a seed draws: the games, who sits there, who works for the house, and what goes wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from services.referee.rules import RULESETS
from services.referee.rules import board as boards

BOARDS: Final = boards.board_names()
FAULTS: Final[Mapping[str, tuple[float, ...]]] = {  # how often, for each round trip
    "crash before": (0.001, 0.01),
    "crash after": (0.001, 0.01),
    "request lost": (0.002, 0.02),
    "reply lost": (0.002, 0.02),
    "cut off": (0.002, 0.02),  # only the first commands of a pipeline arrive
    "twice": (0.002, 0.02),
    "held": (0.01, 0.03),  # the others go on meanwhile
    "late": (0.01, 0.1),
}
WEATHER: Final = ("scripts forgotten", "wall clock jumps", "engine restarts", "engine slow")
LOSSY: Final = 10_000_000  # from this seed on the engine loses what wasn't made sure of
LEVELS: Final = (("decided",), ("accepted", "decided"), ("decided", "durable", "replicated:1"))
HOUR_MS: Final = 3_600_000
SHORT_CARS: Final = (8, 12, 20)


@dataclass(frozen=True, slots=True)
class Table:
    """One game to be played: its table, and the people around it."""

    board: str
    seats: tuple[str, ...]  # a bot's policy, or 'person'
    options: Mapping[str, Any]
    viewers: int  # besides the people who sit
    mischief: float  # how often a person sends what is illegal
    leaving: float
    silence: float  # how often a person who is to act falls silent for good


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole world, as its seed has it."""

    seed: int
    partitions: int
    tables: tuple[Table, ...]
    referees: int
    bots: int
    gateways: int
    leases: bool
    faults: Mapping[str, float]
    weather: Mapping[str, float]  # how many seconds between two such events
    jump_ms: int  # by which the wall clock jumps, either way
    bells_lost: float
    losses: str  # 'durable' or 'replicated:1': the level that outlives what the engine loses
    levels: tuple[str, ...]  # that people ask for
    waiting: int  # letters that a partition has room for
    rate: float  # commands a second that a gateway lets through
    poison: float  # how often a person's command breaks the referee
    stale: float  # how often, each second, a referee goes on for a while without looking at the roster
    leaves: bool  # whether so much time passes at the end that all games leave


def draw(seed: int) -> Plan:
    """The plan of a seed: always the same."""
    dice = Random(f"plan {seed}")
    faults = {} if seed % 8 == 0 else {k: dice.choice(v) for k, v in FAULTS.items() if dice.random() < 0.4}
    weather = {} if seed % 8 == 0 else {k: dice.uniform(1, 8) for k in WEATHER if dice.random() < 0.3}
    losses = dice.choice(("durable", "replicated:1")) if seed >= LOSSY else ""
    if losses:
        weather["engine restarts" if losses == "durable" else "fail-over"] = dice.uniform(2, 8)
    return Plan(
        seed=seed,
        partitions=dice.choice((1, 2, 4)),
        tables=tuple(_table(dice) for _ in range(dice.choice((1, 1, 1, 2, 3, 6)))),
        referees=dice.choice((1, 2, 2, 3)),
        bots=dice.choice((1, 1, 2)),
        gateways=dice.choice((1, 1, 2)),
        leases=dice.random() < 0.7,
        faults=faults,
        weather=weather,
        jump_ms=HOUR_MS,
        bells_lost=dice.choice((0, 0, 0.05)),
        losses=losses,
        levels=("decided", losses) if losses else dice.choice(LEVELS),
        waiting=dice.choice((3, 1_000, 1_000)),
        rate=dice.choice((5.0, 1_000.0, 1_000.0)),
        poison=dice.choice((0, 0, 0, 0.01)),
        stale=dice.choice((0, 0, 0.05)) if faults else 0,
        leaves=dice.random() < 0.3,
    )


def _table(dice: Random) -> Table:
    name = dice.choice(BOARDS)
    board = boards.load_board(name)
    figures = RULESETS[board.default_ruleset].rule_options
    most = board.rule_options.get("seats_most", figures.seats_most)
    assert isinstance(most, int)
    policies = ("random", "random", *sorted(RULESETS[board.default_ruleset].bot_policies))
    count = min(dice.choice((2, 2, 2, 3, 3, 4, 5, 8)), most)
    people = dice.choice((0, 1, 1, 2, count))
    kinds = ["person" if seat < people else dice.choice(policies) for seat in range(count)]
    dice.shuffle(kinds)
    options: dict[str, Any] = {"strict": dice.random() < 0.2}
    if dice.random() < 0.6:
        options["cars"] = dice.choice(SHORT_CARS)
    clocked = dice.random() < 0.4
    if clocked:
        limits = {"clock_ms": (1_500, 6_000, 20_000), "move_ms": (1_000, 5_000)}
        for limit in dice.choice((("clock_ms",), ("move_ms",), ("clock_ms", "move_ms"))):
            options[limit] = dice.choice(limits[limit])
    return Table(
        board=name,
        seats=tuple(kinds),
        options=options,
        viewers=dice.choice((0, 0, 1, 2)),
        mischief=dice.choice((0, 0, 0.05)),
        leaving=dice.choice((0, 0, 0.005)),
        silence=dice.choice((0, 0.02)) if clocked else 0,
    )
