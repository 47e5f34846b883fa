"""How much a game may ask of its referee, who plays many at once: no table takes it long to judge.

Boards, figures and positions can be anybody's, and some questions grow very fast with them: the
longest route, what stations lend, where passengers go, every way to pay. What these would cost at
their worst is told from the board and the figures alone, so such a game is refused when it is
created, and never in the middle of its play.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import prod
from typing import Final

from schemas.boards.form import BOARD, BoardForm
from schemas.codec import LETTER_MOST, pack
from schemas.field_types import COLORS, PLUS_FOUR
from schemas.refusals import require
from schemas.rule_options import Parameters
from services.referee.rules.board import GRAY, Board, Route

HELD_MOST: Final = 52  # routes of one seat: the search for its longest grows with their number
PAIRED_MOST: Final = 100  # cities, every two of which are a ticket
PAYMENTS_MOST: Final = 100_000  # ways to pay, of all routes together
LOANS_MOST: Final = 4_000  # choices of what all stations but the last lend
FOR_FIGURES: Final = 8_192  # bytes of a letter, for what it says besides the board
WAYS_MOST: Final = 60  # out of the busiest city, for all passengers of a seat


def require_bounded(figures: Parameters, board: Board) -> None:
    """No table with these figures and this board is long to judge. Raises Refused, naming the
    option that is too large for the board."""
    routes = board.routes.values()
    _require("cars", "routes in one hand", _held_most(routes, figures.cars), HELD_MOST)
    if figures.pair_tickets:
        paired = len({city for route in routes for city in (route.a, route.b)})
        _require("pair_tickets", "cities in pairs", paired, PAIRED_MOST)
    _require("cards", "ways to pay for routes", _payments(figures, routes), PAYMENTS_MOST)
    near = Counter(city for pair in {frozenset((r.a, r.b)) for r in routes} for city in pair)
    borrowing = max(0, len(figures.station_costs) - 1)
    loans = prod(count for _, count in near.most_common(borrowing))
    _require("station_costs", "choices of what stations lend", loans, LOANS_MOST)
    busiest = max(Counter(city for r in routes for city in (r.a, r.b)).values(), default=0)
    _require("passengers", "ways out of one city", figures.passengers * busiest, WAYS_MOST)


def require_repeatable(figures: Parameters, form: BoardForm) -> None:
    """A board written in place leaves room, in the letter that a play-off's game is created by, for
    all figures: a game that is called must be possible."""
    if figures.play_off:
        size, most = len(pack(BOARD.write(form, brief=True))), LETTER_MOST - FOR_FIGURES
        why = f"board: has {size} bytes, {most} at most where a first place is played off (options.play_off)"
        require(size <= most, "GAME-6", why)


def _require(option: str, what: str, count: int, most: int) -> None:
    require(count <= most, "GAME-6", f"options.{option}: up to {count} {what} on this board, {most} at most")


def _held_most(routes: Iterable[Route], cars: int) -> int:
    """How many routes one seat can own: the shortest ones, as far as its cars go."""
    held = 0
    for length in sorted(route.length for route in routes):
        cars -= length
        if cars < 0:
            break
        held += 1
    return held


def _payments(figures: Parameters, routes: Iterable[Route]) -> int:
    """How many ways to pay a hand that has everything could choose from."""
    kinds = sum(card in COLORS for card in figures.cards)
    ways = 0
    for route in routes:
        wild = route.length + 1  # how many of the cards are locomotives
        if PLUS_FOUR in figures.cards:
            wild = wild * (wild + 1) // 2
        ways += wild * (kinds if route.color == GRAY else 1)
    return ways
