"""Random games of every ruleset on the referee's own command processor: human players and bots, options, positions, missed deadlines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from random import Random
from typing import Any, Final, NamedTuple

from schemas.commands import (
    AnswerUndo,
    AskUndo,
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
from schemas.game_options import UndoPolicy
from schemas.stored.codec import join_entry
from services.bots.policies import SLOW_POLICIES
from services.referee.game_cache import CachedGame
from services.referee.games import RULESETS, GameState, legal
from services.referee.games.trains.determinization import ViewerKnowledge
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.rules.random_commands import command_pool
from tests.rules.random_games import BOARDS_BY_RULESET, HABITS, random_position, seat_counts, small_deck
from tests.secrecy.any_game import Knowledge as AnyKnowledge
from tests.secrecy.bare_referee import OPENED_MS, Outcome, Referee, branched
from tests.secrecy.twins import Knowledge

MAX_STEPS = 600
UNDO: Final[Sequence[UndoPolicy]] = ("free", "never", "consent", "never")
UNDOING = 0.3  # of the moves that can be taken back, and of the answers
POSITIONED, FORKED = 4, 3  # which of every five games begin with a position, or are forks


class Step(NamedTuple):
    """One envelope of a game, the cached game before it, and its outcome."""

    before: CachedGame
    envelope: CommandEnvelope
    now: int
    outcome: Outcome


class Match:
    """One random game. Everything follows from `chance`; every fifth game begins with a position, and every fifth
    is a fork of another one."""

    def __init__(self, rules: str, chance: int) -> None:
        self.rng = rng = Random(f"{rules} {chance}")
        self.board = rng.choice(BOARDS_BY_RULESET[rules])
        self.seats = rng.choice(seat_counts(self.board, rules)[:4])
        self.habit = HABITS[rng.choice([*HABITS])]
        self.mischief, self.leaving = rng.choice((0, 0.05, 0.2)), rng.choice((0, 0, 0.01))
        self.now, self.number, self.cached_game = OPENED_MS, 0, CachedGame()
        self.opening: list[Step] = []  # up to the deal
        origin: Sequence[bytes] = ()
        first_command: Command = self._creation(rules, chance)
        if chance % 5 == FORKED and RULESETS[rules].fork_command:
            self.seats, origin, first_command = self._fork(rules, chance)
        self.referee = Referee(rng.randbytes(32).hex(), origin)
        kind: Callable[[Seat | None], Knowledge] = (
            ViewerKnowledge if rules in TRAIN_RULESETS else AnyKnowledge
        )
        self.knowledge = {viewer: kind(viewer) for viewer in (None, *range(self.seats))}
        self._open(first_command)

    @property
    def state(self) -> GameState:
        return self.cached_game.state

    def _creation(self, rules: str, chance: int) -> CreateGame:
        rng, rule_options = self.rng, RULESETS[rules].rule_options
        strict = rule_options.strict if chance % 3 else not rule_options.strict
        options: dict[str, Any] = {"strict": strict}
        options["clock_ms"] = rng.choice((None, 20_000, 200_000))
        options["move_ms"] = rng.choice((None, 4_000, 259_200_000))
        options["refusals_kept"] = rng.choice((2, 20))
        undo = UNDO[chance % len(UNDO)]
        if rng.random() < 0.3 and rules in TRAIN_RULESETS:
            options["cards"] = small_deck(rules)
        is_positioned = chance % 5 == POSITIONED and self.board is not None
        position = random_position(rng, self.board, self.seats) if is_positioned else None
        plans = tuple(self._plan(rules) for _ in range(self.seats))
        ruleset = None if self.board else rules
        return CreateGame(plans, ruleset, self.board, options=options, position=position, undo=undo)

    def _fork(self, rules: str, chance: int) -> tuple[int, Sequence[bytes], ForkGame]:
        """The seats and the log of another game, and the command to fork it at one of its entries."""
        past, rng = Match(rules, 5 * chance), self.rng
        steps = [*past.opening, *islice(past.steps(), rng.randrange(5, 60))]
        verdicts = [step.outcome.verdict for step in steps if step.outcome.verdict]
        entries = [join_entry(each.public, each.private_parts, each.secret) for each in verdicts]
        at = rng.randrange(len(past.opening), len(entries))
        return past.seats, entries, ForkGame("other", at, rng.choice([None, *range(past.seats)]))

    def _open(self, first_command: Command) -> None:
        rng = self.rng
        self._begin(first_command)
        for seat, seat_state in enumerate(self.state.seats):
            if not seat_state.is_seated:
                contribution = rng.choice((None, rng.randbytes(32).hex()))
                self._begin(TakeSeat(f"Player {seat}", seat, contribution=contribution))
        self._begin(StartGame())

    def _begin(self, command: Command) -> None:
        self.opening.append(self.process(None, command))

    def _plan(self, rules: str) -> SeatPlan:
        policy: Any = self.rng.choice([*sorted(RULESETS[rules].bot_policies - SLOW_POLICIES.keys()), None])
        age = self.rng.randrange(20, 60)
        return SeatPlan("bot", policy, age=age) if policy else SeatPlan()

    def process(self, seat: Seat | None, command: Command) -> Step:
        """Process this command of the seat (None: of the server or a client); every viewer's knowledge follows."""
        self.number += 1
        before = branched(self.cached_game)
        envelope = CommandEnvelope(f"c{self.number}", "match", seat, command)
        outcome = self.referee.decide(self.cached_game, envelope, self.now)
        for known in self.knowledge.values():
            for event in outcome.events:
                known.apply(event)
        return Step(before, envelope, self.now, outcome)

    def steps(self) -> Iterator[Step]:
        """The game from its deal on, one envelope at a time."""
        for _ in range(MAX_STEPS):
            if self.state.result:
                return
            self.now += self.rng.randrange(60) if self.rng.random() < 0.99 else 15_000
            yield self.process(*self.next_command())

    def next_command(self) -> tuple[Seat | None, Command]:
        """The next command, and the seat that sends it."""
        rng, state = self.rng, self.state
        deadline = state.next_deadline()
        if deadline and OPENED_MS + deadline[0] <= self.now:
            return None, CallTime(deadline[1])
        if rng.random() < self.leaving:
            return rng.randrange(self.seats), Leave()
        if state.undo and rng.random() < UNDOING:
            waiting = state.undo.waiting
            return (waiting[0], AnswerUndo(rng.random() < 0.7)) if waiting else (state.undo.seat, AskUndo())
        if rng.random() < (self.mischief if not state.rule_options.strict else self.mischief / 20):
            return rng.randrange(self.seats), rng.choice(command_pool(rng, state))
        seat = rng.choice(sorted(state.pending_choices))
        return seat, self.choice(legal(state, seat))

    def choice(self, commands: list[Command]) -> Command:
        """A command of a kind that the habit prefers, or else of any kind; every kind is equally likely."""
        chosen = [command for command in commands if isinstance(command, self.habit)] or commands
        kind = self.rng.choice(sorted({command.type for command in chosen}))
        return self.rng.choice([command for command in chosen if command.type == kind])
