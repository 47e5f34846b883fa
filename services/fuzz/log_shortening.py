"""The shortest game that still shows a finding: commands are left out, then what is left is made plainer.

Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002): ever smaller
stretches of commands are left out, as long as the finding stays. A command that gets no entry any more goes too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count, takewhile
from random import Random
from typing import Final, NamedTuple

from schemas.commands import CreateGame, SeatPlan, StartGame
from schemas.field_types import MAX_SEATS
from services.fuzz.game_checks import Sizes, Trial, find_again
from services.fuzz.made_commands import CommandMaker
from services.fuzz.played_game import Finding, FoundError, PlayedGame, Step

SIZES: Final = Sizes(listed=3, made=6, twins=4)  # beside the probe, which mostly is enough
TRIES: Final = 2  # with other random choices, before a shorter game counts as sound
PLAINER: Final[tuple[Callable[[CreateGame], CreateGame], ...]] = (
    lambda creation: replace(creation, options=None),
    lambda creation: replace(creation, spectator_delay=None),
    lambda creation: replace(creation, board=None),
    lambda creation: replace(creation, seed="0"),
    lambda creation: replace(creation, seats=tuple(map(_bot, creation.seats))),
    *(lambda creation: replace(creation, seats=creation.seats[:-1]) for _ in range(MAX_SEATS)),
)
LOOKED_AT: Final = 30_000  # commands at most, of all games that may be shorter


class Shortened(NamedTuple):
    """A finding with the steps that lead to it, each of which has an entry."""

    finding: Finding
    steps: tuple[Step, ...]
    log: tuple[bytes, ...]


def shorten(steps: Sequence[Step], finding: Finding, max_entries: int) -> Shortened:
    """The shortest game that shows a finding of this kind, as far as LOOKED_AT commands go. One that can't be made again is kept
    as it is."""
    shortening = _Shortening(finding, max_entries)
    first = shortening.made_again(steps) or _as_it_is(steps, finding)
    if finding.kind == "endless":
        return shortening.by_habit(first)
    best, length = first, -1
    while len(best.steps) != length:
        length = len(best.steps)
        best = shortening.plainer(shortening.cut(best))
    return best


def _as_it_is(steps: Sequence[Step], finding: Finding) -> Shortened:
    game = PlayedGame()
    with suppress(FoundError):
        game.play_all(steps)
    return Shortened(finding, tuple(game.steps), tuple(game.log))


class _Shortening:
    """Looks for shorter games with a finding of this kind, in a bounded number of tries."""

    def __init__(self, finding: Finding, max_entries: int) -> None:
        self.finding, self.max_entries, self.left = finding, max_entries, LOOKED_AT

    def made_again(self, steps: Sequence[Step], *, is_adapted: bool = False) -> Shortened | None:
        """The finding at the end of these steps, or before."""
        game = PlayedGame()
        for step in steps:
            try:
                game.play(_adapted(game, step) if is_adapted else step)
            except FoundError as error:
                if (error.finding.kind, error.finding.why) != (self.finding.kind, self.finding.why):
                    return None
                return _shortened(error.finding._replace(probe=step), game)
        if not game.state.game or self.finding.kind == "endless":
            return None
        for attempt in range(TRIES):
            rng = Random(attempt)  # noqa: S311 - a game, no secret
            maker = CommandMaker(rng, game.state.ruleset, [None])
            with suppress(FoundError):  # a crash of `legal` is found again below
                for seat in game.state.pending_choices:
                    maker.learn(game.legal(seat))
            trial = Trial(game, rng, maker, SIZES, self.finding.probe)
            if (found := find_again(trial, self.finding)) is not None:
                return _shortened(found, game)
        return None

    def better(self, candidate: Sequence[Step], best: Shortened) -> Shortened:
        """The candidate's finding if it has one, else the best so far."""
        if self.left <= 0 or tuple(candidate) == best.steps:
            return best
        self.left -= len(candidate)
        return self.made_again(candidate, is_adapted=True) or best

    def cut(self, best: Shortened) -> Shortened:
        """Leave out ever smaller stretches of what follows the creation."""
        for size in takewhile(bool, (len(best.steps) >> power for power in count(1))):
            end = len(best.steps)
            while end > 1:
                start = max(1, end - size)
                best = self.better((*best.steps[:start], *best.steps[end:]), best)
                end = min(start, len(best.steps))
        return best

    def plainer(self, best: Shortened) -> Shortened:
        """A plainer creation, no waits, and the first legal command wherever any will do."""
        for change in PLAINER:
            best = self._with_creation(best, change)
        for name in _options_of(best):
            best = self._with_creation(best, partial(_without, name))
        for index in range(1, len(best.steps)):
            for plain in self._plainer_steps(best, index):
                best = self.better((*best.steps[:index], plain, *best.steps[index + 1 :]), best)
        return best

    def _with_creation(self, best: Shortened, change: Callable[[CreateGame], CreateGame]) -> Shortened:
        """The game with its creation changed, if it still has the finding."""
        creation = best.steps[0].command if best.steps else None
        if not isinstance(creation, CreateGame):
            return best
        return self.better((Step(None, change(creation)), *best.steps[1:]), best)

    def _plainer_steps(self, best: Shortened, index: int) -> Iterator[Step]:
        if index < len(best.steps) and best.steps[index].wait_ms:
            yield best.steps[index]._replace(wait_ms=0)
        if index < len(best.steps) and (seat := best.steps[index].seat) is not None:
            game = PlayedGame().play_all(best.steps[:index])
            try:
                listed = game.legal(seat)
            except FoundError:
                return
            if listed and repr(listed[0]) < repr(best.steps[index].command):
                yield best.steps[index]._replace(command=listed[0])

    def by_habit(self, best: Shortened) -> Shortened:
        """An endless game in which every seat always sends one kind of command, where there is one."""
        opening = next((n for n, step in enumerate(best.steps, 1) if isinstance(step.command, StartGame)), 0)
        kinds = Counter(step.command.type for step in best.steps if step.seat is not None)
        for kind, _ in kinds.most_common():
            game = PlayedGame().play_all(best.steps[:opening])
            while game.state.started and not game.state.result and len(game.entries) <= self.max_entries:
                seat = next(iter(game.state.pending_choices))
                listed = game.legal(seat)
                command = next((each for each in listed if each.type == kind), listed[0])
                if not game.play(Step(seat, command)):
                    break
            if len(game.entries) > self.max_entries:
                why = f"{self.finding.why}, where every seat always sends {kind} if it may"
                return _shortened(Finding("endless", why), game)
        return best


def _bot(plan: SeatPlan) -> SeatPlan:
    return SeatPlan("bot", plan.policy or "random")


def _adapted(game: PlayedGame, step: Step) -> Step:
    """The step, or what stands for it where commands before it were left out: the seat that is asked now sends it, or the
    first legal command of its kind."""
    asked = game.state.pending_choices
    if step.seat is None or not asked:
        return step
    seat = step.seat if step.seat in asked else next(iter(asked))
    listed = game.legal(seat)
    if step.command in listed:
        return step._replace(seat=seat)
    alike = (each for each in listed if each.type == step.command.type)
    return step._replace(seat=seat, command=next(alike, step.command))


def _options_of(best: Shortened) -> list[str]:
    creation = best.steps[0].command if best.steps else None
    return list(creation.options or ()) if isinstance(creation, CreateGame) else []


def _without(name: str, creation: CreateGame) -> CreateGame:
    options = {key: value for key, value in (creation.options or {}).items() if key != name}
    return replace(creation, options=options or None)


def _shortened(finding: Finding, game: PlayedGame) -> Shortened:
    return Shortened(finding, tuple(game.steps), tuple(game.log))
