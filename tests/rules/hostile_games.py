"""Games on boards that a stranger made so that they cost their referee the most, over all rulesets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from random import Random
from typing import Any, Final

from schemas.commands import CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.trains.positions import POSITION_SCHEMA
from services.referee.games import (
    GameState,
    UnloggedRejectionError,
    decide_and_apply,
    decide_envelope,
    legal,
)
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.referee.games.trains.scoring import score
from tests.rules.hostile_networks import (
    MAX_OWNED,
    Edge,
    bipartite,
    clusters,
    complete,
    grid,
    hostile_networks,
    regular,
)

MAX_TICKETS: Final = 2_000  # of one seat, in a position
MAX_ROUTES: Final = 1_000  # of one board
SEED: Final = "5e" * 32


def hostile_game(rng: Random) -> GameState | None:
    """A started game from a hostile position, the turn seat 0's; None if its creation was refused."""
    command = hostile_creation(rng)
    state = created(command)
    return state and started(state, len(command.seats))


def hostile_creation(rng: Random) -> CreateGame:
    """The creation of a game from a hostile position, the turn seat 0's."""
    rules = rng.choice([*TRAIN_RULESETS])
    options = TRAIN_RULESETS[rules].rule_options
    seat_count = rng.randint(2, options.seats_most)
    edges = _seat_networks(rng, seat_count, 3 if rules == "trains" else 1)
    colour = "gray" if rules != "trains" else "red"
    routes = [
        {"id": f"r{n}", "between": [a, b], "length": length, "color": colour}
        for n, (_, (a, b, length)) in enumerate(edges)
    ]
    cities = [*dict.fromkeys(city for _, (a, b, _) in edges for city in (a, b))]
    countries = set(rng.sample(cities, rng.choice((0, 1, 3)))) if rules != "trains" else set()
    colours: Sequence[str | None] = [*options.merchandise, None]
    board = {
        "format": 1,
        "id": "hostile",
        "title": "Hostile",
        "size": [1, 1],
        "cities": [_city(city, city in countries, rng.choice(colours)) for city in cities],
        "routes": routes,
        "tickets": [],
    }
    position = {
        "routes": {route["id"]: seat for route, (seat, _) in zip(routes, edges, strict=True)},
        "hands": [dict.fromkeys(options.cards, 12)] * seat_count,
        "tickets": _tickets(rng, cities, seat_count),
    }
    inner = rng.sample(
        [city for city in cities if city not in countries], min(len(cities) - len(countries), 8)
    )
    if options.passengers:
        position["passengers"] = dict.fromkeys(inner[: options.passengers], 0)
    if options.station_costs:
        position["stations"] = {city: {"seat": 0} for city in inner[: len(options.station_costs)]}
    changed = {"cars": rng.choice((45, MAX_OWNED)), "pair_tickets": None}
    return CreateGame(
        (SeatPlan(),) * seat_count, rules, board, options=changed, position=POSITION_SCHEMA.read(position)
    )


def _seat_networks(rng: Random, seat_count: int, length: int) -> list[tuple[int, Edge]]:
    """The routes of every seat, all on the same cities or each on its own."""
    shared = rng.random() < 0.5
    edges: list[tuple[int, Edge]] = []
    for seat in range(seat_count):
        network = [(a, b, length) for a, b, _ in rng.choice(_kinds())(rng)[: 45 // length]]
        prefix = "" if shared else f"{seat}."
        edges += [(seat, (f"{prefix}{a}", f"{prefix}{b}", length)) for a, b, length in network]
    taken: set[tuple[int, frozenset[str]]] = set()
    kept = []
    for seat, edge in edges[:MAX_ROUTES]:
        pair = frozenset(edge[:2])
        if not any((other, pair) in taken for other in range(seat_count)):
            taken.add((seat, pair))
            kept.append((seat, edge))
    return kept


def _kinds() -> Sequence[Callable[[Random], list[Edge]]]:
    named = hostile_networks()
    return [
        *(partial(lambda edges, rng: edges, edges) for edges in named.values()),
        lambda rng: bipartite(rng.randint(2, 7), rng.randint(7, 16)),
        lambda rng: complete(rng.randint(5, 10)),
        lambda rng: grid(rng.randint(2, 5), rng.randint(4, 10)),
        lambda rng: regular(rng.choice((14, 18, 22)), rng.choice((3, 4)), rng),
        lambda rng: clusters(rng.randint(3, 8), rng.randint(3, 5), rng.randint(1, 4), rng),
    ]


def _city(name: str, country: bool, colour: str | None) -> Mapping[str, Any]:
    more = {"country": True} if country else {"merchandise": colour} if colour else {}
    return {"id": name, "name": name, "at": [0, 0], **more}


def _tickets(rng: Random, cities: Sequence[str], seat_count: int) -> list[list[Mapping[str, Any]]]:
    """The tickets of every seat; no two of them are the same."""
    pairs = [*combinations(cities, 2)]
    rows: list[list[Mapping[str, Any]]] = []
    for points in range(1, seat_count + 1):
        count = min(rng.choice((0, 200, MAX_TICKETS)), len(pairs))
        rows.append([{"between": pair, "points": 10 * points} for pair in rng.sample(pairs, count)])
    return rows


def created(command: CreateGame) -> GameState | None:
    """The game that a creation makes; None if it is refused."""
    state = GameState()
    try:
        decide_envelope(state, CommandEnvelope("one", "the-game", None, command), 0, SEED)
    except UnloggedRejectionError:
        return None
    return state


def started(state: GameState, seat_count: int) -> GameState:
    """The game with all seats taken, and started."""
    for seat in range(seat_count):
        state.seats[seat].is_seated = True
    decide_and_apply(state, None, StartGame())
    return state


def costly_questions(state: GameState) -> Mapping[str, Callable[[], object]]:
    """By name what a referee does with a game and what might take long."""
    return {"legal": lambda: legal(state, 0), "score": lambda: score(state)}
