"""Whole games played by seats of several habits on the core alone: what everybody could see of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final, Literal, TypeAlias

from schemas.commands import (
    CallTime,
    Command,
    CommandEnvelope,
    CreateGame,
    Leave,
    PlayOff,
    SeatPlan,
    StartGame,
    TakeSeat,
)
from schemas.field_types import Seat
from schemas.stored.codec import Proofs, pack_public
from services.bots.policies import POLICIES
from services.bots.seat_random import SeatRandom
from services.referee.games import (
    GameState,
    UnloggedRejectionError,
    decide_envelope,
    legal,
    split_by_visibility,
)
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.rules.given import CREATED_AT_MS
from tests.rules.random_commands import command_pool
from tests.rules.random_games import BOARDS_BY_RULESET, HABITS, seat_counts, small_deck

MAX_STEPS: Final = 3000
Kind: TypeAlias = Literal["usual", "close", "stations"]
BOT_HABITS: Final = ("greedy", "greedy", "greedy", "hold-10", "buy-now")  # where the ruleset has them

# Equal tickets and routes, so that seats are often level.
CLOSE_GAME: Final = {
    "cars": 12,
    "pair_tickets": 1,
    "start_tickets": {"regular": 10},
    "start_keep": 8,
    "route_points": [1] * 9,
    "longest_bonus": 2,
}
# So many tickets that stations often lend a route that makes one.
STATION_GAME: Final = {
    **CLOSE_GAME,
    "cars": 45,
    "station_costs": [1, 2, 3],
    "station_points": 4,
}
OPTIONS_BY_KIND: Final[Mapping[Kind, Mapping[str, Any]]] = {
    "usual": {},
    "close": CLOSE_GAME,
    "stations": STATION_GAME,
}
KINDS_BY_RULESET: Final[Mapping[str, Sequence[Kind]]] = {
    "usa": ("usual", "usual", "usual", "close", "close"),
    "europe": ("usual", "usual", "usual", "close", "stations"),
    "marklin": ("usual",),  # its tickets come from two decks
    "trains": ("usual",),
}
STATION_HABITS: Final = ("builds", "builds", "claims", "greedy")


@dataclass(frozen=True)
class GamePlan:
    """What is played, by whom, and how badly they behave."""

    board: str | None
    habits: Sequence[str]  # of each seat: a bot's policy, or one of random_games.HABITS
    options: dict[str, Any]
    illegal_share: float  # how often a command is anything at all
    leave_share: float
    play_off: PlayOff | None


def plan_game(rules: str, rng: Random, kind: Kind) -> GamePlan:
    """Any board of these rules, any number of seats; one game in three has a deck that runs out soon."""
    # switzerland has countries, and no stations; nordic has none of its own
    board = rng.choice(["europe", "europe", "nordic"] if kind == "stations" else BOARDS_BY_RULESET[rules])
    policies = [name for name in BOT_HABITS if name in TRAIN_RULESETS[rules].bot_policies]
    habits = STATION_HABITS if kind == "stations" else [*HABITS, *policies]
    seats = rng.choice(seat_counts(board))
    options: dict[str, Any] = {
        "strict": rng.random() < 0.4,
        "clock_ms": rng.choice([None, None, None, None, 40_000, 200_000]),
        "move_ms": rng.choice([None, *[259_200_000] * 6, 2_500]),
        **OPTIONS_BY_KIND[kind],
    }
    if rng.random() < 0.33:
        options["cards"] = small_deck(rules)
    if rng.random() < 0.1:
        options["order"] = rng.choice(["age", "youngest"])
    misbehaves = rng.random() < 0.4
    return GamePlan(
        board,
        [rng.choice(habits) for _ in range(seats)],
        options,
        rng.choice([0.002, 0.01, 0.03]) if misbehaves else 0,
        rng.choice([0, 0.003, 0.01]) if misbehaves else 0,
        _plan_play_off(rng, seats, 0.1 if kind == "usual" else 0.6)
        if TRAIN_RULESETS[rules].rule_options.play_off
        else None,
    )


def _plan_play_off(rng: Random, seats: int, share: float) -> PlayOff | None:
    """Now and then the game is one of a play-off, in which nobody has won yet that can't."""
    number = rng.randrange(1, 6)
    wins = [0] * seats
    for _ in range(number - 1):
        if (winner := rng.randrange(seats + 1)) < seats and wins[winner] < 2:
            wins[winner] += 1
    return PlayOff("before", number, tuple(range(seats)), tuple(wins)) if rng.random() < share else None


def play_game(rules: str, seed: object, kind: Kind | None = None) -> list[bytes]:
    """The public entries of a game that is played to its end; the same for the same seed."""
    rng = Random(f"{rules} {seed}")
    kinds: Sequence[Kind] = KINDS_BY_RULESET[rules] if kind is None else (kind,)
    return _Playing(plan_game(rules, rng, rng.choice(kinds)), rng).play()


class _Playing:
    def __init__(self, plan: GamePlan, rng: Random) -> None:
        self.plan, self.rng = plan, rng
        self.state = GameState()
        self.public: list[bytes] = []
        self.now_ms = CREATED_AT_MS
        self.seed = rng.randbytes(32).hex()  # of a game whose creator names none
        self.secrets = [rng.randbytes(32).hex() for _ in plan.habits]  # of the bots

    def play(self) -> list[bytes]:
        rng = self.rng
        seats = tuple(self.seat_plan(seat) for seat in range(len(self.plan.habits)))
        options = dict(self.plan.options)
        create = CreateGame(
            seats,
            board=self.plan.board,
            seed=rng.choice([None, str(rng.random())]),
            options=options,
            play_off=self.plan.play_off,
        )
        self.process(None, create)
        for seat in (seat for seat, plan in enumerate(seats) if plan.kind == "human"):
            contribution = rng.choice([None, rng.randbytes(32).hex()])
            self.process(None, TakeSeat(f"Player {seat}", seat, rng.choice([None, 30, 40]), contribution))
        self.process(None, StartGame())
        for _ in range(MAX_STEPS):
            if self.state.result:
                return self.public
            self.now_ms += rng.randrange(2000)
            self.process(*self.next_command())
        raise AssertionError("the game doesn't end")

    def seat_plan(self, seat: Seat) -> SeatPlan:
        """A person, who takes the seat, or a bot; either may play by any habit."""
        age = self.rng.choice([None, *range(20, 60)])
        return (
            SeatPlan("bot", "random", f"Bot {seat}", age)
            if self.plan.play_off or self.rng.random() < 0.5
            else SeatPlan()
        )

    def next_command(self) -> tuple[Seat | None, Command]:
        """The next command, and its sender (None: the server)."""
        rng, state = self.rng, self.state
        deadline = state.next_deadline()
        if deadline and CREATED_AT_MS + deadline[0] <= self.now_ms:
            return None, CallTime(deadline[1])
        if rng.random() < self.plan.leave_share:
            return rng.randrange(len(state.seats)), Leave()
        if rng.random() < self.plan.illegal_share:
            return rng.randrange(len(state.seats)), rng.choice(command_pool(rng, state))
        seat = rng.choice(sorted(state.pending_choices))
        return seat, self.choice(seat, legal(state, seat))

    def choice(self, seat: Seat, commands: list[Command]) -> Command:
        """What the seat's habit makes it send; habits that prefer nothing take any kind of command."""
        habit, rng = self.plan.habits[seat], self.rng
        if policy := POLICIES.get(habit):
            return policy(self.state, seat, commands, SeatRandom(self.secrets[seat], len(self.public)))
        chosen = [command for command in commands if isinstance(command, HABITS[habit])] or commands
        kind = rng.choice(sorted({command.type for command in chosen}))
        return rng.choice([command for command in chosen if command.type == kind])

    def process(self, seat: Seat | None, command: Command) -> None:
        envelope = CommandEnvelope(f"c{len(self.public)}", "random", seat, command)
        try:
            events = decide_envelope(self.state, envelope, self.now_ms, self.seed)
        except UnloggedRejectionError:
            assert self.public, "the game was created"
            return
        self.public.append(pack_public(self.state.at_ms, split_by_visibility(events), Proofs(b"")))
