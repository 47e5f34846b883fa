"""The policy `greedy`: its tickets by the shortest paths over free routes, then the longest
route it can pay for. It draws the colours that those paths want."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Final

from schemas.commands import ClaimRoute, Command, DrawBlind, DrawMarket, KeepTickets
from schemas.words import COLORS, LOCOMOTIVE, Seat
from services.bots.policies.dice import Dice
from services.referee.rules import Table
from services.referee.rules.board import GRAY, Ticket

FAR: Final = 1_000_000  # the length of a path that there isn't


def greedy(table: Table, seat: Seat, commands: Sequence[Command], dice: Dice) -> Command:
    keeps = [command for command in commands if isinstance(command, KeepTickets)]
    if keeps:
        return _keep(table, seat, keeps)
    wanted = _wanted(table, seat)
    claims = [command for command in commands if isinstance(command, ClaimRoute)]
    useful = [claim for claim in claims if claim.route in wanted] if wanted else claims
    if useful:
        return max(useful, key=lambda claim: (table.board.routes[claim.route].length, -_wilds(claim)))
    draws = [command for command in commands if isinstance(command, DrawBlind | DrawMarket)]
    if draws:
        return max(draws, key=lambda draw: _worth(table, seat, wanted, draw))
    if claims:
        return max(claims, key=lambda claim: table.board.routes[claim.route].length)
    return dice.pick(commands)


def _keep(table: Table, seat: Seat, keeps: Sequence[KeepTickets]) -> Command:
    """The tickets that bring the most for the cars that are left, by their own paths alone."""
    offer = table.places[seat].offer
    cars = table.places[seat].cars

    def gain(keep: KeepTickets) -> int:
        tickets = [table.board.tickets[str(offer[i])] for i in keep.keep]
        left, points = cars, 0
        for ticket in sorted(tickets, key=lambda t: _path(table, seat, t)[0]):
            length = _path(table, seat, ticket)[0]
            points += ticket.points if length <= left else -ticket.points
            left -= min(length, left)
        return points - (cars - left)  # every car spent must be worth it

    return max(keeps, key=gain)


def _wanted(table: Table, seat: Seat) -> set[str]:
    """The free routes on the shortest paths of the tickets that can still be made."""
    place = table.places[seat]
    wanted: set[str] = set()
    for name in place.tickets:
        length, routes = _path(table, seat, table.board.tickets[str(name)])
        if length <= place.cars:
            wanted.update(routes)
    return wanted


def _path(table: Table, seat: Seat, ticket: Ticket) -> tuple[int, list[str]]:
    """The fewest cars that would join the ticket's cities, and the free routes to claim."""
    place = table.places[seat]
    ways: dict[str, list[tuple[str, int, str | None]]] = {}
    for name in place.routes:
        route = table.board.routes[name]
        ways.setdefault(route.a, []).append((route.b, 0, None))
        ways.setdefault(route.b, []).append((route.a, 0, None))
    for routes in table.open.values():
        for name in routes:
            if name not in place.barred:
                route = table.board.routes[name]
                ways.setdefault(route.a, []).append((route.b, route.length, name))
                ways.setdefault(route.b, []).append((route.a, route.length, name))
    best = {ticket.a: 0}
    came: dict[str, tuple[str, str | None]] = {}
    waiting = [(0, ticket.a)]
    while waiting:
        length, city = heappop(waiting)
        if city == ticket.b:
            return length, _free_routes(came, ticket)
        for other, spaces, claim in ways.get(city, ()):
            if length + spaces < best.get(other, FAR):
                best[other] = length + spaces
                came[other] = (city, claim)
                heappush(waiting, (length + spaces, other))
    return FAR, []


def _free_routes(came: dict[str, tuple[str, str | None]], ticket: Ticket) -> list[str]:
    """The routes still to claim on the way back from a path's end to its start."""
    routes, city = [], ticket.b
    while city != ticket.a:
        city, claimable = came[city]
        if claimable is not None:
            routes.append(claimable)
    return routes


def _wilds(claim: ClaimRoute) -> int:
    return claim.cards.get(LOCOMOTIVE, 0)


def _worth(table: Table, seat: Seat, wanted: set[str], draw: DrawBlind | DrawMarket) -> float:
    """How much a card helps: the spaces of wanted routes of its colour that it could pay."""
    if isinstance(draw, DrawBlind):
        return 0.5
    card = table.market[draw.slot or 0]
    if card == LOCOMOTIVE:
        return 1.5
    hand = table.places[seat].hand
    spaces: Counter[str] = Counter()
    grays = 0
    for name in wanted:
        route = table.board.routes[name]
        if route.color == GRAY:
            grays = max(grays, route.length)
        else:
            spaces[route.color] = max(spaces[route.color], route.length)
    most = max(COLORS, key=lambda colour: hand[colour])
    if hand[card] < spaces[str(card)]:
        return 2 + hand[card] / 100
    return 1 + hand[card] / 100 if card == most and hand[card] < grays else 0
