"""What the state of a train game has beside the kernel's: its board, piles, routes and pieces, and those of its seats.

In a viewer's state, cards that the viewer may not see are HIDDEN (None), counted like any other
kind. A seat that pays with cards which were drawn face down therefore has a negative count of them
and a larger one of HIDDEN: only the sum, its number of cards, means anything then.

Packed, that is plain values of half the size, without the board, which many games share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

from schemas.field_types import HIDDEN, Seat
from schemas.registry import OfItsGame
from schemas.trains.commands import ClaimRoute
from schemas.trains.field_types import COLORS, LOCOMOTIVE
from schemas.trains.rule_options import RuleOptions
from services.referee.games.state import (
    EventStream,
    GameState,
    Packing,
    Ruleset,
    copy_fields,
    pickle_by_fields,
)
from services.referee.games.trains import board as boards
from services.referee.games.trains.board import Board, Fare, Route, is_built_in

SECOND_CARD: Final = "second card"
TICKETS: Final = "tickets"
MIX: Final = "mix"  # how many starting tickets of each deck
TUNNEL: Final = "tunnel"


Cards: TypeAlias = Mapping[str, int]
Hand: TypeAlias = dict[str | None, int]
OpenRoutes: TypeAlias = dict[Fare, tuple[str, ...]]
PayableRoutes: TypeAlias = list[tuple[tuple[str, ...], Sequence[dict[str, ClaimRoute]]]]


class Tunnel(NamedTuple):
    """A tunnel that was begun in this turn (TUNNEL-1)."""

    route: str
    cards: Mapping[str, int]  # the base payment
    revealed: tuple[str, ...]
    extra: int


TRAIN_FIELDS: Final = (
    "board",
    "closes_parallels",
    "deck",
    "discards",
    "in_last_turns",
    "market",
    "open_routes",
    "passenger_owners",
    "position_starter",
    "route_owners",
    "seats_passed",
    "seats_with_last_turn",
    "station_owners",
    "ticket_decks",
    "tokens",
    "tunnel",
    "untaken",
)


class TrainState:
    """The table of a train game. Changed only by the appliers."""

    __slots__ = TRAIN_FIELDS

    # no `__init__` with arguments: of a compiled class, `__new__` would want them, for copies and pickle too
    def lay(self, board: Board, rule_options: RuleOptions, seat_count: int) -> None:
        """The table as a game's creation makes it: nothing is shuffled or claimed."""
        self.board = board
        self.position_starter: Seat | None = None  # who begins, if a position is past the deal
        self.deck: list[str | None] = []  # the top is the last
        self.discards: dict[str | None, int] = dict(rule_options.cards.items())  # until they are shuffled
        self.market: list[str | None] = [None] * rule_options.market  # None is a gap: none is hidden
        self.ticket_decks: dict[str, list[str | None]] = {}  # the top is the last
        self.route_owners: dict[str, Seat] = {}
        self.open_routes: dict[Fare, tuple[str, ...]] = dict(board.fares)  # claimable, shortest first
        self.closes_parallels = boards.closes_parallels(rule_options, seat_count)  # (DOUBLE-2)
        self.tunnel: Tunnel | None = None
        self.station_owners: dict[str, Seat] = {}  # by city
        self.passenger_owners: dict[str, Seat] = {}  # by city
        self.tokens = boards.initial_tokens(rule_options, board)  # by city, the top first
        self.in_last_turns = False
        self.seats_with_last_turn: set[Seat] = set()  # whose last turn is still to come (END-1)
        # the last request and its cards, the top first, until the next seat has acted (CONDUCT-2)
        self.untaken: tuple[Seat, tuple[str | None, ...]] | None = None
        self.seats_passed: set[Seat] = set()  # whose turns changed nothing since the last change (END-2, 3)

    def copy(self) -> TrainState:
        """A copy that shares no mutable part with this one."""
        duplicate = TrainState()
        copy_fields(self, duplicate, TRAIN_FIELDS)
        duplicate.ticket_decks = {name: deck[:] for name, deck in self.ticket_decks.items()}
        return duplicate


TRAIN_SEAT_FIELDS: Final = (
    "blocked_parallels",
    "cars",
    "hand",
    "merchandise",
    "min_keep",
    "offer",
    "passengers_left",
    "points",
    "requested_mix",
    "routes",
    "start_tickets_chosen",
    "stations",
    "tickets",
)


class TrainSeat:
    """One seat's cards, tickets, pieces and points in a train game. Changed only by the appliers."""

    __slots__ = TRAIN_SEAT_FIELDS

    def lay(self, rule_options: RuleOptions) -> None:
        """The seat as a game's creation makes it: it has all its pieces, and no card."""
        card_kinds = (*rule_options.cards, *COLORS, LOCOMOTIVE, HIDDEN)  # the deck may lack some of them
        self.hand: dict[str | None, int] = dict.fromkeys(card_kinds, 0)
        self.cars = rule_options.cars
        self.tickets: list[str | None] = []
        self.offer: list[str | None] = []  # tickets to choose from, then those to give back
        self.start_tickets_chosen = False
        self.min_keep = 0  # how many tickets of the offer must be kept
        self.requested_mix: Mapping[str, int] | None = None  # named, not dealt yet; empty where hidden
        self.routes: list[str] = []
        self.blocked_parallels: set[str] = set()  # routes parallel to its own (DOUBLE-1)
        self.stations: dict[str, str | None] = {}  # city to the neighbour named for it (STATION-3)
        self.passengers_left = rule_options.passengers  # still to be placed
        self.merchandise = 0  # points of the tokens that it collected
        self.points = 0  # of its routes, where these score at once

    @property
    def cards(self) -> int:
        """The number of cards that the seat holds."""
        return sum(self.hand.values())

    @property
    def running_score(self) -> int:
        """The points that the seat has so far: for routes, where they score at once, and for merchandise."""
        return self.points + self.merchandise

    def copy(self) -> TrainSeat:
        """A copy that shares no mutable part with this one."""
        duplicate = TrainSeat()
        duplicate.hand, duplicate.cars = self.hand.copy(), self.cars
        duplicate.tickets, duplicate.offer = self.tickets[:], self.offer[:]
        duplicate.start_tickets_chosen, duplicate.min_keep = self.start_tickets_chosen, self.min_keep
        duplicate.requested_mix = self.requested_mix
        duplicate.routes, duplicate.blocked_parallels = self.routes[:], self.blocked_parallels.copy()
        duplicate.stations, duplicate.passengers_left = self.stations.copy(), self.passengers_left
        duplicate.merchandise, duplicate.points = self.merchandise, self.points
        return duplicate


@dataclass(frozen=True, slots=True, eq=False)
class TrainParts:
    """What differs between the rulesets of train games."""

    route_kinds: frozenset[str]  # the kinds of routes that it has rules for
    deal: Callable[[TrainGame], EventStream]  # from hands and market to the first choices
    # the deck when it has fewer cards than are needed
    rebuild_deck: Callable[[TrainGame], EventStream]
    # refuses a board that these rules can't be played on
    require_board: Callable[[RuleOptions, Board], None]
    # refuses a game whose board has too few tickets for so many seats
    require_enough_tickets: Callable[[RuleOptions, Board, int], None]
    # what goes back that a removed seat has not taken: its starting tickets, or the cards of its request
    return_untaken: Callable[[TrainGame, Seat], EventStream]
    # after a starting choice was made, or its seat left the game
    after_start_choice: Callable[[TrainGame], EventStream]
    # what a hand and a number of cars can claim
    find_payable_routes: Callable[[Hand, OpenRoutes, int, RuleOptions], PayableRoutes]
    # each refuses one kind of wrong payment
    payment_checks: tuple[Callable[[Cards, Route, RuleOptions], None], ...]
    measure_longest: Callable[[Iterable[tuple[str, str, int]]], int]  # (city, city, spaces) to spaces
    tie_breaks: tuple[str, ...]  # of scoring.TIE_BREAKS: the first decides before the second


TrainGame: TypeAlias = GameState[TrainState, TrainSeat, RuleOptions, TrainParts]
TrainRuleset: TypeAlias = "Ruleset[TrainParts]"  # compiled, that class takes no parameters

pickle_by_fields(TrainParts)


# Bytes, measured on the golden games at three moments of each: within a third of what unpacked ones take.
FARE_BYTES: Final = 64  # of the board
PART_BYTES: Final = 20  # of a seat's route, or of a card of a pile
BOARD_PART_BYTES: Final = 1_024  # of a board, for each city, route and ticket

OWN_FIELDS: Final = tuple(name for name in TRAIN_FIELDS if name != "board")
_own_fields_of = attrgetter(*OWN_FIELDS)
_seat_fields_of = attrgetter(*TRAIN_SEAT_FIELDS)


def _values_of(state: TrainGame) -> object:
    return _own_fields_of(state.own), [_seat_fields_of(seat_state.own) for seat_state in state.seats]


def _restore(state: TrainGame, board: Board, values: tuple[Sequence[OfItsGame], Sequence[OfItsGame]]) -> None:
    """The names of its board stand in place of equal strings: so it takes half of the memory."""
    fields, seats = values
    own, name_of = TrainState(), _names_of(board).get
    state.own, own.board = own, board
    _set_fields(own, OWN_FIELDS, fields)
    own.deck = [*map(name_of, own.deck, own.deck)]
    own.ticket_decks = {name: [*map(name_of, deck, deck)] for name, deck in own.ticket_decks.items()}
    own.route_owners = {name_of(route, route): seat for route, seat in own.route_owners.items()}
    own.open_routes = {
        fare: whole if routes == whole else (*map(name_of, routes, routes),)
        for (fare, whole), routes in zip(board.fares.items(), own.open_routes.values(), strict=False)
    }
    for seat_state, held_values in zip(state.seats, seats, strict=True):
        seat_state.own = held = TrainSeat()
        _set_fields(held, TRAIN_SEAT_FIELDS, held_values)
        held.hand = {name_of(card, card): count for card, count in held.hand.items()}
        held.tickets = [*map(name_of, held.tickets, held.tickets)]
        held.routes = [*map(name_of, held.routes, held.routes)]
        held.blocked_parallels = {*map(name_of, held.blocked_parallels, held.blocked_parallels)}


def _set_fields(target: object, names: Sequence[str], values: Sequence[object]) -> None:
    for name, value in zip(names, values, strict=True):
        setattr(target, name, value)


@lru_cache(maxsize=64)
def _names_of(board: Board) -> dict[str | None, str]:
    """The board's names and the cards', each by itself."""
    return {name: name for name in (*board.routes, *board.tickets, *board.cities, *COLORS, LOCOMOTIVE)}


def _size_bytes(state: TrainGame) -> int:
    piles: list[Sized] = [state.own.deck, *state.own.ticket_decks.values()]
    for seat_state in state.seats:
        piles += (seat_state.own.tickets, seat_state.own.routes)
    return FARE_BYTES * len(state.own.board.fares) + PART_BYTES * sum(map(len, piles))


def _board_bytes(board: Board) -> int:
    """About how much memory a board takes that isn't loaded anyway: of a built-in one the tickets that a game brings."""
    if is_built_in(board):
        return 0 if boards.load_board(board.id) is board else BOARD_PART_BYTES * len(board.tickets)
    return BOARD_PART_BYTES * (len(board.cities) + len(board.routes) + len(board.tickets))


def _board_of(state: TrainGame) -> Board:
    return state.own.board


TRAIN_PACKING: Final = Packing(_board_of, _values_of, _restore, _size_bytes, _board_bytes)
