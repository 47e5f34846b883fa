"""The state of a game: what a fold over its events amounts to; and the ruleset that decides on it.

The referee's state has every card. A viewer's state is the same fold over the events as that
viewer sees them, with HIDDEN (None) in place of each card that the viewer may not see. The
state of each seat is in seat_state.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from schemas.access import PUBLIC_ACCESS, Access
from schemas.commands import ClaimRoute, Command, PlayOff
from schemas.events import Event, GameEnded, PlayOffCalled, SeatScore
from schemas.field_types import Seat
from schemas.registry import OfItsKey
from schemas.rule_options import RuleOptions
from schemas.stored.player_names import ERASED_NAME
from services.referee.rules.frozen_classes import pickle_by_fields
from services.referee.rules.seat_state import SeatState
from services.referee.rules.train_state import TrainState

if TYPE_CHECKING:
    from services.referee.rules.board import Board, Fare, Route

EventStream: TypeAlias = Iterable[Event]  # lazily: each is applied before the next is asked for
Cards: TypeAlias = Mapping[str, int]
Hand: TypeAlias = dict[str | None, int]
OpenRoutes: TypeAlias = "dict[Fare, tuple[str, ...]]"
PayableRoutes: TypeAlias = "list[tuple[tuple[str, ...], Sequence[dict[str, ClaimRoute]]]]"


Choice = Literal["action", "second card", "tickets", "mix", "tunnel"]
# the turn, and the pending choices, each with the milliseconds left for it
ForkTurnState = tuple[Seat | None, tuple[tuple[Seat, Choice, int | None], ...]]
ACTION: Final = "action"
SECOND_CARD: Final = "second card"
TICKETS: Final = "tickets"
MIX: Final = "mix"  # how many starting tickets of each deck
TUNNEL: Final = "tunnel"


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
)


class GameState:
    """One game at one moment. Made by `fold`, changed only by `evolve`."""

    __slots__ = STATE_FIELDS

    ruleset: Ruleset
    rule_options: RuleOptions
    own: TrainState  # what the game itself knows of its table

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        # By commitment, of a state that people are shown. No rule reads them, so the referee's has none.
        self.names = names
        self.game = ""  # empty until the game is created
        self.at_ms = 0  # milliseconds since the game was opened, at its last entry
        self.opened_at_ms = 0  # milliseconds of the game clock, which runs only while referees run (CLOCK-1)
        self.created_at_ms = 0  # milliseconds since 1970; only shown, nothing depends on it
        self.access: Access = PUBLIC_ACCESS
        self.seats: list[SeatState] = []
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
        order = self.turn_order
        start = order.index(seat) + 1
        return order[start:] + order[:start]

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

    def copy(self) -> GameState:
        """A copy that shares no mutable part with this one."""
        duplicate = GameState(self.names)
        if self.game:
            duplicate.ruleset, duplicate.rule_options = self.ruleset, self.rule_options
            duplicate.own = self.own.copy()
        self._copy_values_to(duplicate)
        duplicate.seats = [seat_state.copy() for seat_state in self.seats]
        duplicate.pending_choices = self.pending_choices.copy()
        duplicate.refusal_counts = self.refusal_counts.copy()
        return duplicate

    def _copy_values_to(self, duplicate: GameState) -> None:
        """Hand over each value that never changes in place."""
        duplicate.access = self.access
        duplicate.at_ms = self.at_ms
        duplicate.commitment = self.commitment
        duplicate.created_at_ms = self.created_at_ms
        duplicate.epoch = self.epoch
        duplicate.fork_origin = self.fork_origin
        duplicate.fork_turn_state = self.fork_turn_state
        duplicate.game = self.game
        duplicate.next_play_off = self.next_play_off
        duplicate.opened_at_ms = self.opened_at_ms
        duplicate.play_off = self.play_off
        duplicate.result = self.result
        duplicate.seed = self.seed
        duplicate.seed_was_named = self.seed_was_named
        duplicate.setup_digest = self.setup_digest
        duplicate.shuffle_key = self.shuffle_key
        duplicate.started = self.started
        duplicate.turn = self.turn
        duplicate.turn_order = self.turn_order


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
    """How cards and tickets are shuffled, and what commits to their order (docs/proof.md)."""

    shuffle: Callable[[GameState, Sequence[str]], tuple[str, ...]]  # cards or tickets, shuffled
    order_root: Callable[[GameState, Sequence[str]], str]  # the commitment to that order


@dataclass(frozen=True, slots=True, eq=False)
class Ruleset:
    """The rules of a game as a value, compared by identity. `version` rises when a rule's meaning changes."""

    name: str
    version: int
    default_board: str  # the board of a game that names none
    rule_options: RuleOptions
    randomness: RandomnessPolicy
    route_kinds: frozenset[str]  # the kinds of routes that it has rules for
    bot_policies: frozenset[str]  # the policies that can play it
    moves: Mapping[Choice, tuple[Move, ...]]  # by the choice that they answer
    setup: Callable[[GameState], EventStream]  # from the shuffled decks to the first choices
    # the deck when it has fewer cards than are needed
    rebuild_deck: Callable[[GameState], EventStream]
    # refuses a board that these rules can't be played on
    require_board: Callable[[RuleOptions, Board], None]
    # refuses a game whose board has too few tickets for so many seats
    require_enough_tickets: Callable[[RuleOptions, Board, int], None]
    # what goes back that a removed seat has not taken: its starting tickets, or the cards of its request
    return_untaken: Callable[[GameState, Seat], EventStream]
    # after a starting choice was made, or its seat left the game
    after_start_choice: Callable[[GameState], EventStream]
    # what a hand and a number of cars can claim
    find_payable_routes: Callable[[Hand, OpenRoutes, int, RuleOptions], PayableRoutes]
    # each refuses one kind of wrong payment
    payment_checks: tuple[Callable[[Cards, Route, RuleOptions], None], ...]
    measure_longest: Callable[[Iterable[tuple[str, str, int]]], int]  # (city, city, spaces) to spaces
    # higher wins; the first decides before the second
    tie_breaks: tuple[Callable[[SeatScore, Sequence[SeatScore]], int], ...]

    def has_command(self, command: type[Command]) -> bool:
        """Whether the command answers anything in these rules."""
        return any(move.command is command for moves in self.moves.values() for move in moves)


pickle_by_fields(Move, Ruleset)
