"""How much computation a game may cost its referee, which plays many games at once.

Boards, rule options and positions come from users, and some searches grow very fast with them: the
longest route, what stations lend, where passengers go, every way to pay. Their worst case follows from
the board and the rule options alone. So a game that is too expensive is refused when it is created,
and never in the middle of its play.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import comb, prod
from typing import Final

from schemas.refusals import require
from schemas.stored.codec import MAX_ENVELOPE_BYTES
from schemas.stored.rows import pack
from schemas.trains.boards.form import BOARD_SCHEMA, BoardForm
from schemas.trains.field_types import COLORS, PLUS_FOUR
from schemas.trains.rule_options import RuleOptions
from services.referee.games.trains.board import GRAY, Board, Route

MAX_ROUTES_PER_SEAT: Final = 52  # the search for the longest route grows with their number
MAX_PAIRED_CITIES: Final = 100  # every two of them are a ticket
MAX_PAYMENTS: Final = 100_000  # ways to pay, summed over all routes
MAX_STATION_LOANS: Final = 5_000  # combinations of what a seat's stations lend, or don't
RESERVED_OPTION_BYTES: Final = 8_192  # of an envelope, for everything but the board
MAX_TICKET_MIXES: Final = 300  # ways to name how many tickets of each deck
MAX_PASSENGER_WAYS: Final = 60  # passengers of a seat times routes at the busiest city


def require_within_limits(rule_options: RuleOptions, board: Board) -> None:
    """Refuses rule options that make a game on this board too expensive.

    Raises CommandRefusedError (GAME-6), which names the option that is too large."""
    routes = board.routes.values()
    _require_at_most(
        "cars", "routes in one hand", _max_routes_owned(routes, rule_options.cars), MAX_ROUTES_PER_SEAT
    )
    if rule_options.pair_tickets:
        paired_cities = len({city for route in routes for city in (route.a, route.b)})
        _require_at_most("pair_tickets", "cities in pairs", paired_cities, MAX_PAIRED_CITIES)
    _require_at_most("cards", "ways to pay for routes", _count_payments(rule_options, routes), MAX_PAYMENTS)
    for option in ("start", "draw"):
        deck_count, named = (
            len(getattr(rule_options, f"{option}_tickets")),
            getattr(rule_options, f"{option}_named"),
        )
        _require_at_most(
            f"{option}_tickets",
            "mixes to name",
            comb(named + deck_count - 1, named) if named else 1,
            MAX_TICKET_MIXES,
        )
    neighbour_counts = Counter(city for pair in {frozenset((r.a, r.b)) for r in routes} for city in pair)
    busiest = neighbour_counts.most_common(len(rule_options.station_costs))
    loan_choices = prod(1 + count for _, count in busiest)
    _require_at_most("station_costs", "choices of what stations lend", loan_choices, MAX_STATION_LOANS)
    max_degree = max(Counter(city for r in routes for city in (r.a, r.b)).values(), default=0)
    _require_at_most(
        "passengers", "ways out of one city", rule_options.passengers * max_degree, MAX_PASSENGER_WAYS
    )


def require_room_for_play_off(rule_options: RuleOptions, form: BoardForm) -> None:
    """A board that is given inline must fit, with all rule options, into the envelope that creates a
    play-off game: a play-off that is called must be possible.

    Raises CommandRefusedError (GAME-6) if the board is too large."""
    if rule_options.play_off:
        size = len(pack(BOARD_SCHEMA.write(form, exclude_defaults=True)))
        limit = MAX_ENVELOPE_BYTES - RESERVED_OPTION_BYTES
        reason = (
            f"board: has {size} bytes, {limit} at most where a first place is played off (options.play_off)"
        )
        require(size <= limit, "GAME-6", reason)


def _require_at_most(option: str, counted: str, count: int, limit: int) -> None:
    require(
        count <= limit, "GAME-6", f"options.{option}: up to {count} {counted} on this board, {limit} at most"
    )


def _max_routes_owned(routes: Iterable[Route], cars: int) -> int:
    """Count the routes that one seat can own: the shortest ones, while its cars last."""
    owned = 0
    for length in sorted(route.length for route in routes):
        cars -= length
        if cars < 0:
            break
        owned += 1
    return owned


def _count_payments(rule_options: RuleOptions, routes: Iterable[Route]) -> int:
    """Count the ways to pay for a hand that has every card, over all routes."""
    colour_count = sum(card in COLORS for card in rule_options.cards)
    ways = 0
    for route in routes:
        wild_choices = route.length + 1  # how many of the cards are locomotives
        if PLUS_FOUR in rule_options.cards:
            wild_choices = wild_choices * (wild_choices + 1) // 2
        ways += wild_choices * (colour_count if route.color == GRAY else 1)
    return ways
