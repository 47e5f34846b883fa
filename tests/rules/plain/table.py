"""The table as the plain referee knows it, the events that it reads next, and the differences it finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from tests.rules.plain.board import Board
from tests.rules.plain.deal import counted, in_card_order, shuffled
from tests.rules.plain.pages import Page

Event: TypeAlias = Mapping[str, Any]
Choice: TypeAlias = Literal["action", "second card", "tickets", "tunnel", "mix"]
LOCOMOTIVE = "locomotive"


class Difference(NamedTuple):
    """What a game's log has otherwise than the rule pages."""

    entry: int  # from 1, as in the log
    rule: str
    says: str


class UnreadableGameError(Exception):
    """Something is there that no reading of the pages can go on from; the difference is noted."""


@dataclass
class SeatAtTable:
    """What one seat has. `tickets` are ids, None for one that nobody is ever shown."""

    cars: int
    shown: Sequence[str] | None  # its tickets in the order kept, as the end shows them
    passengers: int
    hand: Counter[str] = field(default_factory=Counter)
    tickets: list[str | None] = field(default_factory=list)
    offer: list[tuple[str, str | None]] = field(default_factory=list)  # decks and tickets
    last_kept: list[str | None] = field(default_factory=list)  # of the offer
    merchandise: int = 0
    points: int = 0  # as they were scored along the way
    stations: dict[str, str | None] = field(default_factory=dict)  # cities, and the neighbours named
    gone: str | None = None
    cleared: bool = False
    spent_ms: int = 0


@dataclass
class Tunnel:
    route: str
    cards: Counter[str]
    revealed: list[str]
    extra: int


@dataclass
class Table:
    """Everything on the table; decks from the top."""

    created: Event
    commitment: str  # to the seed
    board: Board
    options: Mapping[str, Any]
    page: Page
    key: bytes
    seats: list[SeatAtTable]
    order: list[int] = field(default_factory=list)
    deck: list[str] = field(default_factory=list)
    discards: Counter[str] = field(default_factory=Counter)
    market: list[str | None] = field(default_factory=list)
    ticket_decks: dict[str, list[str | None]] = field(default_factory=dict)
    owners: dict[str, int] = field(default_factory=dict)
    station_owners: dict[str, int] = field(default_factory=dict)
    passengers: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, list[int]] = field(default_factory=dict)
    waits: dict[int, tuple[Choice, int]] = field(default_factory=dict)  # whom for, for what, since when
    turn: int | None = None
    named: set[int] = field(default_factory=set)  # who has named a mix, and waits for the others
    tunnel: Tunnel | None = None
    last: list[int] | None = None  # who has a last turn to come
    passed: set[int] = field(default_factory=set)  # one after the other
    unmet: set[int] = field(default_factory=set)  # who asked for cards in vain, one after the other
    untaken: tuple[int, list[str]] | None = None  # the last request, until the next seat has acted
    shuffles: int = 0
    over: bool = False
    reason: str = ""  # for which it is over
    at_ms: int = 0
    entry: int = 0
    events: Sequence[Event] = ()
    read: int = 0  # of the entry's events
    differences: list[Difference] = field(default_factory=list)

    # -- reading ------------------------------------------------------------------------------

    def next_type(self, ahead: int = 0) -> str | None:
        """The type of the event to come; None at the entry's end."""
        place = self.read + ahead
        return self.events[place]["type"] if place < len(self.events) else None

    def take(self, kind: str, rule: str) -> Event:
        """The next event, which has to be of this type."""
        if self.next_type() != kind:
            self.stop(rule, f"{kind} is due, not {self.next_type()}")
        self.read += 1
        return self.events[self.read - 1]

    def differ(self, rule: str, says: str) -> None:
        self.differences.append(Difference(self.entry, rule, says))

    def stop(self, rule: str, says: str) -> None:
        self.differ(rule, says)
        raise UnreadableGameError(says)

    def need(self, holds: object, rule: str, says: str) -> None:
        if not holds:
            self.differ(rule, says)

    def same(self, rule: str, what: str, found: object, due: object) -> None:
        if found != due:
            self.differ(rule, f"{what}: {found}, not {due}")

    # -- the piles ----------------------------------------------------------------------------

    def shuffle(self, items: Sequence[str]) -> list[str]:
        self.shuffles += 1
        return shuffled(items, self.key, self.shuffles - 1)

    def shuffle_cards(self, cards: Counter[str], kind: str, rule: str) -> list[str]:
        """The cards in a new order; the log must have that event there."""
        event = self.take(kind, rule)
        self.same(rule, "cards shuffled", len(event["order"]), cards.total())
        return self.shuffle(in_card_order(cards))

    def shuffle_tickets(self, deck: str, rule: str) -> None:
        """A deck of tickets in a new order; an unknown one if one of its tickets is unknown."""
        event, row = self.take("tickets_shuffled", rule), self.ticket_decks[deck]
        self.same(rule, "deck of tickets", event["deck"], deck)
        self.same(rule, "tickets shuffled", len(event["order"]), len(row))
        known = sorted(ticket for ticket in row if ticket)
        order = self.shuffle(known)
        self.ticket_decks[deck] = [*order] if len(known) == len(row) else [None] * len(row)

    def pay(self, seat: int, cards: Mapping[str, int], rule: str) -> None:
        """The seat's cards go to the discards, or out of the game."""
        at = self.seats[seat]
        self.need(Counter(cards) <= at.hand, rule, f"seat {seat} pays {cards} out of {dict(at.hand)}")
        at.hand = at.hand - Counter(cards)
        if self.page.paid_cards_are_discarded:
            self.discards.update(cards)

    def remaining(self) -> list[int]:
        """The seats that still take part, in turn order."""
        return [seat for seat in self.order if not self.seats[seat].gone]

    def changed(self) -> None:
        """Something was done: rounds of passes, and of vain requests, begin anew."""
        self.passed.clear()
        self.unmet.clear()

    def market_count(self) -> Counter[str]:
        return counted(self.market)
