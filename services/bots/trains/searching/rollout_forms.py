"""Rollouts in the form that is here: compiled (rollout_engine.c), where `make fast` built it, else Python's own.

Both come to equal points. What is beyond the compiled form (a board of more than 256 routes, a search that grows too
long) the Python form plays."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

from services.bots.trains.planning.board_graph import TicketEnds
from services.bots.trains.planning.command_choice import (
    LOCOMOTIVE_PRICE,
    PER_TOKEN,
    PLACED,
    PLUS_FOUR_SHARE,
    SPARE_CREDIT,
    TICKET_POINTS,
    TURNS_TO_SPARE,
)
from services.bots.trains.planning.move_plan import (
    FERRY_VALUE,
    GRAY_VALUE,
    IDLE_GROWTH,
    IDLE_VALUE,
    PASSENGER_VALUE,
    PLUS_FOUR_VALUE,
)
from services.bots.trains.planning.network_plan import TIGHT_PRICES
from services.bots.trains.planning.plan_weights import WEIGHTS
from services.bots.trains.searching.compact_game import CompactGame, Payment
from services.bots.trains.searching.compact_rules import CompactRules
from services.bots.trains.searching.first_move import FirstMove, MoveKind, play_first
from services.bots.trains.searching.rollout_policy import Rollout
from services.referee.games.trains.search.longest_trail import longest_trail
from services.referee.games.trains.search.sweeps import longest_path

try:
    from services.bots.trains.searching import rollout_engine
except ImportError:  # nothing is compiled here
    rollout_engine = None  # type: ignore[assignment]  # so says mypy of any module that may be missing

IS_COMPILED: Final = rollout_engine is not None

# The numbers that the policy weighs by, in the order of `Weights` in rollout_engine.c.
NUMBERS: Final = (
    *(WEIGHTS.car_price, WEIGHTS.card_credit, WEIGHTS.least_cost, WEIGHTS.loan_price, WEIGHTS.haste),
    *(WEIGHTS.turns_early, WEIGHTS.route_risk, WEIGHTS.borrowed_risk, WEIGHTS.turns_counted),
    *(WEIGHTS.cars_a_turn, WEIGHTS.claim_threshold, WEIGHTS.wild_price, WEIGHTS.cards_short),
    *(WEIGHTS.reserved_price, WEIGHTS.filler_weight, WEIGHTS.filler_price, WEIGHTS.filler_pace),
    *(WEIGHTS.cars_to_end, WEIGHTS.end_share, WEIGHTS.touch_bonus, WEIGHTS.trail_share),
    *(WEIGHTS.trail_growth, WEIGHTS.trail_spread, WEIGHTS.filler_margin),
    *(WEIGHTS.journey_points, PLACED, PER_TOKEN, PLUS_FOUR_SHARE, TICKET_POINTS, TURNS_TO_SPARE),
    *(LOCOMOTIVE_PRICE, SPARE_CREDIT, IDLE_VALUE, IDLE_GROWTH, GRAY_VALUE, FERRY_VALUE),
    *(PLUS_FOUR_VALUE, PASSENGER_VALUE, *TIGHT_PRICES),
)
MEASURES: Final[Sequence[Callable[..., int]]] = (longest_trail, longest_path)  # that the compiled form knows
NUMBER: Final = "q"  # the type of all whole numbers that it reads


class World(NamedTuple):
    """A game that rollouts begin with, in both forms."""

    game: CompactGame
    row: array[int]


class Opening(NamedTuple):
    """A first move in both forms; None for none."""

    move: FirstMove | None
    row: array[int]


class Rollouts:
    """Rollouts of one game, by its rules."""

    def __init__(self, rules: CompactRules, seats: int) -> None:
        self._compiled = _prepare(rules, seats) if IS_COMPILED and rules.measure_longest in MEASURES else None

    def world(self, game: CompactGame) -> World:
        """The game as a world; it must stay as it is."""
        return World(game, _row(_world(game) if self._compiled else ()))

    def opening(self, move: FirstMove | None) -> Opening:
        """The move, to begin rollouts with."""
        return Opening(move, _row(_move(move) if self._compiled else ()))

    def play(self, world: World, opening: Opening) -> list[int]:
        """Every seat's points at the end."""
        points = self.play_compiled(world, opening)
        return play_in_python(world.game, opening.move) if points is None else points

    def play_compiled(self, world: World, opening: Opening) -> list[int] | None:
        """Every seat's points at the end, in the compiled form; None where it isn't built, or this is beyond it."""
        return rollout_engine.play(self._compiled, world.row, opening.row) if self._compiled else None


def play_in_python(game: CompactGame, move: FirstMove | None) -> list[int]:
    """Every seat's points at the end, in the Python form; the game stays as it is."""
    rollout = Rollout(game.copy())
    if move is not None:
        play_first(rollout, move)
    return rollout.play()


def _row(numbers: Iterable[int]) -> array[int]:
    return array(NUMBER, numbers)


# -- in the order in which rollout_engine.c reads them ----------------------------------------


def _prepare(rules: CompactRules, seats: int) -> rollout_engine.RolloutRules | None:
    reals = (rules.graph.car_value, *NUMBERS, *rules.card_shares, *rules.claim_costs)
    try:
        return rollout_engine.prepare(_row(_rules(rules, seats)), array("d", reals))
    except OverflowError:  # a number that no such row can have
        return None


def _rules(rules: CompactRules, seats: int) -> Iterator[int]:
    graph = rules.graph
    yield from (len(graph.ends), len(rules.cities), rules.kind_count, seats)
    names = {
        name: index for index, name in enumerate({end for a, b, _ in rules.measured_routes for end in (a, b)})
    }
    for route, (a, b) in enumerate(graph.ends):
        yield from (a, b, graph.lengths[route], graph.points[route], rules.colours[route])
        yield from (rules.ferries[route], rules.spaces[route], rules.is_tunnel[route])
        yield from (names[end] for end in rules.measured_routes[route][:2])
        yield from _counted(rules.parallels[route])
    yield from graph.is_country
    yield rules.cards_asked
    yield len(rules.flush)
    yield from chain(*rules.flush)
    yield from (rules.flush_most, rules.tunnel_cards, rules.wild_if_long_least, rules.closes_parallels)
    yield from _counted(rules.order)
    yield from (rules.last_cars, rules.last_turns)
    yield from _counted(rules.tickets_drawn)
    yield from (rules.tickets_named, rules.least_kept)
    yield from _counted(rules.station_costs)
    yield rules.station_points
    yield from _counted(rules.scoring)
    yield from (rules.longest_bonus, MEASURES.index(rules.measure_longest), rules.most_tickets_bonus)


def _world(game: CompactGame) -> Iterator[int]:
    rules = game.rules
    yield game.seed - (1 << 64) * (game.seed >> 63)  # with a sign
    yield from (game.turn, game.last_turns, game.passes, game.is_over)
    yield from chain(game.cars, game.points, *game.hands, game.deck, game.discards, game.drawn)
    yield from _counted(game.market)
    yield from _counted(game.revealed)
    yield from game.owners
    for routes in game.routes:
        yield from _counted(routes)
    for tickets in game.tickets:
        yield from _tickets(tickets)
    for deck, drawn in zip(game.ticket_decks, rules.tickets_drawn, strict=True):
        yield from _tickets(deck if drawn else ())  # nothing is drawn of the others
    for stations in game.stations:
        yield len(stations)
        yield from chain(*stations)
    yield from game.passengers_left
    yield len(game.passenger_owners)
    yield from chain(*game.passenger_owners.items())
    yield len(game.tokens)
    for city, stack in game.tokens.items():
        yield city
        yield from _counted(stack)


def _move(move: FirstMove | None) -> Iterator[int]:
    if move is None:
        yield from (0, -1)
        return
    yield from (move.ends_turn, move.seat, move.kind)
    match move.kind:
        case MoveKind.KEEP:
            yield from _tickets(move.offer)
            yield from _counted(move.numbers)
        case MoveKind.CLAIM | MoveKind.STATION:
            yield from (move.place, move.other)
            yield from _paid(move.payment)
        case MoveKind.PAY_TUNNEL:
            yield move.place
            yield from _paid(move.payment)
        case MoveKind.PASSENGER:
            yield move.place
            yield from _counted(move.numbers)
        case MoveKind.TICKETS:
            yield from _counted(move.numbers)
        case MoveKind.OPEN_CARD | MoveKind.IDLE:
            yield move.place


def _counted(numbers: Sequence[int]) -> Iterator[int]:
    yield len(numbers)
    yield from numbers


def _tickets(tickets: Sequence[TicketEnds]) -> Iterator[int]:
    yield len(tickets)
    yield from chain(*tickets)


def _paid(payment: Payment) -> Iterator[int]:
    yield len(payment)
    yield from chain(*payment)
