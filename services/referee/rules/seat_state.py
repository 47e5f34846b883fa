"""The state of one seat: its cards, tickets, pieces and points.

In a viewer's state, cards that the viewer may not see are HIDDEN (None), counted like any other
kind. A seat that pays with cards which were drawn face down therefore has a negative count of them
and a larger one of HIDDEN: only the sum, its number of cards, means anything then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from schemas.field_types import COLORS, HIDDEN, LOCOMOTIVE
from schemas.rule_options import ExitReason, RuleOptions

SEAT_FIELDS: Final = (
    "age",
    "blocked_parallels",
    "cars",
    "clock_ms",
    "contribution",
    "deadline_ms",
    "exit_reason",
    "freed_at_ms",
    "hand",
    "is_seated",
    "kind",
    "merchandise",
    "min_keep",
    "name",
    "name_commitment",
    "offer",
    "passengers_left",
    "points",
    "policy",
    "requested_mix",
    "routes",
    "seat_secret",
    "start_tickets_chosen",
    "stations",
    "tickets",
    "times_freed",
)


class SeatState:
    """One seat of a game. Changed only by the appliers."""

    __slots__ = SEAT_FIELDS

    def __init__(
        self,
        kind: str = "",
        name: str = "",
        policy: str | None = None,
        rule_options: RuleOptions | None = None,
    ) -> None:
        """A seat as a game's creation makes it; without `rule_options` one whose fields are set afterwards."""
        self.kind, self.name, self.policy = kind, name, policy
        self.name_commitment: str | None = None  # to the name, which is empty where it isn't known
        self.is_seated = False
        self.times_freed = 0  # before the start, by the host
        self.freed_at_ms = 0  # like `at_ms`: when it was freed last
        self.age: int | None = None
        self.seat_secret: str | None = None
        self.contribution: str | None = None  # to the game's shuffle key
        self.hand: dict[str | None, int] = {}
        self.cars = 0
        self.tickets: list[str | None] = []
        self.offer: list[str | None] = []  # tickets to choose from, then those to give back
        self.start_tickets_chosen = False
        self.min_keep = 0  # how many tickets of the offer must be kept
        self.requested_mix: Mapping[str, int] | None = None  # named, not dealt yet; empty where hidden
        self.routes: list[str] = []
        self.blocked_parallels: set[str] = set()  # routes parallel to its own (DOUBLE-1)
        self.stations: dict[str, str | None] = {}  # city to the neighbour named for it (STATION-3)
        self.passengers_left = 0  # still to be placed
        self.merchandise = 0  # points of the tokens that it collected
        self.points = 0  # of its routes, where these score at once
        self.clock_ms = 0
        self.deadline_ms: int | None = None  # like `at_ms`: when the time for its last pending choice ends
        self.exit_reason: ExitReason | None = None
        if rule_options is not None:
            card_kinds = (*rule_options.cards, *COLORS, LOCOMOTIVE, HIDDEN)  # the deck may lack some of them
            self.hand = dict.fromkeys(card_kinds, 0)
            self.cars, self.passengers_left = rule_options.cars, rule_options.passengers
            self.clock_ms = rule_options.clock_ms or 0

    @property
    def cards(self) -> int:
        """The number of cards that the seat holds."""
        return sum(self.hand.values())

    @property
    def running_score(self) -> int:
        """The points that the seat has so far: for routes, where they score at once, and for merchandise."""
        return self.points + self.merchandise

    def copy(self) -> SeatState:
        """A copy that shares no mutable part with this one."""
        duplicate = SeatState(self.kind, self.name, self.policy)
        duplicate.hand, duplicate.tickets, duplicate.offer = self.hand.copy(), self.tickets[:], self.offer[:]
        duplicate.routes, duplicate.blocked_parallels = self.routes[:], self.blocked_parallels.copy()
        duplicate.stations = self.stations.copy()
        duplicate.age = self.age
        duplicate.cars = self.cars
        duplicate.clock_ms = self.clock_ms
        duplicate.contribution = self.contribution
        duplicate.deadline_ms = self.deadline_ms
        duplicate.exit_reason = self.exit_reason
        duplicate.freed_at_ms, duplicate.times_freed = self.freed_at_ms, self.times_freed
        duplicate.is_seated = self.is_seated
        duplicate.merchandise = self.merchandise
        duplicate.min_keep = self.min_keep
        duplicate.name_commitment = self.name_commitment
        duplicate.passengers_left = self.passengers_left
        duplicate.points = self.points
        duplicate.requested_mix = self.requested_mix
        duplicate.seat_secret = self.seat_secret
        duplicate.start_tickets_chosen = self.start_tickets_chosen
        return duplicate
