"""Folded games in few bytes, so that a referee can remember very many of them.

A table is some four hundred small objects, 27 kB in all; frozen it is 6 kB, and thawed in a
tenth of the time in which its log is folded. What never changes in place stays the object it is: the
ground (rules, board and figures), which many games share, and what most games don't have. The rest
is plain values, and nothing packs those faster than marshal; its bytes never leave the process.

A game that is thawed for one command isn't packed again for it: what was packed stays, with the
few entries since, which cost less to fold at the next time.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final, NamedTuple

from schemas.rule_options import Parameters
from services.referee.rules import Table
from services.referee.rules.table import Place

GROUND: Final = ("rules", "board", "figures")
SELDOM: Final = ("tunnel", "over", "play_off", "called")
APART: Final = (*GROUND, *SELDOM, "places", "open")  # `open` has its board's fares for keys
PLAIN: Final = tuple(name for name in Table.__slots__ if name not in APART)
RECORD_BYTES: Final = 350  # of a frozen game, besides its own: its name, its tuples
ENTRY_BYTES: Final = 48  # of an entry since, besides its own
PART_BYTES: Final = 1_024  # of a board, for each city, route and ticket

_ground_of = attrgetter(*GROUND)
_seldom_of = attrgetter(*SELDOM)
_plain_of = attrgetter(*PLAIN)
_figures_of = attrgetter(*(field.name for field in fields(Parameters)))


class Ground:
    """What the games of one kind are played by and on, and how many of them are frozen."""

    __slots__ = ("bytes", "games", "keys", "parts")

    def __init__(self, key: object, table: Table) -> None:
        board = table.board
        self.keys, self.parts, self.games = (key, id(table.figures)), _ground_of(table), 0
        self.bytes = PART_BYTES * (len(board.cities) + len(board.routes) + len(board.tickets))


class Frozen(NamedTuple):
    """One game as it stood, and the entries of its log since then."""

    ground: Ground
    seldom: tuple[Any, ...]
    data: bytes
    head: bytes  # after the last of the entries since
    since: tuple[bytes, ...] = ()

    def bytes(self) -> int:
        """How many it takes."""
        return len(self.data) + RECORD_BYTES + sum(map(len, self.since)) + ENTRY_BYTES * len(self.since)

    def thaw(self) -> tuple[Table, Any]:
        """A table as the game stood, which is the caller's own, and what was put in beside it."""
        return _thaw(self)


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

    def put(self, game: str, table: Table, head: bytes, beside: Any) -> None:
        """Freeze a game, and plain values beside it. Raises ValueError: something isn't plain."""
        self.put_back(game, Frozen(self._ground(table), _seldom_of(table), _freeze(table, beside), head))

    def put_back(self, game: str, frozen: Frozen) -> None:
        """Keep a game that was frozen before."""
        self.drop(game)
        if not frozen.ground.games:
            frozen = self._with_ground(frozen)
        frozen.ground.games += 1
        self._games[game] = frozen
        self.bytes += frozen.bytes()
        while self.bytes > self.bytes_most:
            self._let_go(self._games.popitem(last=False)[1])

    def take(self, game: str) -> Frozen | None:
        """A game, which then isn't here any more; None if it wasn't."""
        if frozen := self._games.pop(game, None):
            self._let_go(frozen)
        return frozen

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

    def _with_ground(self, frozen: Frozen) -> Frozen:
        """The game on the ground of those that are here; on its own, if there are none."""
        ground = self._grounds.get(frozen.ground.keys[0])
        if ground is not None:
            return frozen._replace(ground=ground)
        self._grounds |= dict.fromkeys(frozen.ground.keys, frozen.ground)
        self.bytes += frozen.ground.bytes
        return frozen

    def _let_go(self, frozen: Frozen) -> None:
        ground = frozen.ground
        self.bytes -= frozen.bytes()
        ground.games -= 1
        if not ground.games:
            self.bytes -= ground.bytes
            for key in ground.keys:
                del self._grounds[key]


def _freeze(table: Table, beside: Any) -> bytes:
    places = [_values_of(place) for place in table.places]
    return marshal.dumps((beside, _plain_of(table), places, [*table.open.values()]))


def _thaw(frozen: Frozen) -> tuple[Table, Any]:
    beside, plain, places, routes = marshal.loads(frozen.data)  # noqa: S302 - our own
    table = Table.__new__(Table)
    table.rules, table.board, table.figures = frozen.ground.parts
    table.open = dict(zip(table.board.fares, routes, strict=True))
    table.places = [_place_with(values) for values in places]
    for names, values in ((SELDOM, frozen.seldom), (PLAIN, plain)):
        for name, value in zip(names, values, strict=True):
            setattr(table, name, value)
    return table, beside


def _values_of(place: Place) -> tuple[Any, ...]:
    """All that is before a seat. Name by name, as any other way takes five times as long; and the
    barred routes in a row, as marshal sorts a set."""
    return (
        place.age, [*place.barred], place.cars, place.chosen, place.clock_ms, place.contribution, place.gone, place.hand,
        place.kind, place.least, place.luck, place.merchandise, place.mix, place.name, place.offer,
        place.passengers, place.points, place.policy, place.routes, place.stations, place.taken,
        place.tickets, place.until,
    )  # fmt: skip


def _place_with(values: Iterable[Any]) -> Place:
    place = Place.__new__(Place)
    (
        place.age, barred, place.cars, place.chosen, place.clock_ms, place.contribution, place.gone, place.hand,
        place.kind, place.least, place.luck, place.merchandise, place.mix, place.name, place.offer,
        place.passengers, place.points, place.policy, place.routes, place.stations, place.taken,
        place.tickets, place.until,
    ) = values  # fmt: skip
    place.barred = {*barred}
    return place
