"""The table: what a fold over a game's events amounts to.

The referee's table knows everything; a viewer's is the same fold over the events as that
viewer sees them, so its hidden cards are HIDDEN (None), counted like any other kind. A
seat that pays with cards which were drawn face down therefore has a negative count of
them and a larger one of HIDDEN: only the sum, its number of cards, means anything then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from schemas.commands import PlayOff
from schemas.events import GameEnded, PlayOffCalled
from schemas.field_types import COLORS, HIDDEN, LOCOMOTIVE, Seat
from schemas.rule_options import GoneBecause, Parameters

if TYPE_CHECKING:
    from services.referee.rules.board import Board, Fare
    from services.referee.rules.ruleset import Ruleset

Choice = Literal["action", "second card", "tickets", "mix", "tunnel"]
Moment = tuple[Seat | None, tuple[tuple[Seat, Choice, int | None], ...]]  # turn, awaits, milliseconds left
ACTION: Final = "action"
SECOND_CARD: Final = "second card"
TICKETS: Final = "tickets"
MIX: Final = "mix"  # how many starting tickets of each deck
TUNNEL: Final = "tunnel"


class Tunnel(NamedTuple):
    """A tunnel that was begun this turn."""

    route: str
    cards: Mapping[str, int]  # the base payment
    revealed: tuple[str, ...]
    extra: int


class Place:
    """A seat and what lies before it."""

    __slots__ = (
        "age", "barred", "cars", "chosen", "clock_ms", "contribution", "gone", "hand", "kind", "least", "luck", "merchandise", "mix",
        "name", "offer", "passengers", "points", "policy", "routes", "stations", "taken", "tickets",
        "until",
    )  # fmt: skip

    def __init__(self, kind: str, name: str, policy: str | None, figures: Parameters) -> None:
        self.kind, self.name, self.policy = kind, name, policy
        self.taken = False
        self.age: int | None = None
        self.luck: str | None = None
        self.contribution: str | None = None  # to all chance of the game
        kinds = (*figures.cards, *COLORS, LOCOMOTIVE, HIDDEN)  # a deck need not have them all
        self.hand: dict[str | None, int] = dict.fromkeys(kinds, 0)
        self.cars = figures.cars
        self.tickets: list[str | None] = []
        self.offer: list[str | None] = []  # tickets to choose from, or to give back
        self.chosen = False  # its starting tickets
        self.least = 0  # how many of the offer must be kept
        self.mix: Mapping[str, int] | None = None  # named, and not dealt yet; empty for a viewer
        self.routes: list[str] = []
        self.barred: set[str] = set()  # routes parallel to its own (DOUBLE-1)
        self.stations: dict[str, str | None] = {}  # city to the neighbour that was named
        self.passengers = figures.passengers  # still to be placed
        self.merchandise = 0  # points of its tokens
        self.points = 0
        self.clock_ms = figures.clock_ms or 0
        self.until: int | None = None  # like `at`: the end of its time for what it was last waited for
        self.gone: GoneBecause | None = None

    @property
    def cards(self) -> int:
        """How many cards the seat holds."""
        return sum(self.hand.values())

    def copy(self) -> Place:
        other = copy(self)
        other.hand, other.tickets, other.offer = self.hand.copy(), self.tickets[:], self.offer[:]
        other.routes, other.barred = self.routes[:], self.barred.copy()
        other.stations = self.stations.copy()
        return other


class Table:
    """One game at one moment. Made by `fold`, changed only by `evolve`."""

    __slots__ = (
        "at", "awaits", "board", "called", "closing", "commitment", "created", "deck", "discards", "ending",
        "epoch", "figures", "forked", "game", "given", "key", "laid", "last", "market", "moment", "open", "opened",
        "order", "over", "owners",
        "passed", "passengers", "places", "play_off", "refusals", "rules", "seed", "started", "stations",
        "terms", "ticket_decks", "tokens", "tunnel", "turn",
    )  # fmt: skip

    rules: Ruleset
    figures: Parameters
    board: Board

    def __init__(self) -> None:
        self.game = ""  # empty until the game is created
        self.at = 0  # milliseconds since the game was opened, at its last entry
        self.opened = 0  # milliseconds of the house's own time
        self.created = 0  # milliseconds since 1970, for people to read
        self.places: list[Place] = []
        self.started = False
        self.laid: Seat | None = None  # who begins, where the game starts from a position
        self.forked: tuple[str, int] | None = None  # the game that this one goes on from, and the entry there
        self.moment: Moment | None = None  # what is going on once a fork is started
        self.order: tuple[Seat, ...] = ()  # of the turns
        self.deck: list[str | None] = []  # the top is the last
        self.discards: dict[str | None, int] = {}
        self.market: list[str | None] = []  # None is a gap: face-up cards are never hidden
        self.ticket_decks: dict[str, list[str | None]] = {}  # the top is the last
        self.owners: dict[str, Seat] = {}
        self.open: dict[Fare, dict[str, None]] = {}  # claimable routes by fare, shortest first
        self.closing = False  # parallel routes close (DOUBLE-2)
        self.tunnel: Tunnel | None = None
        self.stations: dict[str, Seat] = {}  # by city
        self.passengers: dict[str, Seat] = {}  # by city
        self.tokens: dict[str, tuple[int, ...]] = {}  # by city, the top first
        self.turn: Seat | None = None
        self.awaits: dict[Seat, Choice] = {}  # whom the table waits for, and what they decide
        self.ending = False
        self.last: set[Seat] = set()  # who has a last turn to come (END-1)
        self.passed: set[Seat] = set()  # whose turn changed nothing since anything did (END-2, END-3)
        self.refusals: dict[Seat | None, int] = {}  # since the turn started
        self.over: GameEnded | None = None
        self.play_off: PlayOff | None = None  # which this game is part of
        self.called: PlayOffCalled | None = None  # the game that follows from this one
        self.commitment = ""
        self.given = False  # the seed was named by whoever created the game
        self.seed: str | None = None
        self.terms = ""  # a digest of what game it is: see dealing.py
        self.key = ""  # what all shuffles of the play follow from; only the referee has it
        self.epoch = 0  # shuffles so far

    @property
    def playing(self) -> list[Seat]:
        """The seats that take part, in order."""
        return [seat for seat in self.order if self.places[seat].gone is None]

    def following(self, seat: Seat) -> Iterable[Seat]:
        """Every seat once, in turn order, from the one after `seat` to itself."""
        after = self.order.index(seat) + 1
        return (*self.order[after:], *self.order[:after])

    def out_of_time(self, seat: Seat) -> bool:
        """Whether the time of a seat that is waited for was over at the last entry (CLOCK-2)."""
        until = self.places[seat].until
        return until is not None and until <= self.at

    def next_deadline(self) -> tuple[int, Seat] | None:
        """When the first of the seats that are waited for runs out of time, and which; the
        time counts like `at`. None where nobody does."""
        first = None
        for seat in self.awaits:
            until = self.places[seat].until
            if until is not None and (first is None or (until, seat) < first):
                first = until, seat
        return first

    def branch(self) -> Table:
        """A copy that may go its own way."""
        other = copy(self)
        other.places = [place.copy() for place in self.places]
        other.deck, other.market = self.deck[:], self.market[:]
        other.discards, other.owners = self.discards.copy(), self.owners.copy()
        other.ticket_decks = {name: deck[:] for name, deck in self.ticket_decks.items()}
        other.open = {fare: routes.copy() for fare, routes in self.open.items()}
        other.stations, other.passengers = self.stations.copy(), self.passengers.copy()
        other.tokens = self.tokens.copy()
        other.awaits, other.last, other.passed = self.awaits.copy(), self.last.copy(), self.passed.copy()
        other.refusals = self.refusals.copy()
        return other
