"""Random games, led by what they reach: those that reach something new are gone on from, and changed.

New is a pair of events in a row, or a command with its refusal's rule. That costs nothing, and says the same of rules
that are compiled. A batch of games follows from its seed alone, so that its finding is found again.
"""

from __future__ import annotations

import time
from dataclasses import replace
from random import Random
from typing import Final, NamedTuple

from schemas.commands import CreateGame, SeatPlan
from schemas.errors import InvalidInputError
from schemas.events import CommandRefused
from services.fuzz.game_checks import (
    CHECKS_AT_ENTRIES,
    CHECKS_AT_THE_END,
    THOROUGH,
    Trial,
    check_way_on,
    fork_of,
    run_check,
)
from services.fuzz.log_shortening import Shortened, shorten
from services.fuzz.made_commands import CommandMaker, Habits
from services.fuzz.played_game import LIMIT, FoundError, PlayedGame, Step, fail
from services.referee.games import RULESETS
from services.referee.games.found_games import GAMES

MAX_ENTRIES: Final = 20_000  # of a game, whatever its rules: fifty times a long one's
BATCH_GAMES: Final = 60  # that follow from one seed, and lead each other
MAX_PREFIXES: Final = 200  # beginnings that reached something new
CREATIONS: Final = 40  # tried before the plain one
CHECKED_SHARE: Final = 0.06  # of the entries
GONE_ON_SHARE: Final = 0.5  # of the games, from what reached something new
FORKED_SHARE: Final = 0.06
ENDING_SHARE: Final = 0.75  # of the games are played to their end
STUCK: Final = 500  # commands in a row that get no entry


class Arena(NamedTuple):
    """The rules that are played, on this board or else on any; and the entries after which a game is endless."""

    ruleset: str
    board: object = None
    max_entries: int = MAX_ENTRIES


class Quota(NamedTuple):
    """So many games at most, and none begun after this time."""

    games: int = BATCH_GAMES
    until_s: float = float("inf")  # like time.time()


class BatchResult(NamedTuple):
    """What a batch of games came to."""

    ruleset: str
    seed: str
    games: int
    commands: int  # with those that were tried on copies
    reached: frozenset[tuple[str, str]]
    found: Shortened | None


def search_batch(arena: Arena, seed: str, quota: Quota) -> BatchResult:
    """Play a batch of games, up to the first finding, which is shortened.

    Raises InvalidInputError: no game of the arena can be created."""
    search = _Search(arena, seed)
    found, games = None, 0
    with LIMIT.watching():
        while games < quota.games and time.time() < quota.until_s and found is None:
            games += 1
            game = PlayedGame()
            try:
                search.play_game(games, game, quota.until_s)
            except FoundError as error:
                found = shorten(game.steps, error.finding, arena.max_entries)
            search.commands += len(game.entries) + game.tried
    return BatchResult(arena.ruleset, seed, games, search.commands, frozenset(search.reached), found)


class _Search:
    """What the games of a batch have reached."""

    def __init__(self, arena: Arena, seed: str) -> None:
        self.arena, self.seed, self.ruleset = arena, seed, RULESETS[arena.ruleset]
        self.reached: set[tuple[str, str]] = set()
        self.prefixes: list[tuple[Step, ...]] = []
        self.commands = 0
        self._last: PlayedGame | None = None
        self._boards: list[object] = (
            [arena.board] if arena.board is not None else [None, *_boards_of(arena.ruleset)]
        )

    def play_game(self, number: int, game: PlayedGame, until_s: float) -> None:
        """Play a game from its beginning on, checked as it goes. Raises FoundError."""
        rng = Random(f"{self.seed} {number}")  # noqa: S311 - a game, no secret
        maker = CommandMaker(rng, self.ruleset, self._boards)
        habits = Habits(rng)
        self._begin(game, rng, maker)
        trial = Trial(game, rng, maker)
        most = (
            self.arena.max_entries if rng.random() < ENDING_SHARE else len(game.entries) + rng.randrange(200)
        )
        stuck = 0
        while not game.state.result and len(game.entries) < most and time.time() < until_s:
            stuck = 0 if game.play(maker.next_step(game, habits)) else stuck + 1
            if stuck > STUCK:
                fail("dead end", f"{STUCK} commands in a row get no entry")
            if not stuck:
                self._check_entry(trial)
        if len(game.entries) >= self.arena.max_entries and not game.state.result:
            fail("endless", f"the game goes on after {len(game.entries)} entries")
        for check in CHECKS_AT_THE_END:
            run_check(check, trial)
        self._last = game

    def _check_entry(self, trial: Trial) -> None:
        """Make all checks where something new is reached, else now and then one."""
        game, rng = trial.game, trial.rng
        run_check(check_way_on, trial)
        if self._reaches_new(game):
            self.prefixes.append(tuple(game.steps))
            if len(self.prefixes) > MAX_PREFIXES:
                del self.prefixes[rng.randrange(MAX_PREFIXES)]
            for check in CHECKS_AT_ENTRIES:
                run_check(check, replace(trial, sizes=THOROUGH))
        elif rng.random() < CHECKED_SHARE:
            run_check(rng.choice(CHECKS_AT_ENTRIES), trial)

    def _reaches_new(self, game: PlayedGame) -> bool:
        entry, count = game.entries[-1], len(self.reached)
        before = game.entries[-2].events[-1].type if len(game.entries) > 1 and game.entries[-2].events else ""
        for event in entry.events:
            if isinstance(event, CommandRefused):
                self.reached.add((entry.command.type, event.rule))
            else:
                self.reached.add((before, event.type))
            before = event.type
        return len(self.reached) > count

    # -- how a game begins ------------------------------------------------------------------

    def _begin(self, game: PlayedGame, rng: Random, maker: CommandMaker) -> None:
        """With a beginning that reached something new, as it was or changed; as a fork of the last game; or anew."""
        chance = rng.random()
        if self.prefixes and chance < GONE_ON_SHARE:
            game.play_all(self._changed_prefix(rng, maker))
        elif self._last is not None and chance < GONE_ON_SHARE + FORKED_SHARE:
            self._begin_fork(game, rng, self._last)
        for _ in range(CREATIONS):
            if game.state.game:
                break
            game.play(Step(None, maker.creation()))
        if not game.state.game:
            self._begin_plainly(game)
        for seat in game.state.pending_choices:
            maker.learn(game.legal(seat))

    def _begin_fork(self, game: PlayedGame, rng: Random, source: PlayedGame) -> None:
        if entries := source.forkable:
            seed = f"{rng.getrandbits(256):064x}"
            forked = fork_of(source, rng.choice(entries), rng.choice(source.viewers), seed)
            game.play_all(() if forked is None else forked.steps)

    def _begin_plainly(self, game: PlayedGame) -> None:
        """Raises InvalidInputError if not even a plain game can be created."""
        policy = min(self.ruleset.bot_policies)
        plans = (SeatPlan("bot", policy),) * self.ruleset.rule_options.seats_least  # type: ignore[arg-type]  # the ruleset's own
        step = Step(None, CreateGame(plans, self.arena.ruleset, self.arena.board, self.seed[:40] or None))
        if not game.play(step):
            reason = game.try_step(step).refusal or ("", "")
            raise InvalidInputError("game", f"no game of {self.arena.ruleset} can be created: {reason[1]}")

    def _changed_prefix(self, rng: Random, maker: CommandMaker) -> list[Step]:
        steps = list(rng.choice(self.prefixes))
        match rng.randrange(6):
            case 0:
                del steps[rng.randrange(max(1, len(steps) - 30), len(steps) + 1) :]
            case 1:
                for place in sorted(rng.sample(range(1, len(steps)), min(2, len(steps) - 1)), reverse=True):
                    del steps[place]
            case 2 if isinstance(creation := steps[0].command, CreateGame):
                options = {**(creation.options or {}), **maker.changed_options(1)}
                steps[0] = Step(None, replace(creation, options=options))
            case _:
                pass  # gone on from otherwise
        return steps


def _boards_of(ruleset: str) -> list[str]:
    """The built-in boards that are usually played by these rules."""
    games = [game for game in GAMES.values() if RULESETS[ruleset] in game.rulesets]
    return [
        name
        for game in games
        for name in game.boards()
        if game.ruleset_for(CreateGame((), board=name)) == ruleset
    ]
