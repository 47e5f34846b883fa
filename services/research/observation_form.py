"""Observations and rewards: a seat's view as a row of whole numbers, a pure function of its fold; a result as a number.

Seats are counted from the observer: 0 is itself, then the others as they sit. Ids become places in the board's own order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from operator import itemgetter
from struct import pack_into
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schemas.field_types import Seat
from services.referee.games.seat_state import SeatState
from services.referee.games.state import ACTION
from services.referee.games.trains.board import ticket_decks
from services.referee.games.trains.pending_choices import MIX, SECOND_CARD, TICKETS, TUNNEL
from services.referee.games.trains.train_state import TrainGame, Tunnel

Reward = Literal["win", "points"]
Numbers: TypeAlias = NDArray[np.int16]
CHOICES: Final = (ACTION, SECOND_CARD, TICKETS, MIX, TUNNEL)
SEAT_FIELDS: Final = (
    "cards", "cars", "tickets", "points", "merchandise", "stations", "passengers_left", "is_to_act", "has_last_turn", "is_gone",
)  # fmt: skip
HELD, OFFERED = 1, 2  # tickets; of the offer the first, then 3, 4 and so on


class ObservationForm:
    """The layout of observations of one kind of game. It never changes."""

    def __init__(self, state: TrainGame) -> None:
        """The layout for games like this one, which was created."""
        rule_options, board, seats = state.rule_options, state.own.board, len(state.seats)
        self.kinds = tuple(rule_options.cards)
        self.decks = ticket_decks(rule_options)
        self._routes = {name: place for place, name in enumerate(board.routes)}
        self._cities = {name: place for place, name in enumerate(board.cities)}
        self._tickets = {name: place for place, name in enumerate(board.tickets)}
        self._one_hot = {
            card: tuple(int(card == kind) for kind in self.kinds) for card in (*self.kinds, None)
        }
        sizes = _part_sizes(state)
        ends = [0, *accumulate(sizes.values())]
        self.size = ends[-1]
        self.layout: Mapping[str, slice] = {
            name: slice(start, end) for name, (start, end) in zip(sizes, pairwise(ends), strict=True)
        }
        self._packed = f"{self.layout['routes'].start}h"
        self._counts_of = _counts_getter(self.kinds)
        self._choices = {choice: tuple(choice == each for each in CHOICES) for choice in (*CHOICES, None)}
        self._no_tunnel = [0] * sizes["tunnel"]
        self._from_seat = [(*range(seat, seats), *range(seat)) for seat in range(seats)]
        self._ranks = [[(owner - seat) % seats + 1 for owner in range(seats)] for seat in range(seats)]

    def __deepcopy__(self, memo: object) -> ObservationForm:
        """Itself, which copies of an environment share."""
        return self

    def encode(self, view: TrainGame, seat: Seat) -> Numbers:
        """The observation of this seat, `size` whole numbers laid out as `layout` says."""
        buffer = bytearray(2 * self.size)
        pack_into(self._packed, buffer, 0, *self._dense(view, seat))
        self._fill_places(memoryview(buffer).cast("h"), view, seat)
        return np.frombuffer(buffer, np.int16)

    def _dense(self, view: TrainGame, seat: Seat) -> list[int]:
        """Everything before the routes, in the order of the layout."""
        counts_of, states = self._counts_of, view.seats
        row = [*counts_of(states[seat].own.hand)]
        table = view.own
        for card in table.market:
            row += self._one_hot[card]
        row += counts_of(table.discards)
        row.append(len(table.deck))
        row += [len(table.ticket_decks.get(deck, ())) for deck in self.decks]
        row += self._choices[view.pending_choices.get(seat)]
        row.append(table.in_last_turns)
        for number in self._from_seat[seat]:
            row += _seat_numbers(view, number, states[number])
        for number in self._from_seat[seat][1:]:
            row += counts_of(states[number].own.hand)
        return row + (self._tunnel(table.tunnel) if table.tunnel else self._no_tunnel)

    def _tunnel(self, tunnel: Tunnel) -> list[int]:
        revealed = [tunnel.revealed.count(kind) for kind in self.kinds]
        return [self._routes[tunnel.route] + 1, tunnel.extra, *revealed]

    def _fill_places(self, numbers: memoryview, view: TrainGame, seat: Seat) -> None:
        """Set what isn't 0 of the places from the routes on."""
        layout, ranks, own = self.layout, self._ranks[seat], view.seats[seat].own
        routes, cities, tickets = self._routes, self._cities, self._tickets
        start = layout["routes"].start
        table = view.own
        for route, owner in table.route_owners.items():
            numbers[start + routes[route]] = ranks[owner]
        for name, owners in (
            ("stations", table.station_owners),
            ("passengers", table.passenger_owners),
        ):
            start = layout[name].start
            for city, owner in owners.items():
                numbers[start + cities[city]] = ranks[owner]
        start = layout["tokens"].start
        for city, stack in table.tokens.items():
            if stack:
                numbers[start + cities[city]] = stack[0]
        start = layout["tickets"].start
        for ticket in own.tickets:
            numbers[start + tickets[str(ticket)]] = HELD
        for place, ticket in enumerate(own.offer):
            numbers[start + tickets[str(ticket)]] = OFFERED + place


def _part_sizes(state: TrainGame) -> dict[str, int]:
    """How many numbers each part of an observation has, in order; the routes and what follows are mostly 0."""
    rule_options, board, seats = state.rule_options, state.own.board, len(state.seats)
    kinds, cities = len(rule_options.cards), len(board.cities)
    return {
        "hand": kinds,
        "market": rule_options.market * kinds,
        "discards": kinds,
        "decks": 1 + len(ticket_decks(rule_options)),
        "choice": len(CHOICES),
        "last_turns": 1,
        "seats": seats * len(SEAT_FIELDS),
        "known_cards": (seats - 1) * kinds,
        "tunnel": 2 + kinds,
        "routes": len(board.routes),
        "stations": cities if rule_options.station_costs else 0,
        "passengers": cities if rule_options.passengers else 0,
        "tokens": cities if rule_options.merchandise else 0,
        "tickets": len(board.tickets),
    }


def _counts_getter(kinds: Sequence[str]) -> Callable[[Mapping[str | None, int]], tuple[int, ...]]:
    """A function from counts of cards to those of these kinds, in their order."""
    return partial(_only_count, kinds[0]) if len(kinds) == 1 else itemgetter(*kinds)


def _only_count(kind: str, counts: Mapping[str | None, int]) -> tuple[int, ...]:
    """The count of one kind alone, of which an itemgetter gives no tuple."""
    return (counts[kind],)


def _seat_numbers(view: TrainGame, number: Seat, state: SeatState) -> tuple[int, ...]:
    """The public part of a seat, in the order of SEAT_FIELDS."""
    table = state.own
    return (
        sum(table.hand.values()),
        table.cars,
        len(table.tickets),
        table.points,
        table.merchandise,
        len(table.stations),
        table.passengers_left,
        number in view.pending_choices,
        number in view.own.seats_with_last_turn,
        state.exit_reason is not None,
    )


def final_rewards(state: TrainGame, reward: Reward) -> list[float]:
    """By seat of a game that is over: its points, or an equal share of 1 among the winners."""
    assert state.result is not None, "the game is over"
    scores = sorted(state.result.scores, key=lambda score: score.seat)
    if reward == "points":
        return [float(score.total) for score in scores]
    winners = sum(score.place == 1 for score in scores)
    return [(score.place == 1) / winners for score in scores]
