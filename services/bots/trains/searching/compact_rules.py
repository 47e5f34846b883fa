"""A game's rules by number, for rollouts: what its ruleset, options, board and seats come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from schemas.trains.field_types import COLORS, LOCOMOTIVE, PASSENGER, PLUS_FOUR
from services.bots.trains.planning.board_graph import BoardGraph, graph_of
from services.bots.trains.planning.plan_weights import WEIGHTS
from services.referee.games.state import ACTION
from services.referee.games.trains.board import GRAY, Route
from services.referee.games.trains.moves.cards import CARDS_PER_REQUEST, REQUEST_CARDS
from services.referee.games.trains.moves.routes import TUNNEL_KIND
from services.referee.games.trains.scoring import route_ends
from services.referee.games.trains.train_state import TrainGame

KINDS: Final = (*COLORS, LOCOMOTIVE, PLUS_FOUR, PASSENGER)  # of cards, by number
WILD: Final = len(COLORS)  # the number of the locomotive,
WILD_IF_LONG: Final = WILD + 1  # of the "+4" locomotive,
TOLL: Final = WILD + 2  # and of the passenger card; most rules have neither
ANY_COLOUR: Final = len(COLORS)  # of a gray route


class CompactRules(NamedTuple):
    """The fixed part of a game; routes, cities, kinds of cards and decks of tickets by number."""

    graph: BoardGraph
    cities: tuple[str, ...]  # their ids
    countries: frozenset[str]
    # cards
    kind_count: int  # the first so many of KINDS are in the game
    card_shares: tuple[float, ...]  # by kind, of all cards
    cards_asked: int  # that a request brings (CARD-6); 0 where cards are drawn
    flush: tuple[tuple[int, int], ...]  # kinds, each with the count that flushes the market
    flush_most: int
    # routes
    colours: tuple[int, ...]  # by route
    ferries: tuple[int, ...]  # by route: the least number of locomotives
    has_ferries: bool
    spaces: tuple[int, ...]  # by route: its length without these
    is_tunnel: tuple[bool, ...]
    tunnel_cards: int
    wild_if_long_least: int  # spaces (ROUTE-7)
    parallels: tuple[tuple[int, ...], ...]  # by route; none where one seat may own them all
    by_points: tuple[int, ...]  # the routes, those with most points first
    claim_costs: tuple[float, ...]  # by route: beside its cars, less its points, as `planner` counts
    closes_parallels: bool
    # turns
    order: tuple[int, ...]  # of the seats that still take part
    last_cars: int
    last_turns: int  # how many there are
    # tickets: how many a draw offers by deck, or how many of all decks together where the seat names the mix
    tickets_drawn: tuple[int, ...]
    tickets_named: int
    least_kept: int
    # stations and passengers
    station_costs: tuple[int, ...]
    station_points: int
    passengers: int  # of each seat
    # the end
    scoring: tuple[int, ...]  # the seats that weren't removed
    longest_bonus: int
    measured_routes: tuple[tuple[str, str, int], ...]  # by route what is measured
    measure_longest: Callable[[Iterable[tuple[str, str, int]]], int]
    most_tickets_bonus: int


def compact_rules(state: TrainGame) -> CompactRules:
    """The rules of this game. A state of a former version of a ruleset is played on by today's rules."""
    table = state.own
    graph, options = graph_of(table.board, state.rule_options), state.rule_options
    routes, seats, card_count = graph.routes, state.seats, sum(options.cards.values())
    order = tuple(state.active_seats)
    kind_count = len(KINDS) if {PLUS_FOUR, PASSENGER} & options.cards.keys() else WILD + 1
    parallels = (() if options.parallel_owned else route.parallels for route in routes)
    return CompactRules(
        graph,
        tuple(table.board.cities),
        table.board.countries,
        kind_count,
        tuple(options.cards.get(kind, 0) / card_count for kind in KINDS[:kind_count]),
        CARDS_PER_REQUEST if REQUEST_CARDS in state.ruleset.moves[ACTION] else 0,
        tuple((KINDS.index(kind), count) for kind, count in options.flush.items()),
        options.flush_most,
        tuple(ANY_COLOUR if route.color == GRAY else COLORS.index(route.color) for route in routes),
        tuple(route.locomotives for route in routes),
        any(route.locomotives for route in routes),
        tuple(route.length - route.locomotives for route in routes),
        tuple(route.kind == TUNNEL_KIND for route in routes),
        options.tunnel_cards,
        options.plus_four_least,
        tuple(tuple(graph.route_index[name] for name in names) for names in parallels),
        tuple(sorted(range(len(graph.points)), key=lambda route: -graph.points[route])),
        tuple(map(_claim_cost, routes, graph.points)),
        table.closes_parallels,
        order,
        options.last_cars,
        len(order) - (options.last_turns == "others"),
        tuple(options.draw_tickets.get(deck, 0) for deck in table.ticket_decks),
        options.draw_named,
        options.draw_keep,
        options.station_costs,
        options.station_points,
        options.passengers,
        tuple(seat for seat, each in enumerate(seats) if each.exit_reason != "removed"),
        options.longest_bonus,
        tuple((*route_ends(route, table.board.countries), route.length) for route in routes),
        state.ruleset.parts.measure_longest,
        options.most_tickets_bonus,
    )


def _claim_cost(route: Route, points: int) -> float:
    cost = WEIGHTS.claim_price + WEIGHTS.locomotive_price * route.locomotives - points
    return cost + WEIGHTS.tunnel_price * (route.kind == TUNNEL_KIND)
