"""Commands of every kind that a seat could send, most of them illegal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random

from schemas.commands import FIELDS, Command, Pass
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DeclineTunnel,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    PayTunnel,
    RequestCards,
)
from schemas.trains.field_types import CARDS, COLORS, LOCOMOTIVE, PLUS_FOUR
from services.referee.games import GameState
from services.referee.games.trains.board import Route
from services.referee.games.trains.train_state import TrainState
from tests.rules.given import owns_of, values_in, vars_of

KEEPS = ((), (0,), (1,), (0, 1), (2, 0), (0, 0), (0, 1, 2), (3,), (0, 1, 3), (0, 1, 2, 3), (4, 1), (5, 0))
MIXES = (
    None, {"regular": 3}, {"short": 4}, {"long": 4}, {"short": 2, "long": 2}, {"short": 1, "long": 3},
    {"short": 4, "long": 0}, {"short": 2, "long": 3}, {"short": 1}, {"long": 0}, {"regular": 2, "short": 2},
)  # fmt: skip


def command_pool(rng: Random, state: GameState) -> list[Command]:
    """A choice of legal and illegal commands of every kind for this state."""
    if not isinstance(state.own, TrainState):
        return [Pass(), *mixed_offers(rng, state)]
    commands: list[Command] = [Pass(), DrawBlind(), RequestCards(), DeclineTunnel()]
    commands += [DrawMarket(slot) for slot in range(7)]
    commands += [DrawMarket(color=card) for card in CARDS]
    commands += [DrawTickets(mix) for mix in MIXES]
    commands += [KeepTickets(keep) for keep in KEEPS]
    commands.append(ClaimRoute("nowhere-a", {"red": 1}))
    routes = [*state.own.board.routes.values()]
    for route in rng.sample(routes, min(25, len(routes))):
        commands += claims(rng, state, route)
    commands += tunnel_payments(rng, state)
    commands += stations(rng, state)
    commands += passenger_moves(rng, state)
    return commands


def mixed_offers(rng: Random, state: GameState) -> Iterator[Command]:
    """Commands of the kinds that the game has, each field as in what some seat would be offered, or as in none.

    A word may also be any that lies in the game's own part: a card that a seat holds and may not play."""
    words = [word for word in values_in([vars_of(own) for own in owns_of(state)]) if isinstance(word, str)]
    moves = [move for row in state.ruleset.moves.values() for move in row]
    for move in moves:
        offers = [offer for seat in range(len(state.seats)) for offer in move.offers(state, seat)]
        names = FIELDS[move.command]
        for _ in range(20 if offers else 0):
            yield move.command(*(getattr(rng.choice(offers), name) for name in names))
        for offer in rng.sample(offers, min(len(offers), 10)):
            for name in (name for name in names if isinstance(getattr(offer, name), str)):
                for word in ("nowhere-1", *rng.sample(words, min(len(words), 3))):
                    yield move.command(*(word if each == name else getattr(offer, each) for each in names))


def near_misses(rng: Random, state: GameState, offer: Command) -> Iterator[Command]:
    """Variants of a legal command with one thing changed, which may be legal or not."""
    match offer:
        case ClaimRoute(name, cards, _):
            route = state.own.board.routes[name]
            for other in (*route.parallels, rng.choice(state.own.board.fares[route.fare])):
                yield ClaimRoute(other, cards)
            for city in (route.a, route.b, rng.choice([*state.own.board.cities])):
                yield ClaimRoute(name, cards, city)
            yield ClaimRoute(name, recoloured(rng, cards))
        case BuildStation(city, cards, _):
            beside = [
                r.b if r.a == city else r.a for r in state.own.board.routes.values() if city in (r.a, r.b)
            ]
            yield BuildStation(city, cards, rng.choice(beside))
            yield BuildStation(city, cards, rng.choice([*state.own.board.cities]))
            yield BuildStation(rng.choice([*state.own.board.cities]), cards)
            yield BuildStation(city, recoloured(rng, cards))
        case PayTunnel(cards):
            yield PayTunnel(recoloured(rng, cards))
        case MovePassenger(city, path):
            yield from (MovePassenger(city, path[:steps]) for steps in range(1, len(path)))
            yield MovePassenger(city, (*path, rng.choice([*state.own.route_owners])))
            yield MovePassenger(rng.choice([*state.own.passenger_owners]), path)
        case _ if not isinstance(state.own, TrainState):
            others = [other for other in mixed_offers(rng, state) if type(other) is type(offer)]
            yield from rng.sample(others, min(len(others), 3))


def recoloured(rng: Random, cards: Mapping[str, int]) -> dict[str, int]:
    """The same cards, but for one that is of another kind, or is missing, or is one too many."""
    card = rng.choice([*cards])
    changed = {**cards, card: cards[card] + rng.choice((-1, -1, 1))}
    if changed[card] < cards[card] and rng.random() < 0.8:
        other = rng.choice((*CARDS, LOCOMOTIVE, LOCOMOTIVE, PLUS_FOUR))
        changed[other] = changed.get(other, 0) + 1
    return {kind: count for kind, count in changed.items() if count} or dict(cards)


def claims(rng: Random, state: GameState, route: Route) -> Iterator[ClaimRoute]:
    color = rng.choice(COLORS) if route.color == "gray" else route.color
    for wild in (0, 1, rng.randrange(route.length + 1), route.length):
        plain = max(0, route.length - wild + rng.choice((0, 0, 0, 1)))
        joker = rng.choice((LOCOMOTIVE, LOCOMOTIVE, PLUS_FOUR))
        paid = {color: plain, joker: wild, rng.choice(CARDS): rng.choice((0, 0, 0, 1))}
        cards = {card: n for card, n in paid.items() if n} or {color: 1}
        yield ClaimRoute(route.id, cards)
        yield ClaimRoute(route.id, cards, rng.choice([route.a, route.b]))


def tunnel_payments(rng: Random, state: GameState) -> Iterator[PayTunnel]:
    base = [*state.own.tunnel.cards] if state.own.tunnel else [rng.choice(COLORS)]
    extra = state.own.tunnel.extra if state.own.tunnel else 1
    for color in (*base, rng.choice(CARDS)):
        for wild in range(extra + 1):
            plain = extra - wild + rng.choice((0, 0, 0, 1))
            cards = {color: plain, LOCOMOTIVE: wild} if color != LOCOMOTIVE else {color: plain + wild}
            if any(cards.values()):
                yield PayTunnel({card: n for card, n in cards.items() if n})


def stations(rng: Random, state: GameState) -> Iterator[BuildStation]:
    cities = [*state.own.board.cities]
    for _ in range(12):
        color, wild, count = rng.choice(COLORS), rng.randrange(3), rng.randrange(1, 4)
        cards = {color: count, LOCOMOTIVE: wild} if wild else {color: count}
        city = rng.choice(cities)
        yield BuildStation(city, cards)
        yield BuildStation(city, cards, rng.choice(cities))
        beside = [r.b if r.a == city else r.a for r in state.own.board.routes.values() if city in (r.a, r.b)]
        yield BuildStation(city, cards, rng.choice(beside))
    yield BuildStation("nowhere", {LOCOMOTIVE: 1})


def passenger_moves(rng: Random, state: GameState) -> Iterator[MovePassenger]:
    """Walks from cities with and without a passenger, over claimed and any routes."""
    starts = [*state.own.passenger_owners] * 6 + [rng.choice([*state.own.board.cities])]
    claimed = [state.own.board.routes[name] for name in state.own.route_owners]
    for start in starts:
        routes = claimed if rng.random() < 0.8 else [*state.own.board.routes.values()]
        path, city = [], start
        for _ in range(rng.randrange(1, 7)):
            onward = [route for route in routes if city in (route.a, route.b)]
            if not onward:
                break
            route = rng.choice(onward)
            city = route.b if route.a == city else route.a
            path.append(route.id)
        if path:
            yield MovePassenger(start, tuple(path))
            yield MovePassenger(start, (*path, rng.choice(path)))
