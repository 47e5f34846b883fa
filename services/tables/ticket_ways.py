"""Tickets as their seat sees them: made or not, and the shortest way that is still open."""

from __future__ import annotations

from collections import defaultdict
from heapq import heappop, heappush
from itertools import count

from schemas.field_types import Seat
from services.gateway.models.table_models import TicketState
from services.referee.rules import GameState
from services.referee.rules.board import Ticket
from services.referee.rules.scoring import own_route_ends
from services.referee.rules.search.connectivity import Networks

Ways = dict[str, list[tuple[str, str, int]]]  # by city: the next city, the route, its spaces


def ticket_states(state: GameState, seat: Seat | None, tickets: list[str | None]) -> list[TicketState]:
    """Those of the tickets that the viewer knows, seen from a seat's routes."""
    known = [state.board.tickets[ticket] for ticket in tickets if ticket is not None]
    if seat is None or not known:
        return [_ticket_state(ticket, made=False, way=None) for ticket in known]
    networks = Networks(own_route_ends(state, state.seats[seat]), state.board.countries)
    ways = open_ways(state, seat)
    return [
        _ticket_state(
            ticket,
            made=(made := networks.connects(ticket.a, ticket.b)),
            way=[] if made else shortest_way(ways, ticket.a, ticket.b, state.board.countries),
        )
        for ticket in known
    ]


def open_ways(state: GameState, seat: Seat) -> Ways:
    """What a way of this seat may lead over: its own routes, which cost nothing, and those that are open."""
    open_routes = {name for routes in state.open_routes.values() for name in routes}
    blocked = state.seats[seat].blocked_parallels
    ways: Ways = defaultdict(list)
    for route in state.board.routes.values():
        is_own = state.route_owners.get(route.id) == seat
        if is_own or (route.id in open_routes and route.id not in blocked):
            spaces = 0 if is_own else route.length
            ways[route.a].append((route.b, route.id, spaces))
            ways[route.b].append((route.a, route.id, spaces))
    return ways


def shortest_way(ways: Ways, start: str, end: str, countries: frozenset[str]) -> list[str] | None:
    """The routes still to claim on the way with the fewest spaces; None where there is no way. No way goes
    through a country."""
    order = count()
    queue: list[tuple[int, int, str, tuple[str, ...]]] = [(0, next(order), start, ())]
    seen: set[str] = set()
    while queue:
        spaces, _, city, claimed = heappop(queue)
        if city == end:
            return list(claimed)
        if city in seen or (city in countries and city != start):
            continue
        seen.add(city)
        for neighbour, route, length in ways.get(city, ()):
            if neighbour not in seen:
                more = (*claimed, route) if length else claimed
                heappush(queue, (spaces + length, next(order), neighbour, more))
    return None


def _ticket_state(ticket: Ticket, *, made: bool, way: list[str] | None) -> TicketState:
    return TicketState(
        id=ticket.id,
        a=ticket.a,
        b=ticket.b,
        points=ticket.points,
        deck=ticket.deck,
        made=made,
        way=way or [],
        open=made or way is not None,
    )
