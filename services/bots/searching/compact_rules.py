"""The rules of rollouts: those of `usa`, by number. A ruleset with any other part isn't known (`knows_rules`)."""

from __future__ import annotations

from typing import Final, NamedTuple

from schemas.field_types import COLORS, LOCOMOTIVE
from services.bots.planning.board_graph import BoardGraph, graph_of
from services.referee.rules import GameState
from services.referee.rules.board import GRAY
from services.referee.rules.rulesets.usa import USA

KINDS: Final = (*COLORS, LOCOMOTIVE)  # of cards, by number
WILD: Final = len(COLORS)  # the number of the locomotive
ANY_COLOUR: Final = len(COLORS)  # of a gray route


class TicketEnds(NamedTuple):
    """A ticket by the numbers of its cities."""

    a: int
    b: int
    points: int


class CompactRules(NamedTuple):
    """What stays the same in a game; routes and cities by number."""

    graph: BoardGraph
    colours: tuple[int, ...]  # by route
    parallels: tuple[tuple[int, ...], ...]  # by route
    by_points: tuple[int, ...]  # the routes, those with most points first
    order: tuple[int, ...]  # of the turns
    closes_parallels: bool
    flush_count: int  # of locomotives; 0 for never
    flush_most: int
    last_cars: int
    longest_bonus: int
    most_tickets_bonus: int
    tickets_drawn: int
    least_kept: int


def knows_rules(state: GameState) -> bool:
    """Whether this game's rules are those of rollouts: the parts of `usa`, with options that change no rule."""
    ruleset, options = state.ruleset, state.rule_options
    is_known = (
        {move for moves in ruleset.moves.values() for move in moves}
        <= {move for moves in USA.moves.values() for move in moves}
        and ruleset.rebuild_deck is USA.rebuild_deck
        and ruleset.may_flush is USA.may_flush
        and ruleset.measure_longest is USA.measure_longest
        and ruleset.find_payable_routes is USA.find_payable_routes
    )
    return (
        is_known
        and options.points_at_once
        and options.last_turns == "all"
        and not options.parallel_owned
        and len(options.draw_tickets) == 1
        and not options.pair_tickets
        and set(options.flush) <= {LOCOMOTIVE}
        and set(options.cards) <= set(KINDS)
        and not state.board.countries
        and not any(fare.locomotives for fare in state.board.fares)
        and all(seat_state.exit_reason is None for seat_state in state.seats)
    )


def compact_rules(state: GameState) -> CompactRules:
    """The rules of this game, which `knows_rules` accepts."""
    graph, options = graph_of(state.board, state.rule_options), state.rule_options
    return CompactRules(
        graph,
        tuple(ANY_COLOUR if route.color == GRAY else COLORS.index(route.color) for route in graph.routes),
        tuple(tuple(graph.route_index[name] for name in route.parallels) for route in graph.routes),
        tuple(sorted(range(len(graph.points)), key=lambda route: -graph.points[route])),
        state.turn_order,
        state.closes_parallels,
        options.flush.get(LOCOMOTIVE, 0),
        options.flush_most,
        options.last_cars,
        options.longest_bonus,
        options.most_tickets_bonus,
        next(iter(options.draw_tickets.values())),
        options.draw_keep,
    )
