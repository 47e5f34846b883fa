"""What a seed draws: the games and their players, the services, and the faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from services.bots.policies import SLOW_POLICIES
from services.referee.games import RULESETS
from services.referee.games.trains import board as boards
from services.referee.games.trains.rulesets import TRAIN_RULESETS

BOARDS: Final = boards.board_names()
OTHERS: Final = [rules for rules in RULESETS if rules not in TRAIN_RULESETS]
OTHER_SHARE: Final = 0.2
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
INCIDENTS: Final = ("scripts forgotten", "wall clock jumps", "engine restarts", "engine slow")
LOSSY: Final = 10_000_000  # from this seed on the engine loses writes that disk or replica lack
LEVELS: Final = (("decided",), ("accepted", "decided"), ("decided", "durable", "replicated:1"))
HOUR_MS: Final = 3_600_000
SHORT_CARS: Final = (8, 12, 20)


@dataclass(frozen=True, slots=True)
class GamePlan:
    """One game to be played: its board, or its rules where it has none, options, players and spectators."""

    rules: str | None
    board: str | None
    seats: tuple[str, ...]  # a bot's policy, or 'person'
    options: Mapping[str, Any]
    viewers: int  # besides the players
    mischief: float  # how often a human player sends an illegal command
    leaving: float
    silence: float  # how often a human player to move falls silent for good


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole world, as drawn from its seed."""

    seed: int
    partitions: int
    games: tuple[GamePlan, ...]
    referees: int
    bots: int
    gateways: int
    leases: bool
    faults: Mapping[str, float]
    incidents: Mapping[str, float]  # how many seconds between two such events
    jump_ms: int  # by which the wall clock jumps, either way
    notifications_lost: float
    losses: str  # 'durable' or 'replicated:1': the level that survives what the engine loses
    levels: tuple[str, ...]  # that clients ask for
    waiting: int  # commands that a partition has room for
    rate: float  # commands a second that a gateway lets through
    poison: float  # how often a player's command breaks the referee
    stale: float  # how often, each second, a referee goes on for a while without looking at the membership
    evicts: bool  # whether so much time passes at the end that all games are evicted


def draw(seed: int) -> Plan:
    """The plan of a seed: always the same."""
    rng = Random(f"plan {seed}")
    faults = {} if seed % 8 == 0 else {k: rng.choice(v) for k, v in FAULTS.items() if rng.random() < 0.4}
    incidents = {} if seed % 8 == 0 else {k: rng.uniform(1, 8) for k in INCIDENTS if rng.random() < 0.3}
    losses = rng.choice(("durable", "replicated:1")) if seed >= LOSSY else ""
    if losses:
        incidents["engine restarts" if losses == "durable" else "fail-over"] = rng.uniform(2, 8)
    return Plan(
        seed=seed,
        partitions=rng.choice((1, 2, 4)),
        games=tuple(
            _other_game(seed, number) or game
            for number, game in enumerate([_game(rng) for _ in range(rng.choice((1, 1, 1, 2, 3, 6)))])
        ),
        referees=rng.choice((1, 2, 2, 3)),
        bots=rng.choice((1, 1, 2)),
        gateways=rng.choice((1, 1, 2)),
        leases=rng.random() < 0.7,
        faults=faults,
        incidents=incidents,
        jump_ms=HOUR_MS,
        notifications_lost=rng.choice((0, 0, 0.05)),
        losses=losses,
        levels=("decided", losses) if losses else rng.choice(LEVELS),
        waiting=rng.choice((3, 1_000, 1_000)),
        rate=rng.choice((5.0, 1_000.0, 1_000.0)),
        poison=rng.choice((0, 0, 0, 0.01)),
        stale=rng.choice((0, 0, 0.05)) if faults else 0,
        evicts=rng.random() < 0.3,
    )


def _other_game(seed: int, number: int) -> GamePlan | None:
    """Now and then a game without a board, if any is found, in place of one on a board."""
    rng = Random(f"other game {seed} {number}")
    return game_of(rng.choice(OTHERS), rng) if OTHERS and rng.random() < OTHER_SHARE else None


def game_of(rules: str, rng: Random) -> GamePlan:
    """A game of these rules, which needs no board."""
    rule_options = RULESETS[rules].rule_options
    count = rng.randint(rule_options.seats_least, rule_options.seats_most)
    policies = ("random", "random", *sorted(RULESETS[rules].bot_policies - SLOW_POLICIES.keys()))
    return _with_players(rng, rules, None, count, policies)


def _game(rng: Random) -> GamePlan:
    name = rng.choice(BOARDS)
    board = boards.load_board(name)
    rule_options = TRAIN_RULESETS[board.default_ruleset].rule_options
    most = board.rule_options.get("seats_most", rule_options.seats_most)
    assert isinstance(most, int)
    policies = (
        "random",
        "random",
        *sorted(TRAIN_RULESETS[board.default_ruleset].bot_policies - SLOW_POLICIES.keys()),
    )
    count = min(rng.choice((2, 2, 2, 3, 3, 4, 5, 8)), most)
    return _with_players(rng, None, name, count, policies)


def _with_players(
    rng: Random, rules: str | None, board: str | None, count: int, policies: Sequence[str]
) -> GamePlan:
    """The game with so many seats: who plays it, with which options, and how badly they behave."""
    people = rng.choice((0, 1, 1, 2, count))
    kinds = ["person" if seat < people else rng.choice(policies) for seat in range(count)]
    rng.shuffle(kinds)
    options: dict[str, Any] = {"strict": rng.random() < 0.2}
    if board is not None and rng.random() < 0.6:
        options["cars"] = rng.choice(SHORT_CARS)
    clocked = rng.random() < 0.4
    if clocked:
        limits = {"clock_ms": (1_500, 6_000, 20_000), "move_ms": (1_000, 5_000)}
        for limit in rng.choice((("clock_ms",), ("move_ms",), ("clock_ms", "move_ms"))):
            options[limit] = rng.choice(limits[limit])
    return GamePlan(
        rules=rules,
        board=board,
        seats=tuple(kinds),
        options=options,
        viewers=rng.choice((0, 0, 1, 2)),
        mischief=rng.choice((0, 0, 0.05)),
        leaving=rng.choice((0, 0, 0.005)),
        silence=rng.choice((0, 0.02)) if clocked else 0,
    )
