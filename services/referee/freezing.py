"""Folded games in few bytes, so that a referee can remember very many of them.

A table is some four hundred small objects, 27 kB in all; frozen it is 4 kB, and thawed ten times
as fast as its log is folded. What never changes in place stays the object that it is: the ground
(rules, board and figures), which many games share, and what most games don't have. The rest is
plain values, and nothing packs those faster than marshal; its bytes never leave the process.
"""

from __future__ import annotations

import gc
import marshal
from array import array
from collections import OrderedDict
from dataclasses import fields
from itertools import chain, islice
from operator import attrgetter
from typing import Any, Final, NamedTuple

from schemas.parameters import Parameters
from services.referee.rules import Table
from services.referee.rules.table import Place

GROUND: Final = ("rules", "board", "figures")
SELDOM: Final = ("tunnel", "over", "play_off", "called")
APART: Final = (*GROUND, *SELDOM, "places", "open")  # `open` has its board's fares for keys
PLAIN: Final = tuple(name for name in Table.__slots__ if name not in APART)
PLACE: Final = Place.__slots__
RECORD_BYTES: Final = 350  # of a frozen game, besides its own: its name, its tuples
PART_BYTES: Final = 1_024  # of a board, for each city, route and ticket

_ground_of = attrgetter(*GROUND)
_seldom_of = attrgetter(*SELDOM)
_plain_of = attrgetter(*PLAIN)
_place_of = attrgetter(*PLACE)
_figures_of = attrgetter(*(field.name for field in fields(Parameters)))


def spare_collector() -> None:
    """For a process that freezes and thaws all day: a thawed table has no cycles and goes when it
    is frozen again, so to look for cycles at every 700 new objects is a third of a command's time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


class Ground:
    """What the games of one kind are played by and on, and how many of them are frozen."""

    __slots__ = ("bytes", "games", "keys", "numbers", "parts", "routes")

    def __init__(self, key: object, table: Table) -> None:
        board = table.board
        self.keys, self.parts, self.games = (key, id(table.figures)), _ground_of(table), 0
        self.routes = tuple(board.routes)
        self.numbers = {route: number for number, route in enumerate(self.routes)}
        self.bytes = PART_BYTES * (len(board.cities) + len(board.routes) + len(board.tickets))


class Frozen(NamedTuple):
    """One game."""

    ground: Ground
    seldom: tuple[Any, ...]
    data: bytes


class Freezer:
    """Frozen games. Past so many bytes, those that were put in first are dropped."""

    def __init__(self, bytes_most: int) -> None:
        self.bytes_most, self.bytes = bytes_most, 0
        self._games: OrderedDict[str, Frozen] = OrderedDict()
        self._grounds: dict[object, Ground] = {}

    def __contains__(self, game: str) -> bool:
        return game in self._games

    def __len__(self) -> int:
        return len(self._games)

    def put(self, game: str, table: Table, beside: Any) -> None:
        """Freeze a game, and plain values beside it. Raises ValueError: something isn't plain."""
        ground = self._ground(table)
        data = _freeze(table, ground, beside)
        self.drop(game)
        if not ground.games:
            self._grounds |= dict.fromkeys(ground.keys, ground)
            self.bytes += ground.bytes
        ground.games += 1
        self._games[game] = Frozen(ground, _seldom_of(table), data)
        self.bytes += len(data) + RECORD_BYTES
        while self.bytes > self.bytes_most:
            self._let_go(self._games.popitem(last=False)[1])

    def take(self, game: str) -> tuple[Table, Any] | None:
        """Thaw a game, which then isn't here any more; None if it wasn't."""
        frozen = self._games.pop(game, None)
        if frozen is None:
            return None
        self._let_go(frozen)
        return _thaw(frozen)

    def drop(self, game: str) -> None:
        """Forget a game, if it is here."""
        if frozen := self._games.pop(game, None):
            self._let_go(frozen)

    def _ground(self, table: Table) -> Ground:
        """The ground of this table, shared with the games that have the same."""
        known = self._grounds.get(id(table.figures))  # as every table has it that was thawed
        if known is not None and known.parts == _ground_of(table):
            return known
        rules, board, figures = _ground_of(table)
        key = (rules, board, marshal.dumps(_figures_of(figures)))
        return self._grounds.get(key) or Ground(key, table)

    def _let_go(self, frozen: Frozen) -> None:
        ground = frozen.ground
        self.bytes -= len(frozen.data) + RECORD_BYTES
        ground.games -= 1
        if not ground.games:
            self.bytes -= ground.bytes
            for key in ground.keys:
                del self._grounds[key]


def _freeze(table: Table, ground: Ground, beside: Any) -> bytes:
    places = [_place_of(place) for place in table.places]
    routes = array("H", map(ground.numbers.__getitem__, chain.from_iterable(table.open.values())))
    counts = [*map(len, table.open.values())]
    return marshal.dumps((beside, _plain_of(table), places, counts, routes.tobytes()))


def _thaw(frozen: Frozen) -> tuple[Table, Any]:
    beside, plain, places, counts, numbers = marshal.loads(frozen.data)  # noqa: S302 - our own
    table = Table.__new__(Table)
    rules, board, figures = frozen.ground.parts
    table.rules, table.board, table.figures = rules, board, figures
    routes = map(frozen.ground.routes.__getitem__, array("H", numbers))
    table.open = {
        fare: dict.fromkeys(islice(routes, count)) for fare, count in zip(board.fares, counts, strict=True)
    }
    table.places = [Place.__new__(Place) for _ in places]
    for place, values in zip(table.places, places, strict=True):
        _set(place, PLACE, values)
    _set(table, SELDOM, frozen.seldom)
    _set(table, PLAIN, plain)
    return table, beside


def _set(made: object, names: tuple[str, ...], values: tuple[Any, ...]) -> None:
    for name, value in zip(names, values, strict=True):
        setattr(made, name, value)
