"""Random games of every ruleset at the referee's own command processor: people and bots, options, positions, lapses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from schemas.commands import (
    CallTime,
    Command,
    CommandEnvelope,
    CreateGame,
    ForkGame,
    Leave,
    SeatPlan,
    StartGame,
    TakeSeat,
)
from schemas.field_types import Seat
from services.referee.game_cache import CachedGame
from services.referee.rules import RULESETS, GameState, legal
from services.referee.rules.determinization import ViewerKnowledge
from tests.rules.random_commands import command_pool
from tests.rules.random_games import BOARDS_BY_RULESET, HABITS, random_position, seat_counts, small_deck
from tests.secrecy.bare_referee import OPENED, Came, Referee, branched

STEPS_MOST = 600
LAID, FORKED = 4, 3  # of every five games


class Step(NamedTuple):
    """One envelope of a game, the cached game that it met, and what came of it."""

    before: CachedGame
    envelope: CommandEnvelope
    now: int
    came: Came


class Match:
    """One random game. Everything follows from `chance`; every fifth begins with a position, and every fifth
    goes on from where another one stood."""

    def __init__(self, rules: str, chance: int) -> None:
        self.rng = rng = Random(f"{rules} {chance}")
        self.board = rng.choice(BOARDS_BY_RULESET[rules])
        self.seats = rng.choice(seat_counts(self.board)[:4])
        self.habit = HABITS[rng.choice([*HABITS])]
        self.mischief, self.leaving = rng.choice((0, 0.05, 0.2)), rng.choice((0, 0, 0.01))
        self.now, self.number, self.cached_game = OPENED, 0, CachedGame()
        self.opening: list[Step] = []  # until the deal
        origin: Sequence[bytes] = ()
        wish: Command = self._wished(rules, chance)
        if chance % 5 == FORKED:
            self.seats, origin, wish = self._other(rules, chance)
        self.referee = Referee(rng.randbytes(32).hex(), origin)
        self.knowing = {viewer: ViewerKnowledge(viewer) for viewer in (None, *range(self.seats))}
        self._open(wish)

    @property
    def table(self) -> GameState:
        return self.cached_game.state

    def _wished(self, rules: str, chance: int) -> CreateGame:
        rng, figures = self.rng, RULESETS[rules].rule_options
        strict = figures.strict if chance % 3 else not figures.strict
        options: dict[str, Any] = {"strict": strict}
        options["clock_ms"] = rng.choice((None, 20_000, 200_000))
        options["move_ms"] = rng.choice((None, 4_000, 259_200_000))
        options["refusals_kept"] = rng.choice((2, 20))
        if rng.random() < 0.3:
            options["cards"] = small_deck(rules)
        laid = random_position(rng, self.board, self.seats) if chance % 5 == LAID else None
        plans = tuple(self._plan(rules) for _ in range(self.seats))
        return CreateGame(plans, board=self.board, options=options, position=laid)

    def _other(self, rules: str, chance: int) -> tuple[int, Sequence[bytes], ForkGame]:
        """Another game's seats and log, and the command to go on from amid it."""
        past, rng = Match(rules, 5 * chance), self.rng
        steps = [*past.opening, *islice(past.steps(), rng.randrange(5, 60))]
        entries = [step.came.verdict.entry for step in steps if step.came.verdict]
        at = rng.randrange(len(past.opening), len(entries))
        return past.seats, entries, ForkGame("other", at, rng.choice([None, *range(past.seats)]))

    def _open(self, wish: Command) -> None:
        rng = self.rng
        self._begin(wish)
        for seat, place in enumerate(self.table.seats):
            if not place.is_seated:
                given = rng.choice((None, rng.randbytes(32).hex()))
                self._begin(TakeSeat(f"Player {seat}", seat, contribution=given))
        self._begin(StartGame())

    def _begin(self, command: Command) -> None:
        self.opening.append(self.say(None, command))

    def _plan(self, rules: str) -> SeatPlan:
        policy: Any = self.rng.choice([*sorted(RULESETS[rules].bot_policies), None])
        age = self.rng.randrange(20, 60)
        return SeatPlan("bot", policy, age=age) if policy else SeatPlan()

    def say(self, seat: Seat | None, command: Command) -> Step:
        """Somebody says this; everybody sees what comes of it."""
        self.number += 1
        before = branched(self.cached_game)
        envelope = CommandEnvelope(f"c{self.number}", "match", seat, command)
        came = self.referee.decide(self.cached_game, envelope, self.now)
        for known in self.knowing.values():
            for event in came.events:
                known.apply(event)
        return Step(before, envelope, self.now, came)

    def steps(self) -> Iterator[Step]:
        """The game from its deal on, one envelope at a time."""
        for _ in range(STEPS_MOST):
            if self.table.result:
                return
            self.now += self.rng.randrange(60) if self.rng.random() < 0.99 else 15_000
            yield self.say(*self.wish())

    def wish(self) -> tuple[Seat | None, Command]:
        """What somebody asks for next."""
        rng, table = self.rng, self.table
        deadline = table.next_deadline()
        if deadline and OPENED + deadline[0] <= self.now:
            return None, CallTime(deadline[1])
        if rng.random() < self.leaving:
            return rng.randrange(self.seats), Leave()
        if rng.random() < (self.mischief if not table.rule_options.strict else self.mischief / 20):
            return rng.randrange(self.seats), rng.choice(command_pool(rng, table))
        seat = rng.choice(sorted(table.pending_choices))
        return seat, self.choice(legal(table, seat))

    def choice(self, commands: list[Command]) -> Command:
        """One of the kinds that the habit prefers, or of any kind: each kind as often."""
        chosen = [command for command in commands if isinstance(command, self.habit)] or commands
        kind = self.rng.choice(sorted({command.type for command in chosen}))
        return self.rng.choice([command for command in chosen if command.type == kind])
