"""Claiming routes (ROUTE-*, DOUBLE-*), and tunnels, where turned-up cards may raise the price (TUNNEL-*).

Building stations (STATION-1, STATION-2); what they lend is decided at the end (scoring.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError, require
from schemas.trains.commands import BuildStation, ClaimRoute, DeclineTunnel, PayTunnel
from schemas.trains.events import PassengerPlaced, RouteClaimed, StationBuilt, TunnelDeclined, TunnelRevealed
from schemas.trains.field_types import COLORS, LOCOMOTIVE
from services.referee.games.state import EventStream, Move, SeatState
from services.referee.games.trains.board import GRAY, Route, neighbours, points_for_route
from services.referee.games.trains.moves.passengers import placement_offers, require_placeable
from services.referee.games.trains.moves.payment import (
    WILD_CARDS,
    format_cards,
    gray_ways,
    is_one_colour_payment,
    require_held,
)
from services.referee.games.trains.moves.turns import end_turn, ensure_deck
from services.referee.games.trains.train_state import Cards, OpenRoutes, TrainGame, Tunnel


def complete_claim(
    state: TrainGame, seat: Seat, route: Route, cards: Cards, passenger: str | None
) -> EventStream:
    """The seat gets the route, places a passenger in the city `passenger` if given, and ends its turn."""
    points = points_for_route(state.rule_options, route) if state.rule_options.points_at_once else 0
    yield RouteClaimed(seat, route.id, cards, points)
    if passenger is not None:
        yield PassengerPlaced(seat, passenger)
    yield from end_turn(state, seat)


TUNNEL_KIND: Final = "tunnel"


def begin_tunnel(state: TrainGame, seat: Seat, route: Route, cards: Cards) -> EventStream:
    """Turn up cards for a base payment; with nothing more to pay the route is claimed (TUNNEL-1)."""
    yield from ensure_deck(state, state.rule_options.tunnel_cards)
    top_cards = state.own.deck[: -state.rule_options.tunnel_cards - 1 : -1]
    revealed = tuple(card for card in top_cards if card is not None)
    extra = extra_cost(cards, revealed)
    yield TunnelRevealed(seat, route.id, cards, revealed, extra)
    if not extra:
        yield from complete_claim(state, seat, route, cards, None)


def extra_cost(cards: Cards, revealed: Sequence[str]) -> int:
    """Count the extra cards of a tunnel: one for each turned-up card of the played colour, and one for
    each locomotive. If only locomotives were played, only locomotives count (TUNNEL-2)."""
    return sum(card in cards or card == LOCOMOTIVE for card in revealed)


def pay_offers(state: TrainGame, seat: Seat) -> Sequence[PayTunnel]:
    """Every way to pay the extra with cards that aren't reserved for the base payment."""
    tunnel, hand = pending_tunnel(state), state.seats[seat].own.hand
    remaining_cards = tuple((card, hand[card] - tunnel.cards.get(card, 0)) for card in payable_kinds(tunnel))
    return _payment_commands(remaining_cards, tunnel.extra)


def pay_tunnel(state: TrainGame, seat: Seat, command: PayTunnel) -> EventStream:
    """The extra payment: the tunnel is claimed. Refuses with TUNNEL-3 or ROUTE-3."""
    tunnel, cards = pending_tunnel(state), command.cards
    kinds = " or ".join(payable_kinds(tunnel))
    is_exact = sum(cards.values()) == tunnel.extra and all(card in payable_kinds(tunnel) for card in cards)
    require(
        is_exact,
        "TUNNEL-3",
        f"{format_cards(cards)} doesn't pay: the tunnel asks for {tunnel.extra} more, {kinds}",
    )
    require_held(state.seats[seat], cards, tunnel.cards)
    total_payment = dict(Counter(tunnel.cards) + Counter(cards))
    yield from complete_claim(state, seat, state.own.board.routes[tunnel.route], total_payment, None)


def decline_offers(state: TrainGame, seat: Seat) -> Sequence[DeclineTunnel]:
    """Declining, which is always possible."""
    return (_DECLINE,)


def decline_tunnel(state: TrainGame, seat: Seat, command: DeclineTunnel) -> EventStream:
    """The tunnel is given up: the turn ends, the cards stay in the hand (TUNNEL-3)."""
    yield TunnelDeclined(seat)
    yield from end_turn(state, seat)


def pending_tunnel(state: TrainGame) -> Tunnel:
    """The tunnel that waits for its extra payment; there must be one."""
    assert state.own.tunnel is not None, "a tunnel is open"
    return state.own.tunnel


def payable_kinds(tunnel: Tunnel) -> tuple[str, ...]:
    """The kinds of cards that can pay the extra, the played colour first (TUNNEL-2)."""
    return tuple(dict.fromkeys((*tunnel.cards, LOCOMOTIVE)))


@lru_cache(maxsize=10_000)
def _payment_commands(remaining_cards: tuple[tuple[str, int], ...], extra: int) -> Sequence[PayTunnel]:
    held_cards = {LOCOMOTIVE: 0, **dict(remaining_cards)}
    coloured = [card for card in held_cards if card != LOCOMOTIVE]
    ways = []
    for wilds in range(min(extra, held_cards[LOCOMOTIVE]) + 1):
        rest = extra - wilds
        if not rest:
            ways.append(PayTunnel({LOCOMOTIVE: wilds}))
        elif coloured and held_cards[coloured[0]] >= rest:
            payment = {coloured[0]: rest}
            ways.append(PayTunnel({**payment, LOCOMOTIVE: wilds} if wilds else payment))
    return tuple(ways)


_DECLINE = DeclineTunnel()

PAY_TUNNEL = Move(PayTunnel, pay_offers, pay_tunnel)
DECLINE_TUNNEL = Move(DeclineTunnel, decline_offers, decline_tunnel)


def claim_offers(state: TrainGame, seat: Seat) -> Sequence[ClaimRoute]:
    """Every claim that the seat can pay for, with every way to pay for it; and each again with a passenger in either city
    that can take one (PASSENGER-1)."""
    return claims_of(state, seat, state.own.open_routes)


def claims_of(state: TrainGame, seat: Seat, routes: OpenRoutes) -> Sequence[ClaimRoute]:
    """Those of the seat's claims that are of these open routes, in the same order."""
    seat_state = state.seats[seat].own
    blocked_parallels = seat_state.blocked_parallels
    payable = state.ruleset.parts.find_payable_routes(
        seat_state.hand, routes, seat_state.cars, state.rule_options
    )
    claims = [
        by_route[route]
        for payable_routes, ways in payable
        for route in payable_routes
        if route not in blocked_parallels
        for by_route in ways
    ]
    return [*claims, *placement_offers(state, seat, claims)] if seat_state.passengers_left else claims


def claim_route(state: TrainGame, seat: Seat, command: ClaimRoute) -> EventStream:
    """A claim; of a tunnel its first step. Refuses with ROUTE-*, DOUBLE-*, FERRY-1 or PASSENGER-1."""
    seat_state, cards = state.seats[seat], command.cards
    route = state.own.board.routes.get(command.route)
    if route is None:
        raise CommandRefusedError("ROUTE-1", f"there is no route {command.route}")
    require_open(state, seat_state, route)
    for check_payment in state.ruleset.parts.payment_checks:
        check_payment(cards, route, state.rule_options)
    require_held(seat_state, cards)
    if seat_state.own.cars < route.length:
        raise CommandRefusedError(
            "ROUTE-4", f"{route.length} spaces, and you have {seat_state.own.cars} cars left"
        )
    if command.passenger is not None:
        require_placeable(state, seat, route, command.passenger)
    if route.kind == TUNNEL_KIND:
        return begin_tunnel(state, seat, route, cards)
    return complete_claim(state, seat, route, cards, command.passenger)


def require_open(state: TrainGame, seat_state: SeatState, route: Route) -> None:
    """Refuses (ROUTE-1, DOUBLE-1, DOUBLE-2) unless this seat may claim the route with some payment."""
    table = state.own
    if route.id in table.open_routes[route.fare] and route.id not in seat_state.own.blocked_parallels:
        return
    if route.id in table.route_owners:
        raise CommandRefusedError("ROUTE-1", f"{route.id} belongs to seat {table.route_owners[route.id]}")
    if route.id in seat_state.own.blocked_parallels:
        raise CommandRefusedError("DOUBLE-1", f"you own a route parallel to {route.id}")
    seat_count = len(state.seats)
    raise CommandRefusedError(
        "DOUBLE-2", f"{route.id} is closed: its parallel is taken, and {seat_count} play"
    )


CLAIM_ROUTE = Move(ClaimRoute, claim_offers, claim_route)


def build_offers(state: TrainGame, seat: Seat) -> Sequence[BuildStation]:
    """Every city without a station, with every way to pay, and no neighbour named."""
    cost = next_station_cost(state, state.seats[seat])
    if cost is None:
        return ()
    free_cities = [city for city in state.own.board.cities if city not in state.own.station_owners]
    hand = state.seats[seat].own.hand
    held_colours = [(colour, hand[colour]) for colour in COLORS if hand[colour]]
    return [
        station
        for way in gray_ways(held_colours, cost, hand[LOCOMOTIVE])
        for station in _build_commands(tuple(way.cards.items()), tuple(free_cities))
    ]


def build_station(state: TrainGame, seat: Seat, command: BuildStation) -> EventStream:
    """A station in a city, and the neighbour named for it. Refuses with STATION-*, or ROUTE-3 for cards not held."""
    seat_state, city, cards = state.seats[seat], command.city, command.cards
    table = state.own
    require(city in table.board.cities, "STATION-1", f"there is no city {city}")
    owner = table.station_owners.get(city)
    require(owner is None, "STATION-1", f"seat {owner} has a station in {city}")
    cost = next_station_cost(state, seat_state)
    require(
        cost is not None, "STATION-1", f"you have built all {len(seat_state.own.stations)} of your stations"
    )
    is_paid = is_one_colour_payment(cards, cost or 0, GRAY, WILD_CARDS)
    reason = f"{format_cards(cards)} doesn't pay: it takes {cost} of one colour, locomotives wild"
    require(is_paid, "STATION-2", reason)
    require_held(seat_state, cards)
    if command.neighbour is not None:
        is_neighbour = command.neighbour in neighbours(table.board, city)
        require(is_neighbour, "STATION-3", f"no route joins {city} to {command.neighbour}")
    yield StationBuilt(seat, city, cards, command.neighbour)
    yield from end_turn(state, seat)


def next_station_cost(state: TrainGame, seat_state: SeatState) -> int | None:
    """Count the cards that the seat's next station costs; None if it has built all."""
    costs, built_count = state.rule_options.station_costs, len(seat_state.own.stations)
    return costs[built_count] if built_count < len(costs) else None


@lru_cache(maxsize=1000)
def _build_commands(
    card_counts: tuple[tuple[str, int], ...], cities: tuple[str, ...]
) -> Sequence[BuildStation]:
    cards = dict(card_counts)
    return tuple(BuildStation(city, cards) for city in cities)


BUILD_STATION = Move(BuildStation, build_offers, build_station, is_optional=True)
