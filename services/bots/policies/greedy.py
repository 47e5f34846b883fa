"""The policy `greedy`: its tickets by the shortest paths over free routes, then the longest
route it can pay for. It draws the colours that those paths want, builds a station where a
ticket can't be made otherwise, and sends a passenger off when the journey is worth a turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Final, TypeAlias, TypeVar

from schemas.commands import (
    BuildStation,
    ClaimRoute,
    Command,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    PayTunnel,
    RequestCards,
)  # fmt: skip
from schemas.field_types import COLORS, LOCOMOTIVE, PLUS_FOUR, Seat
from services.bots.policies.random_source import Dice
from services.referee.rules import Table
from services.referee.rules.board import GRAY, Ticket
from services.referee.rules.moves.passengers import collected
from services.referee.rules.moves.requests import GIVEN
from services.referee.rules.moves.tunnels import TUNNEL_KIND
from services.referee.rules.table import MIX

FAR: Final = 1_000_000  # the length of a path that there isn't
WORTH_A_TURN: Final = 8  # points of a passenger's journey
C = TypeVar("C", bound=Command)
Ways: TypeAlias = dict[str, list[tuple[str, int, str | None]]]  # city, cars, the route if it is still free


def greedy(table: Table, seat: Seat, commands: Sequence[Command], dice: Dice) -> Command:
    answer = _answer(table, seat, commands) or _action(table, seat, _dared(table, seat, commands, dice))
    return answer or dice.pick(commands)


def _dared(table: Table, seat: Seat, commands: Sequence[Command], dice: Dice) -> Sequence[Command]:
    """The commands, now and then without the tunnels that may ask for more than the seat can pay:
    else a table of greedy seats might begin and decline the same ones for ever."""
    sure = [command for command in commands if not _risky(table, seat, command)]
    return sure if sure and len(sure) < len(commands) and dice.pick((True, False)) else commands


def _risky(table: Table, seat: Seat, command: Command) -> bool:
    if not isinstance(command, ClaimRoute) or table.board.routes[command.route].kind != TUNNEL_KIND:
        return False
    hand = table.places[seat].hand
    left = sum(hand[card] - command.cards.get(card, 0) for card in {*command.cards, LOCOMOTIVE})
    return left < table.figures.tunnel_cards


def _answer(table: Table, seat: Seat, commands: Sequence[Command]) -> Command | None:
    """The answer to an open choice, other than a second card."""
    if keeps := _of(commands, KeepTickets):
        return _keep(table, seat, keeps)
    if paid := _of(commands, PayTunnel):
        return min(paid, key=lambda pay: pay.cards.get(LOCOMOTIVE, 0))
    if table.awaits[seat] == MIX:
        return min(_of(commands, DrawTickets), key=lambda mix: max((mix.decks or {}).values()))
    return None


def _action(table: Table, seat: Seat, commands: Sequence[Command]) -> Command | None:
    """What is worth most: a claim, a journey, a station, cards, then any claim at all."""
    wanted = _wanted(table, seat)
    claims = _of(commands, ClaimRoute)
    if useful := [claim for claim in claims if claim.route in wanted] if wanted else claims:
        return max(useful, key=lambda claim: _claim_worth(table, claim))
    if journey := _journey(table, _of(commands, MovePassenger)):
        return journey
    if station := _station(table, seat, _of(commands, BuildStation)):
        return station
    draws = [command for command in commands if isinstance(command, DrawBlind | DrawMarket)]
    if draws:
        return max(draws, key=lambda draw: _worth(table, seat, wanted, draw))
    requests = _of(commands, RequestCards)
    if requests and len(table.deck) >= GIVEN:
        return requests[0]
    return max(claims, key=lambda claim: _claim_worth(table, claim), default=None)


def _of(commands: Sequence[Command], kind: type[C]) -> list[C]:
    return [command for command in commands if isinstance(command, kind)]


def _claim_worth(table: Table, claim: ClaimRoute) -> tuple[int, int, int]:
    """Longest first; then where a passenger is put where much can be collected, with few wild cards."""
    standing = 0
    if claim.passenger is not None:
        standing = 1 + sum(table.tokens.get(claim.passenger, ())[:1])
    return table.board.routes[claim.route].length, standing, -_wilds(claim)


def _journey(table: Table, journeys: Sequence[MovePassenger]) -> MovePassenger | None:
    """The journey that collects most, if it is worth a turn; in the last turns any that collects."""
    best = max(journeys, key=lambda move: collected(table, move), default=None)
    least = 1 if table.ending else WORTH_A_TURN
    return best if best is not None and collected(table, best) >= least else None


def _station(table: Table, seat: Seat, stations: Sequence[BuildStation]) -> BuildStation | None:
    """A station at the end of a ticket that no free route can make, where others' routes come in."""
    place = table.places[seat]
    if not stations:
        return None
    stuck = [table.board.tickets[str(name)] for name in place.tickets]
    ways = _ways(table, seat)
    ends = {city for t in stuck if _path(table, ways, t)[0] > place.cars for city in (t.a, t.b)}
    if not ends:
        return None
    served = {city for name, owner in table.owners.items() if owner != seat for city in _ends(table, name)}
    useful = [station for station in stations if station.city in ends & served]
    return min(useful, key=lambda station: station.cards.get(LOCOMOTIVE, 0), default=None)


def _ends(table: Table, name: str) -> tuple[str, str]:
    route = table.board.routes[name]
    return route.a, route.b


def _keep(table: Table, seat: Seat, keeps: Sequence[KeepTickets]) -> Command:
    """The tickets that bring the most for the cars that are left, by their own paths alone."""
    offer = [table.board.tickets[str(name)] for name in table.places[seat].offer]
    cars, ways = table.places[seat].cars, _ways(table, seat)
    lengths = [_path(table, ways, ticket)[0] for ticket in offer]

    def gain(keep: KeepTickets) -> int:
        left, points = cars, 0
        for i in sorted(keep.keep, key=lengths.__getitem__):
            points += offer[i].points if lengths[i] <= left else -offer[i].points
            left -= min(lengths[i], left)
        return points - (cars - left)  # every car spent must be worth it

    return max(keeps, key=gain)


def _wanted(table: Table, seat: Seat) -> set[str]:
    """The free routes on the shortest paths of the tickets that can still be made."""
    place = table.places[seat]
    wanted: set[str] = set()
    ways = _ways(table, seat)
    for name in place.tickets:
        length, routes = _path(table, ways, table.board.tickets[str(name)])
        if length <= place.cars:
            wanted.update(routes)
    return wanted


def _ways(table: Table, seat: Seat) -> Ways:
    """By city, where its routes lead that are the seat's or still can be, and the cars they take."""
    place = table.places[seat]
    ways: Ways = {}
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
    return ways


def _path(table: Table, ways: Ways, ticket: Ticket) -> tuple[int, list[str]]:
    """The fewest cars that would join the ticket's cities, and the free routes to claim."""
    best = {ticket.a: 0}
    came: dict[str, tuple[str, str | None]] = {}
    waiting = [(0, ticket.a)]
    while waiting:
        length, city = heappop(waiting)
        if city == ticket.b:
            return length, _free_routes(came, ticket)
        if city in table.board.countries and city != ticket.a:
            continue  # a country is an end only
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
    return claim.cards.get(LOCOMOTIVE, 0) + claim.cards.get(PLUS_FOUR, 0)


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
