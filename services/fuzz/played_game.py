"""One game as the fuzzer plays it: its commands with their times, its log, and each viewer's fold."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, Literal, NamedTuple, NoReturn, TypeAlias, TypeVar

from schemas.commands import Command, CommandEnvelope, StartGame
from schemas.contract import WHOLE_EVENT, Private, Secret
from schemas.errors import LedgerlineError
from schemas.events import FIELDS, CommandRefused, Event
from schemas.field_types import HIDDEN, Seat
from schemas.stored.codec import pack_entry
from schemas.stored.entries import Entry
from schemas.stored.rows import event_to_row
from services.referee.decision_limit import DecisionLimit
from services.referee.games import (
    UnloggedRejectionError,
    decide_envelope,
    fold_events,
    legal,
    redact_for,
    split_by_visibility,
)
from services.referee.games.state import GameState, Seen

GAME: Final = "fuzzed"
OPENED_MS: Final = 1_000_000
FRESH_SEED: Final = "5e" * 32  # of creations that name no seed
# Of one decision: ten times a referee's, as a machine that fuzzes is busy.
LIMIT: Final = DecisionLimit(20.0)
T = TypeVar("T")

Kind: TypeAlias = Literal[
    "crash",
    "dead end",
    "endless",
    "invented move",
    "missed move",
    "leak",
    "lost state",
    "other replay",
    "wrong view",
]
KINDS: Final[Mapping[Kind, str]] = {
    "crash": "The rules raise what no refusal is, or never answer.",
    "dead end": "Nobody is asked, or a seat that is asked has no legal command.",
    "endless": "The game goes on after more entries than any game takes.",
    "invented move": "A listed command is refused.",
    "missed move": "A command is accepted that isn't listed.",
    "leak": "What a seat gets depends on what it can't see.",
    "lost state": "A copy, a snapshot, half of a log or a fork goes on otherwise, or a refusal changes something.",
    "other replay": "The log, or the same commands again, give another state.",
    "wrong view": "A viewer's fold differs from the referee's in what isn't hidden.",
}


class Step(NamedTuple):
    """A command with its sender (None: the server), sent so many milliseconds after the one before."""

    seat: Seat | None
    command: Command
    wait_ms: int = 0


class Finding(NamedTuple):
    """What is wrong after a game's last step; `probe` is a further command that shows it, `check` the name of the check
    that found it (empty: the game's own course)."""

    kind: Kind
    why: str
    probe: Step | None = None
    check: str = ""


class FoundError(LedgerlineError):
    """Something is wrong with the game that is played."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(f"{finding.kind}: {finding.why}")
        self.finding = finding


def fail(kind: Kind, why: str, probe: Step | None = None) -> NoReturn:
    """Raises FoundError."""
    raise FoundError(Finding(kind, why, probe))


def guarded(what: str, run: Callable[[], T], probe: Step | None = None) -> T:
    """What `run` returns. Raises FoundError for any exception that is no verdict, naming where it was raised."""
    try:
        return LIMIT.run(run)
    except (FoundError, UnloggedRejectionError):
        raise
    except Exception as error:
        where = "nowhere"
        for frame in traceback.extract_tb(error.__traceback__):
            if Path(frame.filename).parent != Path(__file__).parent:
                where = f"{Path(frame.filename).stem}.{frame.name}"
        fail("crash", f"{what} raises {type(error).__name__} in {where}", probe)


class Outcome(NamedTuple):
    """What a command gives: its events and the state after them, or the rule and reason of a refusal."""

    events: tuple[Event, ...]
    refusal: tuple[str, str] | None
    state: GameState


def try_step(state: GameState, step: Step, now_ms: int) -> Outcome:
    """The outcome of a command on a copy of the state. Raises FoundError for a crash."""
    copy = state.copy()
    try:
        events = guarded("decide", lambda: decide(copy, step, now_ms), step)
    except UnloggedRejectionError as rejection:
        return Outcome((), (rejection.rule, rejection.reason), copy)
    refusal = next(((each.rule, each.why) for each in events if isinstance(each, CommandRefused)), None)
    return Outcome(events, refusal, copy)


def decide(state: GameState, step: Step, now_ms: int, command_id: str = "probe") -> tuple[Event, ...]:
    """The verdict on a command, applied to the state. Raises as `decide_envelope`."""
    envelope = CommandEnvelope(command_id, GAME, step.seat, step.command)
    return decide_envelope(state, envelope, now_ms, FRESH_SEED, created_at_ms=OPENED_MS)


class PlayedGame:
    """A game in progress. A view is folded when somebody looks."""

    def __init__(self) -> None:
        self.state, self.now_ms = GameState(), OPENED_MS
        self.steps: list[Step] = []  # those that have an entry
        self.entries: list[Entry] = []
        self.tried = 0  # commands that were decided on copies
        self._packed: list[bytes] = []
        self._views: dict[Seat | None, tuple[GameState, int]] = {}
        self._legal: tuple[int, dict[Seat, list[Command]]] = (0, {})

    def play(self, step: Step) -> tuple[Event, ...]:
        """The events of the next command; none, and nothing changes, if it gets no entry. Raises FoundError for a crash."""
        now_ms, command_id = self.now_ms + step.wait_ms, f"c{len(self.entries)}"
        try:
            events = guarded("decide", lambda: decide(self.state, step, now_ms, command_id))
        except UnloggedRejectionError:
            return ()
        self.now_ms = now_ms
        self.steps.append(step)
        self.entries.append(Entry(self.state.at_ms, command_id, step.seat, step.command, events))
        return events

    @property
    def log(self) -> list[bytes]:
        """The entries as stored. Raises FoundError for one that can't be."""
        for entry in self.entries[len(self._packed) :]:
            self._packed.append(guarded("packing an entry", partial(_pack, entry)))
        return self._packed

    def play_all(self, steps: Iterable[Step]) -> PlayedGame:
        """This game after these steps, without those that get no entry. Raises FoundError for a crash."""
        for step in steps:
            self.play(step)
        return self

    def try_step(self, step: Step) -> Outcome:
        """What the command would give now. Raises FoundError for a crash."""
        self.tried += 1
        return try_step(self.state, step, self.now_ms + step.wait_ms)

    def legal(self, seat: Seat) -> list[Command]:
        """What the seat may do now. Raises FoundError for a crash."""
        length, lists = self._legal
        if length != len(self.entries):
            self._legal = _, lists = len(self.entries), {}
        if seat not in lists:
            lists[seat] = guarded("legal", lambda: legal(self.state, seat))
        return lists[seat]

    @property
    def forkable(self) -> range:
        """The entries after which another game may go on from this one, as far as everybody is shown them."""
        begun = next((n for n, entry in enumerate(self.entries, 1) if _starts(entry)), len(self.entries) + 1)
        is_over = self.state.result is not None
        length = self.state.access.visible_length(len(self.entries), is_over=is_over) if self.entries else 0
        return range(begun, min(length, len(self.entries) - is_over) + 1)

    @property
    def viewers(self) -> list[Seat | None]:
        """A spectator, and every seat."""
        return [None, *range(len(self.state.seats))]

    def view(self, viewer: Seat | None) -> GameState:
        """The viewer's own fold of what it is sent. Raises FoundError for a crash, or if what is stored shows it something else."""
        state, length = self._views.get(viewer) or (GameState(), 0)
        for entry in self.entries[length:]:
            shown = guarded("redact_for", lambda entry=entry: shown_events(viewer, entry.events))  # type: ignore[misc]
            guarded("a view's fold", lambda entry=entry, shown=shown: fold_events(state, entry.at, shown))  # type: ignore[misc]
        self._views[viewer] = state, len(self.entries)
        return state

    def seen(self, viewer: Seat | None) -> Seen:
        """What the viewer has seen. Raises as `view`."""
        return Seen(viewer, self.view(viewer), chain.from_iterable(entry.events for entry in self.entries))


def _pack(entry: Entry) -> bytes:
    return pack_entry(entry, split_by_visibility(entry.events))[0]


def _starts(entry: Entry) -> bool:
    return isinstance(entry.command, StartGame) and entry.refusal is None


def shown_events(viewer: Seat | None, events: tuple[Event, ...]) -> list[Event]:
    """The events as the viewer sees them. Raises FoundError if it is shown what is hidden from it, or if its
    stored rows say something else."""
    split, shown = split_by_visibility(events), []
    for index, event in enumerate(events):
        row, redacted = split.public[index], redact_for(viewer, event)
        if viewer is not None:
            row = split.private.get(viewer, {}).get(index, row)
        if (None if redacted is None else event_to_row(redacted)) != row:
            fail("wrong view", f"{event.type} is stored otherwise than {viewer_name(viewer)} is shown it")
        if redacted is not None:
            require_hidden(viewer, event, redacted)
            shown.append(redacted)
    return shown


def require_hidden(viewer: Seat | None, event: Event, shown: Event) -> None:
    """What the event's declaration hides from the viewer is face down in what the viewer is shown."""
    visibility = type(event).visibility
    if not isinstance(visibility, Private | Secret):
        return
    if isinstance(visibility, Private):
        condition = visibility.public_if_null
        is_owner = viewer is not None and getattr(event, visibility.owner) == viewer
        if is_owner or (condition is not None and getattr(event, condition) is None):
            return
    names = FIELDS[type(event)] if visibility.hides == WHOLE_EVENT else visibility.hides
    for name in names:
        value = getattr(shown, name)
        if value is not HIDDEN and not (isinstance(value, tuple) and {*value} <= {HIDDEN}):
            fail("leak", f"{viewer_name(viewer)} is shown {name} of {event.type}, which is hidden from it")


def viewer_name(viewer: Seat | None) -> str:
    """The viewer in words."""
    return "a spectator" if viewer is None else f"seat {viewer}"
