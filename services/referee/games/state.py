"""The state of a game: what a fold over its events amounts to; and the ruleset that decides on it.

The referee's state has every card. A viewer's state is the same fold over the events as that
viewer sees them, with HIDDEN (None) in place of each card that the viewer may not see.
"""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeAlias
from typing import TypeVar as PlainTypeVar

from typing_extensions import TypeVar

from schemas.commands import Command, CreateGame, ForkGame, PlayOff
from schemas.contract import Schema
from schemas.events import Event, GameEnded, PlayOffCalled, Score
from schemas.field_types import Seat, as_logged
from schemas.game_options import PUBLIC_ACCESS, Access, ExitReason
from schemas.registry import OfItsGame, OfItsKey
from schemas.stored.player_names import ERASED_NAME

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


T = PlainTypeVar("T")

# -- how objects of frozen classes reach another process: pickle's own way sets fields of an object that exists already


def pickle_by_fields(*classes: type) -> None:
    """Have objects of these dataclasses pickled as calls of their classes with all fields."""
    for cls in classes:
        copyreg.pickle(cls, as_call)


def interpreted(cls: type[T]) -> type[T]:
    """Leave the class to Python in a compiled module: mypyc can't compile a dataclass that is generic."""
    return cls


def as_call(frozen: DataclassInstance) -> tuple[type, tuple[object, ...]]:
    """The call that makes an equal object, in the form of `copyreg`."""
    return frozen.__class__, tuple([getattr(frozen, field.name) for field in fields(frozen)])


OwnT = TypeVar("OwnT", default=OfItsGame)  # the game's own part of the state
OwnSeatT = TypeVar("OwnSeatT", default=OfItsGame)  # and of a seat
OptionsT = TypeVar("OptionsT", default=OfItsGame)
PartsT = TypeVar("PartsT", default=OfItsGame)  # of a ruleset: what its game alone needs

EventStream: TypeAlias = Iterable[Event]  # lazily: each is applied before the next is asked for
Choice: TypeAlias = str  # a kind of pending choice: a turn, or what a game asks for besides
# the turn, and the pending choices, each with the milliseconds left for it
ForkTurnState = tuple[Seat | None, tuple[tuple[Seat, Choice, int | None], ...]]
ACTION: Final = "action"  # what a seat whose turn it is must choose
COPIED: Final = frozenset((dict, list, set))


def copied(own: T) -> T:
    """A copy of a game's own part that shares nothing mutable with it: by its method `copy`, where it has one."""
    copy = getattr(own, "copy", None)
    duplicate: T = deepcopy(own) if copy is None else copy()
    return duplicate


def copy_fields(source: T, target: T, names: Iterable[str]) -> None:
    """Have an object hold in these fields what another one holds: a list, a dict or a set as a copy."""
    for name in names:
        value = getattr(source, name)
        setattr(target, name, value.copy() if type(value) in COPIED else value)


SEAT_FIELDS: Final = (
    "age",
    "clock_ms",
    "contribution",
    "deadline_ms",
    "exit_reason",
    "freed_at_ms",
    "is_seated",
    "kind",
    "name",
    "name_commitment",
    "own",
    "policy",
    "seat_secret",
    "times_freed",
)


class SeatState(Generic[OwnSeatT]):
    """One seat of a game. Changed only by the appliers."""

    __slots__ = SEAT_FIELDS

    own: OwnSeatT  # the hand and all else, as the game itself describes it

    def __init__(self, kind: str = "", name: str = "", policy: str | None = None) -> None:
        self.kind, self.name, self.policy = kind, name, policy
        self.name_commitment: str | None = None  # to the name, which is empty where it isn't known
        self.is_seated = False
        self.times_freed = 0  # before the start, by the host
        self.freed_at_ms = 0  # like `at_ms`: when it was freed last
        self.age: int | None = None
        self.seat_secret: str | None = None
        self.contribution: str | None = None  # to the game's shuffle key
        self.clock_ms = 0
        self.deadline_ms: int | None = None  # like `at_ms`: when the time for its last pending choice ends
        self.exit_reason: ExitReason | None = None

    def copy(self) -> SeatState[OwnSeatT]:
        """A copy that shares no mutable part with this one. Field by field, it takes a fifth of what a loop over them does."""
        duplicate: SeatState[OwnSeatT] = SeatState(self.kind, self.name, self.policy)
        duplicate.name_commitment = self.name_commitment
        duplicate.is_seated = self.is_seated
        duplicate.times_freed, duplicate.freed_at_ms = self.times_freed, self.freed_at_ms
        duplicate.age = self.age
        duplicate.seat_secret, duplicate.contribution = self.seat_secret, self.contribution
        duplicate.clock_ms, duplicate.deadline_ms = self.clock_ms, self.deadline_ms
        duplicate.exit_reason = self.exit_reason
        duplicate.own = copied(self.own)
        return duplicate


STATE_FIELDS: Final = (
    "access",
    "at_ms",
    "commitment",
    "created_at_ms",
    "epoch",
    "fork_origin",
    "fork_turn_state",
    "game",
    "names",
    "next_play_off",
    "opened_at_ms",
    "own",
    "pending_choices",
    "play_off",
    "refusal_counts",
    "result",
    "rule_options",
    "ruleset",
    "seats",
    "seed",
    "seed_was_named",
    "setup_digest",
    "shuffle_key",
    "started",
    "turn",
    "turn_order",
    "undo",
    "undone_count",
)


@lru_cache(maxsize=4_096)
def _seats_after(order: tuple[Seat, ...], seat: Seat) -> tuple[Seat, ...]:
    start = order.index(seat) + 1
    return order[start:] + order[:start]


class GameState(Generic[OwnT, OwnSeatT, OptionsT, PartsT]):
    """One game at one moment. Made by `fold`, changed only by `evolve`."""

    __slots__ = STATE_FIELDS

    ruleset: Ruleset[PartsT]
    rule_options: OptionsT
    own: OwnT  # the table, as the game itself describes it

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        # By commitment, of a state that people are shown. No rule reads them, so the referee's has none.
        self.names = names
        self.game = ""  # empty until the game is created
        self.at_ms = 0  # milliseconds since the game was opened, at its last entry
        self.opened_at_ms = 0  # milliseconds of the game clock, which runs only while referees run (CLOCK-1)
        self.created_at_ms = 0  # milliseconds since 1970; only shown, nothing depends on it
        self.access: Access = PUBLIC_ACCESS
        self.seats: list[SeatState[OwnSeatT]] = []
        self.started = False
        self.fork_origin: tuple[str, int] | None = None  # of a fork: the source game, and the entry there
        self.fork_turn_state: ForkTurnState | None = None  # of a fork: what goes on when it is started
        self.turn_order: tuple[Seat, ...] = ()
        self.turn: Seat | None = None
        self.pending_choices: dict[Seat, Choice] = {}  # the seats that the game waits for, and for what
        self.refusal_counts: dict[Seat | None, int] = {}  # since the turn started
        self.result: GameEnded | None = None
        self.play_off: PlayOff | None = None  # the play-off that this game is part of
        self.next_play_off: PlayOffCalled | None = None  # the play-off game that follows this one
        self.commitment = ""
        self.seed_was_named = False  # by the creator of the game
        self.seed: str | None = None
        self.setup_digest = ""  # see fair_randomness.compute_setup_digest
        self.shuffle_key = ""  # of all shuffles of the play; empty in a viewer's state
        self.undo: Undo | None = None  # of the last move, where it can be taken back
        self.undone_count = 0  # moves that were taken back in this game
        self.epoch = 0  # how many shuffles there were

    def name_of(self, commitment: str | None) -> str:
        """The name that is committed to, as people are shown it; empty where this state isn't shown to any."""
        if self.names is None or commitment is None:
            return ""
        return self.names.get(commitment, ERASED_NAME)

    def show_names(self, names: Mapping[str, str]) -> None:
        """Give the seats the names that are committed to: of a state that people are shown."""
        self.names = names
        for seat_state in self.seats:
            seat_state.name = self.name_of(seat_state.name_commitment) or seat_state.name

    @property
    def active_seats(self) -> list[Seat]:
        """The seats that still take part, in turn order."""
        return [seat for seat in self.turn_order if self.seats[seat].exit_reason is None]

    def seats_after(self, seat: Seat) -> tuple[Seat, ...]:
        """Every seat once, in turn order, from the one after `seat` to itself."""
        return _seats_after(self.turn_order, seat)

    def is_out_of_time(self, seat: Seat) -> bool:
        """Whether the time of a seat with a pending choice was over at the last entry (CLOCK-2)."""
        deadline_ms = self.seats[seat].deadline_ms
        return deadline_ms is not None and deadline_ms <= self.at_ms

    def next_deadline(self) -> tuple[int, Seat] | None:
        """The earliest deadline of a pending choice, in milliseconds like `at_ms`, and its seat. None if no
        pending choice has a deadline."""
        first = None
        for seat in self.pending_choices:
            deadline_ms = self.seats[seat].deadline_ms
            if deadline_ms is not None and (first is None or (deadline_ms, seat) < first):
                first = deadline_ms, seat
        return first

    def copy(self) -> GameState[OwnT, OwnSeatT, OptionsT, PartsT]:
        """A copy that shares no mutable part with this one."""
        if not self.game:
            return GameState(self.names)
        duplicate: GameState[OwnT, OwnSeatT, OptionsT, PartsT] = GameState.__new__(GameState)
        copy_fields(self, duplicate, STATE_FIELDS)
        duplicate.own = copied(self.own)
        duplicate.seats = [seat_state.copy() for seat_state in self.seats]
        return duplicate

    def go_back_to(self, earlier: GameState[OwnT, OwnSeatT, OptionsT, PartsT]) -> None:
        """Take all that is in an earlier copy, which may be used for nothing else then."""
        copy_fields(earlier, self, STATE_FIELDS)


class Undo(NamedTuple):
    """What the last move can be taken back to, and who was asked for it."""

    seat: Seat  # whose move it was
    before: GameState  # the move; it has no undo itself
    waiting: tuple[Seat, ...] | None = None  # whose answers are open; None: nobody was asked


@dataclass(frozen=True, slots=True)
class Move:
    """One kind of action: `offers` lists the commands worth proposing, `decide` gives a command's events, and a seat that
    can do nothing but an optional one may pass (TURN-4).

    `decide` checks everything before it yields its first event. Each event is applied to the state before
    the next is asked for, so later events depend on earlier ones."""

    command: type[Command]
    offers: Callable[[GameState, Seat], Sequence[Command]]
    decide: Callable[[GameState, Seat, OfItsKey], EventStream]  # of a command of the class `command`
    is_optional: bool = False
    lists_best: bool = False  # of very many commands, the offers are only the best


class RandomnessPolicy(NamedTuple):
    """How piles are shuffled, and what commits to their order (docs/reference/proof.md)."""

    shuffle: Callable[[GameState, Sequence[str]], tuple[str, ...]]  # the names of a pile, shuffled
    order_root: Callable[[GameState, Sequence[str]], str]  # the commitment to that order


ForkCommand: TypeAlias = Callable[[Sequence[bytes], ForkGame, str, Mapping[str, str] | None], CreateGame]


class Opening(NamedTuple):
    """How a new game begins, as its ruleset reads the command that creates it."""

    rule_options: OfItsGame  # of the ruleset's class
    board: str | None = None  # by its name, where the game is played on one
    board_digest: str | None = None
    board_form: OfItsGame = None  # of a board of the creator's own
    # what lies there before the start, by the game's seed
    lay: Callable[[str], EventStream] = lambda seed: ()


class Packing(NamedTuple):
    """How the game's own part of a state is kept as bytes, and what it shares with other games."""

    shared_of: Callable[[GameState], object]  # what isn't packed: one object for many games, or None
    values_of: Callable[[GameState], object]  # the rest, which pickle can pack
    restore: Callable[[GameState, OfItsGame, OfItsGame], None]  # both, into a state that has its seats
    size_bytes: Callable[[GameState], int]  # about what it takes in memory, besides what it shares
    shared_bytes: Callable[[OfItsGame], int]  # the same, of what it shares


def _own_values(state: GameState) -> tuple[object, list[object]]:
    return state.own, [seat_state.own for seat_state in state.seats]


def _restore_own(state: GameState, shared: None, values: tuple[OfItsGame, list[OfItsGame]]) -> None:
    state.own, seats = values
    for seat_state, own in zip(state.seats, seats, strict=True):
        seat_state.own = own


# In memory a value takes about five times its packed bytes.
def _own_bytes(state: GameState) -> int:
    return 5 * len(pickle.dumps(_own_values(state), 5))


def nothing(*_: object) -> None:
    """What a game has that has no such thing."""


def no_bytes(*_: object) -> int:
    """Nothing is shared."""
    return 0


def no_events(*_: object) -> EventStream:
    """What happens where nothing does."""
    return ()


def always(*_: object) -> bool:
    """Any number of seats can play again."""
    return True


PLAIN_PACKING: Final = Packing(nothing, _own_values, _restore_own, _own_bytes, no_bytes)


class Seen(NamedTuple):
    """What one viewer (None: a spectator) has seen of a game: its view, and its events, which may be whole."""

    viewer: Seat | None
    view: GameState
    events: Iterable[Event] = ()


class ShuffleFunction(Protocol):
    """Returns the same items in another order."""

    def __call__(self, items: Sequence[T], /) -> Sequence[T]: ...


class TablePart(NamedTuple):
    """A part of a table as a viewer sees it, for people: cards (None is face down), a number, or a text."""

    name: str  # as the game calls it, like "hand" or "points"
    seat: Seat | None = None  # whose it is; None: it lies on the table
    cards: tuple[str | None, ...] | None = None
    number: int | None = None
    text: str | None = None


@interpreted
@dataclass(frozen=True, slots=True, eq=False)
class Ruleset(Generic[PartsT]):
    """The rules of a game as a value, compared by identity. `version` rises when a rule's meaning changes."""

    name: str
    version: int
    # those of a game that names none: an object of the class that `options_schema` reads
    rule_options: OfItsGame
    options_schema: Schema[OfItsGame]
    randomness: RandomnessPolicy
    bot_policies: frozenset[str]  # the policies that can play it
    moves: Mapping[Choice, tuple[Move, ...]]  # by the choice that they answer
    # refuses with GAME-6 or SETUP-4 what can't be played, before the first event
    open_game: Callable[[Ruleset[PartsT], CreateGame], Opening]
    start: Callable[[GameState], EventStream]  # from a full table to the first choices
    # the pending choice of a seat that withdraws, made in the simplest way
    settle: Callable[[GameState, Seat, ExitReason], EventStream]
    # after a seat withdrew: the next turn, or the end
    go_on_without: Callable[[GameState, Seat], EventStream]
    show: Callable[[GameState], EventStream]  # what is turned up for all when the game is over
    score: Callable[[GameState], tuple[Score, ...]]  # in seat order, places from 1
    # what an event of every game changes in the game's own part
    own_appliers: Mapping[type[Event], Callable[[GameState, OfItsKey], None]]
    parts: PartsT
    default_board: str = ""  # of a game that names none; empty: it is played on no board
    is_deal_checked: bool = False  # where it is created: its start refuses nothing
    can_be_dealt: Callable[[GameState, int], bool] = always  # again, for so many seats
    # a board's name or form, as a creation has it
    board_of: Callable[[GameState], object] = nothing
    # whether hands and piles lie there before the start
    is_laid: Callable[[GameState], object] = nothing
    packing: Packing = PLAIN_PACKING
    # the table in parts, as a viewer sees it; None: the game has a page of its own
    describe: Callable[[GameState, Seat | None], Iterable[TablePart]] | None = None
    # the same as an SVG picture, which the page shows above the parts; it runs and loads nothing
    draw: Callable[[GameState, Seat | None], str] | None = None
    # the creation of a fork from the source game's log, as what was asked for has it, with this seed and these names
    # of players; None: a moment of such a game can't be laid as the events of another one
    fork_command: ForkCommand | None = None
    # a state, or its view, with what the viewer can't see dealt afresh: the viewer can't tell them apart. None: the game
    # doesn't say how, so nothing is searched in it
    deal_afresh: Callable[[GameState, Seen, ShuffleFunction], GameState] | None = None

    def has_command(self, command: type[Command]) -> bool:
        """Whether the command answers anything in these rules."""
        return any(move.command is command for moves in self.moves.values() for move in moves)


def read_options(ruleset: Ruleset[OfItsGame], values: Mapping[str, object]) -> OfItsGame:
    """The options that a log records: the ruleset's own object where they are its own. Raises InvalidInputError."""
    if values == written_options(ruleset):
        return ruleset.rule_options
    return ruleset.options_schema.read(values)


@lru_cache(maxsize=256)
def written_options(ruleset: Ruleset[OfItsGame]) -> Mapping[str, object]:
    """The ruleset's own options as a log records them."""
    written: Mapping[str, object] = as_logged(ruleset.options_schema.write(ruleset.rule_options))
    return written


pickle_by_fields(Move)
