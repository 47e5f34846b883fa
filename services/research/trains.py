"""What an agent sees and does in train games, as numbers: a seat's view as a row, and the list of all commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, combinations, pairwise
from operator import itemgetter
from struct import pack_into
from typing import Final

import numpy as np

from schemas.commands import Command, Pass
from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from schemas.published_contracts import COMMANDS
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    PayTunnel,
    RequestCards,
)
from schemas.trains.field_types import LOCOMOTIVE, PLUS_FOUR
from schemas.trains.rule_options import RuleOptions
from services.referee.games.state import ACTION, Ruleset, SeatState
from services.referee.games.trains.board import ticket_decks
from services.referee.games.trains.train_state import (
    MIX,
    SECOND_CARD,
    TICKETS,
    TUNNEL,
    TrainGame,
    TrainState,
    Tunnel,
)
from services.research.parts_form import OWN_FORMS, CandidateActions, GameForms, Numbers

FIXED_COMMANDS: Final = frozenset(
    (DrawBlind, DrawMarket, DrawTickets, KeepTickets, ClaimRoute, RequestCards, Pass)
)
WILD_CARDS: Final = (LOCOMOTIVE, PLUS_FOUR)
_CODES: Final = {cls: cls.code for cls in COMMANDS if isinstance(cls.code, int)}
PLENTY: Final = 100  # of every kind of card
FEATURES: Final = (
    "command", "route", "city", "colour", "coloured", "locomotives", "plus_fours", "slot", "tickets", "routes",
)  # fmt: skip


class TrainActions(CandidateActions):
    """The candidates of a train game."""

    def __init__(self, state: TrainGame, size: int) -> None:
        super().__init__(size)
        table = state.own
        self._routes = {name: place + 1 for place, name in enumerate(table.board.routes)}
        self._cities = {name: place + 1 for place, name in enumerate(table.board.cities)}
        self._kinds = {name: place + 1 for place, name in enumerate(state.rule_options.cards)}
        self._decks = {deck: 10**place for place, deck in enumerate(ticket_decks(state.rule_options))}

    def _describe(self, command: Command) -> tuple[int, ...]:
        """The row of a command, in the order of FEATURES."""
        route = city = slot = tickets = routes = 0
        cards: Mapping[str, int] = {}
        if isinstance(command, ClaimRoute):
            route, cards = self._routes[command.route], command.cards
            city = self._cities[command.passenger] if command.passenger else 0
        elif isinstance(command, BuildStation):
            city, cards = self._cities[command.city], command.cards
        elif isinstance(command, PayTunnel):
            cards = command.cards
        elif isinstance(command, DrawMarket):
            slot = 0 if command.slot is None else command.slot + 1
        elif isinstance(command, KeepTickets):
            tickets = sum(1 << place for place in command.keep)
        elif isinstance(command, DrawTickets):
            tickets = sum(count * self._decks[deck] for deck, count in (command.decks or {}).items())
        elif isinstance(command, MovePassenger):
            city, route, routes = (
                self._cities[command.city],
                self._routes[command.path[-1]],
                len(command.path),
            )
        colour = coloured = 0
        for card in cards:
            if card not in WILD_CARDS:
                colour, coloured = self._kinds[card], cards[card]
        wild = cards.get(LOCOMOTIVE, 0), cards.get(PLUS_FOUR, 0)
        return (_CODES[command.__class__], route, city, colour, coloured, *wild, slot, tickets, routes)


def every_command(state: TrainGame) -> tuple[Command, ...]:
    """Every command that a seat of such a game may ever give, but leaving. Raises InvalidInputError: its rules have commands
    that no list can have."""
    answers = {move.command for moves in state.ruleset.moves.values() for move in moves}
    if not answers <= FIXED_COMMANDS:
        reason = f"the rules {state.ruleset.name} have no fixed list; take 'candidates'"
        raise InvalidInputError("actions", reason)
    return tuple(_every_command(state, answers))


def _every_command(state: TrainGame, answers: set[type[Command]]) -> Iterator[Command]:
    rule_options = state.rule_options
    yield from (cls() for cls in (DrawBlind, RequestCards, Pass) if cls in answers)
    if DrawMarket in answers:
        yield from (DrawMarket(slot) for slot in range(rule_options.market))
    if DrawTickets in answers:
        yield DrawTickets()
    yield from _every_keeping(rule_options)
    yield from every_claim(state.ruleset, state, rule_options)


def _every_keeping(rule_options: RuleOptions) -> Iterator[KeepTickets]:
    offered = max(sum(rule_options.start_tickets.values()), sum(rule_options.draw_tickets.values()))
    for size in range(offered + 1):
        yield from (KeepTickets(keep) for keep in combinations(range(offered), size))


def every_claim(ruleset: Ruleset, state: TrainGame, rule_options: RuleOptions) -> Iterator[ClaimRoute]:
    """Every route of the board with every way to pay for it."""
    hand = dict.fromkeys(state.seats[0].own.hand, PLENTY)
    for routes, ways in ruleset.parts.find_payable_routes(
        hand, dict(state.own.board.fares), PLENTY, rule_options
    ):
        yield from (claims[route] for route in routes for claims in ways)


CHOICES: Final = (ACTION, SECOND_CARD, TICKETS, MIX, TUNNEL)
SEAT_FIELDS: Final = (
    "cards", "cars", "tickets", "points", "merchandise", "stations", "passengers_left", "is_to_act", "has_last_turn", "is_gone",
)  # fmt: skip
HELD, OFFERED = 1, 2  # tickets; of the offer the first, then 3, 4 and so on


class TrainObservation:
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

    def __deepcopy__(self, memo: object) -> TrainObservation:
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


def describe_seats(views: Sequence[TrainGame]) -> str:
    """The public part of the seats, one line for each."""
    own = (view.seats[seat].own for seat, view in enumerate(views))
    return "\n".join(
        f"seat_{seat}: {each.running_score} points, {each.cars} cars, {each.cards} cards, {len(each.tickets)} tickets"
        for seat, each in enumerate(own)
    )


OWN_FORMS[TrainState] = GameForms(TrainObservation, TrainActions, every_command, describe_seats)
