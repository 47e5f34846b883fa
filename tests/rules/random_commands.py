"""Commands of every kind that a seat may think of, most of them wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random

from schemas.commands import (
    BuildStation,
    ClaimRoute,
    Command,
    DeclineTunnel,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    Pass,
    PayTunnel,
    RequestCards,
)
from schemas.field_types import CARDS, COLORS, LOCOMOTIVE, PLUS_FOUR
from services.referee.rules import GameState
from services.referee.rules.board import Route

KEEPS = ((), (0,), (1,), (0, 1), (2, 0), (0, 0), (0, 1, 2), (3,), (0, 1, 3), (0, 1, 2, 3), (4, 1), (5, 0))
MIXES = (
    None, {"regular": 3}, {"short": 4}, {"long": 4}, {"short": 2, "long": 2}, {"short": 1, "long": 3},
    {"short": 4, "long": 0}, {"short": 2, "long": 3}, {"short": 1}, {"long": 0}, {"regular": 2, "short": 2},
)  # fmt: skip


def pool(dice: Random, table: GameState) -> list[Command]:
    """A choice of right and wrong commands of every kind, for this table as it is."""
    commands: list[Command] = [Pass(), DrawBlind(), RequestCards(), DeclineTunnel()]
    commands += [DrawMarket(slot) for slot in range(7)]
    commands += [DrawMarket(color=card) for card in CARDS]
    commands += [DrawTickets(mix) for mix in MIXES]
    commands += [KeepTickets(keep) for keep in KEEPS]
    commands.append(ClaimRoute("nowhere-a", {"red": 1}))
    routes = [*table.board.routes.values()]
    for route in dice.sample(routes, min(25, len(routes))):
        commands += claims(dice, table, route)
    commands += tunnel_payments(dice, table)
    commands += stations(dice, table)
    commands += journeys(dice, table)
    return commands


def bent(dice: Random, table: GameState, offer: Command) -> Iterator[Command]:
    """What is nearly a legal move: one thing of it changed, for better or worse."""
    match offer:
        case ClaimRoute(name, cards, _):
            route = table.board.routes[name]
            for other in (*route.parallels, dice.choice(table.board.fares[route.fare])):
                yield ClaimRoute(other, cards)
            for city in (route.a, route.b, dice.choice([*table.board.cities])):
                yield ClaimRoute(name, cards, city)
            yield ClaimRoute(name, recoloured(dice, cards))
        case BuildStation(city, cards, _):
            beside = [r.b if r.a == city else r.a for r in table.board.routes.values() if city in (r.a, r.b)]
            yield BuildStation(city, cards, dice.choice(beside))
            yield BuildStation(city, cards, dice.choice([*table.board.cities]))
            yield BuildStation(dice.choice([*table.board.cities]), cards)
            yield BuildStation(city, recoloured(dice, cards))
        case PayTunnel(cards):
            yield PayTunnel(recoloured(dice, cards))
        case MovePassenger(city, path):
            yield from (MovePassenger(city, path[:steps]) for steps in range(1, len(path)))
            yield MovePassenger(city, (*path, dice.choice([*table.route_owners])))
            yield MovePassenger(dice.choice([*table.passenger_owners]), path)


def recoloured(dice: Random, cards: Mapping[str, int]) -> dict[str, int]:
    """The same cards, but for one that is of another kind, or is missing, or is one too many."""
    card = dice.choice([*cards])
    changed = {**cards, card: cards[card] + dice.choice((-1, -1, 1))}
    if changed[card] < cards[card] and dice.random() < 0.8:
        other = dice.choice((*CARDS, LOCOMOTIVE, LOCOMOTIVE, PLUS_FOUR))
        changed[other] = changed.get(other, 0) + 1
    return {kind: count for kind, count in changed.items() if count} or dict(cards)


def claims(dice: Random, table: GameState, route: Route) -> Iterator[ClaimRoute]:
    color = dice.choice(COLORS) if route.color == "gray" else route.color
    for wild in (0, 1, dice.randrange(route.length + 1), route.length):
        plain = max(0, route.length - wild + dice.choice((0, 0, 0, 1)))
        joker = dice.choice((LOCOMOTIVE, LOCOMOTIVE, PLUS_FOUR))
        paid = {color: plain, joker: wild, dice.choice(CARDS): dice.choice((0, 0, 0, 1))}
        cards = {card: n for card, n in paid.items() if n} or {color: 1}
        yield ClaimRoute(route.id, cards)
        yield ClaimRoute(route.id, cards, dice.choice([route.a, route.b]))


def tunnel_payments(dice: Random, table: GameState) -> Iterator[PayTunnel]:
    base = [*table.tunnel.cards] if table.tunnel else [dice.choice(COLORS)]
    extra = table.tunnel.extra if table.tunnel else 1
    for color in (*base, dice.choice(CARDS)):
        for wild in range(extra + 1):
            plain = extra - wild + dice.choice((0, 0, 0, 1))
            cards = {color: plain, LOCOMOTIVE: wild} if color != LOCOMOTIVE else {color: plain + wild}
            if any(cards.values()):
                yield PayTunnel({card: n for card, n in cards.items() if n})


def stations(dice: Random, table: GameState) -> Iterator[BuildStation]:
    cities = [*table.board.cities]
    for _ in range(12):
        color, wild, count = dice.choice(COLORS), dice.randrange(3), dice.randrange(1, 4)
        cards = {color: count, LOCOMOTIVE: wild} if wild else {color: count}
        city = dice.choice(cities)
        yield BuildStation(city, cards)
        yield BuildStation(city, cards, dice.choice(cities))
        beside = [r.b if r.a == city else r.a for r in table.board.routes.values() if city in (r.a, r.b)]
        yield BuildStation(city, cards, dice.choice(beside))
    yield BuildStation("nowhere", {LOCOMOTIVE: 1})


def journeys(dice: Random, table: GameState) -> Iterator[MovePassenger]:
    """Walks from cities with and without a passenger, over claimed and any routes."""
    starts = [*table.passenger_owners] * 6 + [dice.choice([*table.board.cities])]
    claimed = [table.board.routes[name] for name in table.route_owners]
    for start in starts:
        routes = claimed if dice.random() < 0.8 else [*table.board.routes.values()]
        path, here = [], start
        for _ in range(dice.randrange(1, 7)):
            onward = [route for route in routes if here in (route.a, route.b)]
            if not onward:
                break
            route = dice.choice(onward)
            here = route.b if route.a == here else route.a
            path.append(route.id)
        if path:
            yield MovePassenger(start, tuple(path))
            yield MovePassenger(start, (*path, dice.choice(path)))
