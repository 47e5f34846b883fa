"""What no game of any ruleset may do, as checks of a game at the entry that it is at. Each raises FoundError.

A check takes its samples from its random source. Accepted commands that aren't listed are no finding where they only
say otherwise what a listed command says (`is_covered`).
"""

from __future__ import annotations

import pickle
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from random import Random
from typing import Final, TypeAlias, TypeVar

from schemas.commands import FIELDS as COMMAND_FIELDS
from schemas.commands import SCHEMAS, CallTime, Command, ForkGame, Leave, StartGame, TakeSeat
from schemas.errors import InvalidInputError
from schemas.events import Event, PlayOffCalled, PlayOffEnded, SeatGone
from schemas.field_types import HIDDEN, Seat
from schemas.stored.codec import unpack_entry
from schemas.stored.rows import event_to_row
from services.fuzz.made_commands import CommandMaker
from services.fuzz.played_game import (
    GAME,
    Finding,
    FoundError,
    Outcome,
    PlayedGame,
    Step,
    fail,
    guarded,
    try_step,
    viewer_name,
)
from services.referee.game_cache import CachedGame
from services.referee.games import GameState, fold, legal, redact_for

T = TypeVar("T")
HASH: Final = re.compile(r"[0-9a-f]{64,}")  # of something hidden and a salt: it tells nobody anything
# What only the sender, or nobody before the end, may know.
OWN_FIELDS: Final = frozenset({"refusal_counts"})
# These are the same for everybody, also where a value is null.
SHARED_FIELDS: Final = ("game", "at_ms", "started", "turn_order", "turn", "pending_choices", "result")
PLAY_OFF_EVENTS: Final = (PlayOffCalled, PlayOffEnded)  # a fork belongs to no play-off


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much a check tries."""

    listed: int
    made: int
    twins: int


QUICK: Final = Sizes(listed=6, made=10, twins=1)
THOROUGH: Final = Sizes(listed=60, made=80, twins=2)


@dataclass(frozen=True, slots=True)
class Trial:
    """A game at an entry, with the random source of what is tried there; `probe` is tried in any case."""

    game: PlayedGame
    rng: Random
    maker: CommandMaker
    sizes: Sizes = QUICK
    probe: Step | None = None

    def probes(self, seat: Seat | None, commands: Sequence[Command], count: int) -> list[Step]:
        """So many of the commands as steps of this seat, with the probe if it is one of its."""
        chosen = self.rng.sample(commands, min(count, len(commands)))
        steps = [Step(seat, command) for command in chosen]
        if self.probe is None or (self.probe.seat is None) != (seat is None):
            return steps
        return [self.probe._replace(seat=seat), *steps]


Check: TypeAlias = Callable[[Trial], None]


# -- is there a way on? ---------------------------------------------------------------------


def check_way_on(trial: Trial) -> None:
    """A game that goes on waits for somebody, who may do something, or whose time is over and may be called."""
    game, state = trial.game, trial.game.state
    if not state.started:
        if state.game and all(seat_state.is_seated for seat_state in state.seats):
            outcome = game.try_step(Step(None, StartGame()))
            if outcome.refusal is not None:
                fail("dead end", f"every seat is taken, and the game can't start: {outcome.refusal[1]}")
        return
    if state.result:
        return
    if not state.pending_choices:
        fail("dead end", "the game has started and isn't over, and nobody is asked")
    for seat, choice in state.pending_choices.items():
        if not state.is_out_of_time(seat):
            if not game.legal(seat):
                fail("dead end", f"seat {seat} is asked for its {choice}, and has no legal command")
        elif (outcome := game.try_step(Step(None, CallTime(seat)))).refusal is not None:
            fail("dead end", f"the time of seat {seat} is over and can't be called: {outcome.refusal[1]}")


# -- is the list right? -----------------------------------------------------------------------


def check_listed(trial: Trial) -> None:
    """Every listed command is accepted."""
    game = trial.game
    for seat in range(len(game.state.seats)):
        listed = game.legal(seat)
        for step in trial.probes(seat, listed, trial.sizes.listed):
            if step.command in listed and (refusal := game.try_step(step).refusal) is not None:
                fail(
                    "invented move",
                    f"what is listed for seat {seat} is refused: {refusal[0]}, {refusal[1]}",
                    step,
                )


def check_unlisted(trial: Trial) -> None:
    """Every accepted command is listed, or says otherwise what a listed one says. A refused one changes nothing."""
    game, state = trial.game, trial.game.state
    if not state.started or state.result:
        return
    seats = range(len(state.seats))
    asked = [seat for seat in seats if seat in state.pending_choices] or list(seats)
    for seat in {trial.rng.choice(asked), trial.rng.choice(seats)}:
        listed = game.legal(seat)
        for step in trial.probes(seat, list(trial.maker.made(listed, trial.sizes.made)), trial.sizes.made):
            if isinstance(step.command, Leave):
                continue
            outcome = game.try_step(step)
            if outcome.refusal is None and not is_covered(trial, step, outcome, listed):
                fail("missed move", f"seat {seat} may do what isn't listed", step)
            if outcome.refusal is not None and not state.rule_options.strict:
                require_unchanged(state, outcome, step)


def require_unchanged(state: GameState, outcome: Outcome, step: Step) -> None:
    """A refusal changes nothing but how many there were, and the time."""
    for name in state_fields(state):
        if name not in ("refusal_counts", "at_ms", "seats") and (
            found := difference(getattr(state, name, None), getattr(outcome.state, name, None), name)
        ):
            fail("lost state", f"a refused command changes {found}", step)


def is_covered(trial: Trial, step: Step, outcome: Outcome, listed: Sequence[Command]) -> bool:
    """Whether a listed command has the same effect: the same things in another order, or named otherwise.

    An optional field that no listed command of the class has only adds to one of them. Where the list has the best of
    very many (`Move.lists_best`), any other is covered by them."""
    command, cls, state = step.command, type(step.command), trial.game.state
    alike = [each for each in listed if type(each) is cls]
    moves = (
        state.ruleset.moves[state.pending_choices[step.seat]] if step.seat in state.pending_choices else ()
    )
    if any(move.command is cls and move.lists_best for move in moves):
        return bool(alike)
    if command in alike:
        return True
    effects = {effect_of(outcome.events)}
    added = [
        name for name in COMMAND_FIELDS[cls] if alike and all(getattr(each, name) is None for each in alike)
    ]
    if any(getattr(command, name) is not None for name in added):
        try:
            plain = SCHEMAS[cls.type].read(
                {name: None if name in added else getattr(command, name) for name in COMMAND_FIELDS[cls]}
            )
            effects.add(effect_of(trial.game.try_step(step._replace(command=plain)).events))
        except InvalidInputError:
            pass  # the field isn't left out, but stands for another
    return any(
        effect_of(trial.game.try_step(step._replace(command=each)).events) in effects for each in alike
    )


def effect_of(events: Sequence[Event]) -> str:
    """What events say, whatever the order within a row of them, and without what is there no times."""
    return repr([_in_order(event_to_row(event)) for event in events])


def _in_order(value: object) -> object:
    if isinstance(value, Mapping):
        return sorted((str(key), repr(_in_order(item))) for key, item in value.items() if item != 0)
    if isinstance(value, tuple | list):
        return sorted(repr(_in_order(item)) for item in value)
    return value


# -- does anybody learn what is hidden? -----------------------------------------------------------


def check_secrecy(trial: Trial) -> None:
    """A viewer gets the same from two states that differ only in what it can't see, where the game says what that is."""
    game, state, rng = trial.game, trial.game.state, trial.rng
    if not state.started or state.result or (deal_afresh := state.ruleset.deal_afresh) is None:
        return
    viewers = game.viewers if trial.sizes.twins > 1 else [rng.choice(game.viewers)]
    for viewer in viewers:
        for _ in range(trial.sizes.twins):
            seen = game.seen(viewer)
            twin = guarded("deal_afresh", lambda seen=seen: deal_afresh(state, seen, partial(_shuffled, rng)))  # type: ignore[misc]
            if twin.shuffle_key:
                twin.shuffle_key = rng.randbytes(32).hex()
            _compare_states(state, twin, viewer, "a state that differs in what is hidden")
            for step in _watched_steps(trial, viewer):
                _compare_outcomes(trial, twin, viewer, step)


def _shuffled(rng: Random, items: Sequence[T]) -> Sequence[T]:
    return rng.sample(items, len(items))


def _watched_steps(trial: Trial, viewer: Seat | None) -> list[Step]:
    """Commands of the viewer, of another seat, and of the server."""
    game, rng, sizes = trial.game, trial.rng, trial.sizes
    steps = []
    if viewer is not None:
        listed = game.legal(viewer)
        steps += trial.probes(viewer, [*listed, *trial.maker.made(listed, sizes.made)], sizes.listed)
    if others := [seat for seat in game.state.pending_choices if seat != viewer]:
        seat = rng.choice(others)
        listed = game.legal(seat)
        steps += trial.probes(seat, [*listed, *trial.maker.made(listed, sizes.made)], sizes.listed)
    called = rng.choice([*game.state.pending_choices])
    deadline_ms = game.state.seats[called].deadline_ms
    wait_ms = 0 if deadline_ms is None else max(0, deadline_ms - game.state.at_ms)
    return [*steps, *trial.probes(None, [CallTime(called)], 1), Step(None, CallTime(called), wait_ms)]


def _compare_states(
    state: GameState, twin: GameState, viewer: Seat | None, where: str, step: Step | None = None
) -> None:
    """What the viewer is asked, may do, and has time for is the same."""
    for what, value, other in (
        ("who is asked", state.pending_choices, twin.pending_choices),
        ("the next deadline", state.next_deadline(), twin.next_deadline()),
    ):
        if value != other:
            fail("leak", f"{where}: {what} differs for {viewer_name(viewer)}", step)
    if viewer is not None and guarded("legal", lambda: legal(state, viewer)) != guarded(
        "legal", lambda: legal(twin, viewer)
    ):
        fail("leak", f"{where}: the legal commands of {viewer_name(viewer)} differ", step)


def _compare_outcomes(trial: Trial, twin: GameState, viewer: Seat | None, step: Step) -> None:
    """A command gives the viewer the same on both states, up to what it lawfully learns by it."""
    game = trial.game
    outcome = game.try_step(step)
    other = try_step(twin, step, game.now_ms + step.wait_ms)
    who = viewer_name(viewer)
    if step.seat == viewer and viewer is not None:
        if outcome.refusal != other.refusal:
            fail("leak", f"{who} is refused {outcome.refusal} or {other.refusal}, by what it can't see", step)
    elif (outcome.refusal is None) != (other.refusal is None):
        return  # another seat may do it or not, by what it alone sees
    pairs = zip(outcome.events, other.events, strict=False)
    for index, (event, twin_event) in enumerate(pairs):
        shown, twin_shown = (_comparable(redact_for(viewer, each)) for each in (event, twin_event))
        if shown == twin_shown:
            continue
        if outcome.refusal is not None and index == 0:
            fail("leak", f"{who} is shown another refusal of another seat, by what it can't see", step)
        return  # it learns something, by what of an event it may see
    if len(outcome.events) == len(other.events):
        _compare_states(outcome.state, other.state, viewer, f"after {step.command.type}", step)


def _comparable(event: Event | None) -> object:
    """The event as a row, with any hash in place of each."""
    return None if event is None else _without_hashes(event_to_row(event))


def _without_hashes(value: object) -> object:
    if isinstance(value, str):
        return HASH.sub("#", value)
    if isinstance(value, tuple | list):
        return [_without_hashes(item) for item in value]
    return value


def check_views(trial: Trial) -> None:
    """Each viewer's fold agrees with the referee's in all that isn't hidden, and lists the same for its seat."""
    game = trial.game
    for viewer in game.viewers:
        view = game.view(viewer)
        for name in SHARED_FIELDS:
            if getattr(view, name) != getattr(game.state, name):
                fail("wrong view", f"{viewer_name(viewer)} folds another {name}")
        for name in state_fields(view):
            if name in OWN_FIELDS or not hasattr(game.state, name):
                continue
            if found := difference(getattr(view, name), getattr(game.state, name), name, is_view=True):
                fail("wrong view", f"{viewer_name(viewer)} folds another {found}")
        if viewer is not None and guarded("legal on a view", partial(legal, view, viewer)) != game.legal(
            viewer
        ):
            fail("wrong view", f"{viewer_name(viewer)} lists other legal commands by its own view")


# -- is anything lost? -----------------------------------------------------------------------------


def check_copies(trial: Trial) -> None:
    """A copy, a snapshot and a packed game are equal to the state, and go on like it, and nothing that is done to them
    changes it."""
    game, state = trial.game, trial.game.state
    snapshot: GameState = guarded("a snapshot", lambda: pickle.loads(pickle.dumps(state, 5)))  # noqa: S301 - our own
    cached = CachedGame()
    cached.state = state
    packed: GameState = guarded("packing", lambda: cached.pack().unpack().state)
    for what, other in (("a copy", state.copy()), ("a snapshot", snapshot), ("a packed game", packed)):
        if found := difference(state, other):
            fail("lost state", f"{what} has another {found}")
    if not state.started or state.result:
        return
    for seat in state.pending_choices:
        for step in trial.probes(seat, game.legal(seat), 2):
            events = game.try_step(step).events
            again = try_step(snapshot, step, game.now_ms + step.wait_ms).events
            if events != again:
                fail("lost state", f"a snapshot answers {step.command.type} otherwise", step)
    if found := difference(state, packed):
        fail("lost state", f"a command that is tried on a copy changes the state's own {found}")


def check_replay(trial: Trial) -> None:
    """The log, whole and in two parts, and the same commands again, give the same state."""
    game, rng = trial.game, trial.rng
    for data, entry in zip(game.log, game.entries, strict=True):
        if (read := guarded("reading an entry", partial(unpack_entry, data))) != entry:
            fail(
                "other replay",
                f"an entry of {entry.command.type} is read otherwise than written: {difference(read, entry)}",
            )
    whole = guarded("fold", lambda: fold(game.log))
    if found := difference(game.state, whole):
        fail("other replay", f"the fold of the log has another {found}")
    cut = rng.randrange(len(game.entries) + 1)
    parts = guarded("fold", lambda: fold(game.log[cut:], fold(game.log[:cut])))
    if found := difference(whole, parts):
        fail("lost state", f"the fold of the log in two parts has another {found}")
    again = PlayedGame().play_all(game.steps)
    for number, (one, other) in enumerate(zip(game.log, again.log, strict=False), 1):
        if one != other:
            fail("other replay", f"the same commands give another entry {number}")
    if len(again.log) != len(game.entries):
        fail("other replay", "the same commands give fewer entries")


def check_fork(trial: Trial) -> None:
    """A fork asks the same seats the same. Of a game that is over it goes on equal, given the same shuffles."""
    game, rng = trial.game, trial.rng
    entries = game.forkable
    if game.state.ruleset.fork_command is None:
        return
    for at in rng.sample(entries, min(trial.sizes.twins, len(entries))):
        asker = rng.choice(game.viewers)
        forked = fork_of(game, at, asker, f"{rng.getrandbits(256):064x}")
        source = PlayedGame().play_all(game.steps[:at])
        if forked is None or not forked.state.started:
            fail("lost state", f"no game goes on from entry {at}")
        asked = game.viewers[1:] if game.state.result else [asker]
        _compare_lists(source, forked, [seat for seat in asked if seat is not None], at)
        if game.state.result:
            _go_on_equal(source, forked, game, at)


def fork_of(game: PlayedGame, at: int, asker: Seat | None, seed: str) -> PlayedGame | None:
    """The game that goes on from this one after an entry, its seats taken, started; None where it can't be created."""
    if (fork_command := game.state.ruleset.fork_command) is None:
        return None
    creation = guarded("a fork", lambda: fork_command(game.log, ForkGame(GAME, at, asker), seed, None))
    forked = PlayedGame()
    if not forked.play(Step(None, replace(creation, seed=seed[:40]))):
        return None
    for seat, seat_state in enumerate(forked.state.seats):
        if not seat_state.is_seated:
            forked.play(Step(None, TakeSeat(f"Person {seat}", seat)))
    forked.play(Step(None, StartGame()))
    return forked


def _compare_lists(source: PlayedGame, forked: PlayedGame, seats: Sequence[Seat], at: int) -> None:
    if source.state.pending_choices != forked.state.pending_choices:
        fail("lost state", f"a fork of entry {at} waits for others than its source")
    for seat in seats:
        if sorted(map(repr, source.legal(seat))) != sorted(map(repr, forked.legal(seat))):
            fail("lost state", f"a fork of entry {at} lists other commands for seat {seat}")


def _go_on_equal(source: PlayedGame, forked: PlayedGame, game: PlayedGame, at: int) -> None:
    """Every later command has the same verdict in the fork."""
    for name in ("seed", "epoch", "shuffle_key"):
        setattr(forked.state, name, getattr(source.state, name))
    began, opened = game.entries[at - 1].at, forked.state.at_ms
    for entry in game.entries[at:]:
        forked.now_ms = forked.state.opened_at_ms + opened + entry.at - began
        events = forked.play(Step(entry.seat, entry.command))
        if _without_play_off(events) != _without_play_off(entry.events):
            if any(isinstance(event, SeatGone) and event.why == "removed" for event in entry.events):
                return  # what a removed seat gives back may be other than in its source: a fork begins with it taken
            fail("lost state", f"a fork of entry {at} answers {entry.command.type} otherwise than its source")


def _without_play_off(events: Sequence[Event]) -> list[object]:
    return [_comparable(event) for event in events if not isinstance(event, PLAY_OFF_EVENTS)]


# -- differences ----------------------------------------------------------------------------------


def state_fields(value: object) -> tuple[str, ...]:
    """The names of the fields of an object; none of a plain value."""
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(field.name for field in fields(value))
    declared = "__mypyc_attrs__" if hasattr(value, "__mypyc_attrs__") else "__slots__"  # compiled, or not
    slots = getattr(type(value), declared, ())
    return ((slots,) if isinstance(slots, str) else tuple(slots)) or tuple(getattr(value, "__dict__", ()))


def difference(one: object, other: object, path: str = "", *, is_view: bool = False) -> str:
    """The path of the first field in which two values differ; empty where they are equal. In a view, what is hidden is
    equal to anything, and hidden things of a kind are counted."""
    if one is other or one == other or (is_view and _is_hidden(one)):  # most are equal, which C finds first
        return ""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return _difference_of_maps(one, other, path, is_view=is_view)
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        if len(one) != len(other):
            return path or "length"
        if is_view and HIDDEN in one and all(isinstance(item, str | None) for item in (*one, *other)):
            # in any order: nobody knows which of those that it doesn't see left
            return path if Counter(one) - Counter({HIDDEN: len(one)}) - Counter(other) else ""
        pairs = ((str(index), item, twin) for index, (item, twin) in enumerate(zip(one, other, strict=True)))
        return _first_difference(pairs, path, is_view=is_view)
    if (
        isinstance(one, Set)
        or callable(one)
        or not (names := state_fields(one))
        or type(one) is not type(other)
    ):
        return "" if one == other or _is_same_call(one, other) else path or "value"
    missing = object()
    return _first_difference(
        ((name, getattr(one, name, missing), getattr(other, name, missing)) for name in names),
        path,
        is_view=is_view,
    )


def _first_difference(pairs: Iterable[tuple[str, object, object]], path: str, *, is_view: bool) -> str:
    for name, item, twin in pairs:
        if found := difference(item, twin, f"{path}.{name}" if path else name, is_view=is_view):
            return found
    return ""


def _difference_of_maps(
    one: Mapping[object, object], other: Mapping[object, object], path: str, *, is_view: bool
) -> str:
    if is_view and HIDDEN in one:
        counts = [sum(n for n in each.values() if isinstance(n, int)) for each in (one, other)]
        return "" if counts[0] == counts[1] else path
    if one.keys() != other.keys():
        return path or "keys"
    pairs = ((str(key), item, other[key]) for key, item in one.items())
    return _first_difference(pairs, path, is_view=is_view)


def _is_hidden(value: object) -> bool:
    """Whether a viewer has this in place of what it may not know."""
    return value is HIDDEN or value in ("", {})


def _is_same_call(one: object, other: object) -> bool:
    """Whether both are partial calls of one function, which no two equal."""
    return (
        isinstance(one, partial)
        and isinstance(other, partial)
        and (one.func, one.args, one.keywords) == (other.func, other.args, other.keywords)
    )


# In the order in which they are made; the last two read the whole log.
CHECKS_AT_ENTRIES: Final[tuple[Check, ...]] = (
    check_way_on,
    check_listed,
    check_unlisted,
    check_secrecy,
    check_views,
    check_copies,
)
CHECKS_AT_THE_END: Final[tuple[Check, ...]] = (check_replay, check_fork)
CHECKS: Final[Mapping[str, Check]] = {
    check.__name__: check for check in (*CHECKS_AT_ENTRIES, *CHECKS_AT_THE_END)
}


def run_check(check: Check, trial: Trial) -> None:
    """Make a check. Raises FoundError, with the check's name."""
    try:
        check(trial)
    except FoundError as error:
        raise FoundError(error.finding._replace(check=check.__name__)) from error.__cause__


def find_again(trial: Trial, finding: Finding) -> Finding | None:
    """The finding, made again on the game as it stands; None where its check finds nothing of its kind."""
    try:
        if finding.check:
            run_check(CHECKS[finding.check], trial)
        elif finding.probe is not None:
            for seat in trial.game.state.pending_choices:
                trial.game.try_step(finding.probe._replace(seat=seat))
    except FoundError as error:
        found = error.finding
        if found.kind == finding.kind and (found.kind != "crash" or found.why == finding.why):
            return found
    return None
