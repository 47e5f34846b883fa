"""Packed snapshots of folded games, so that a referee can cache very many of them.

A state is some four hundred small objects, 27 kB in all. Packed it is 4 kB, and it is restored in a
fiftieth of the time in which its log is read and folded. Objects that never change in place are kept as they are:
the set-up (rules, board and rule options), which many games share, and values that few games have. Routes are
numbers of a byte or two. The rest is plain values, and nothing packs those faster than marshal; its bytes never leave the
process.

A game that is restored for one command isn't packed again for it: the snapshot stays, with the few
entries since then as its tail, which are folded at the next restore.
"""

from __future__ import annotations

import marshal
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import chain
from operator import attrgetter
from typing import Any, Final, NamedTuple

from schemas.rule_options import RuleOptions
from services.referee.hot_games import board_bytes
from services.referee.rules import GameState
from services.referee.rules.board import Fare
from services.referee.rules.seat_state import SEAT_FIELDS, SeatState
from services.referee.rules.state import STATE_FIELDS
from services.referee.slots import Values, attribute_reader, attribute_writer

SHARED_FIELDS: Final = ("ruleset", "board", "rule_options")
RARE_FIELDS: Final = ("access", "tunnel", "result", "play_off", "next_play_off")
# The board's fares are the keys of `open_routes`.
ROUTE_FIELDS: Final = ("open_routes", "route_owners")
SEAT_ROUTE_FIELDS: Final = ("routes", "blocked_parallels")
PLAIN_FIELDS: Final = tuple(
    name for name in STATE_FIELDS if name not in {*SHARED_FIELDS, *RARE_FIELDS, *ROUTE_FIELDS, "seats"}
)
PLAIN_SEAT_FIELDS: Final = tuple(name for name in SEAT_FIELDS if name not in SEAT_ROUTE_FIELDS)
MAX_NARROW: Final = 256  # routes of a board whose numbers fit a byte
SNAPSHOT_OVERHEAD_BYTES: Final = 350  # of a snapshot, besides its data: its key, its tuples
ENTRY_OVERHEAD_BYTES: Final = 48  # of an entry of the tail, besides its bytes
OpenRoutes = dict[Fare, dict[str, None]]
PackedOpenRoutes = bytes | list[list[str]]
Extra = Any  # plain values that marshal can pack; the caller knows of which types

_shared_fields_of = attrgetter(*SHARED_FIELDS)
_rare_fields_of, _set_rare_fields = attribute_reader(RARE_FIELDS), attribute_writer(RARE_FIELDS)
_plain_fields_of, _set_plain_fields = attribute_reader(PLAIN_FIELDS), attribute_writer(PLAIN_FIELDS)
_seat_fields_of, _set_seat_fields = attribute_reader(PLAIN_SEAT_FIELDS), attribute_writer(PLAIN_SEAT_FIELDS)
_rule_option_values_of = attrgetter(*(field.name for field in fields(RuleOptions)))


class SharedSetup:
    """The rules, board and rule options that many games share, and how many of those are packed."""

    __slots__ = (
        "components",
        "game_count",
        "is_wide",
        "lookup_keys",
        "numbers",
        "places",
        "routes",
        "routes_by_fare",
        "size_bytes",
    )

    def __init__(self, key: object, state: GameState) -> None:
        self.lookup_keys = (key, id(state.rule_options))
        self.components, self.game_count = _shared_fields_of(state), 0
        self.size_bytes = board_bytes(state.board)
        fares = state.board.fares
        self.routes = [*chain.from_iterable(fares.values())]
        self.numbers = {name: number for number, name in enumerate(self.routes)}
        self.is_wide = len(self.routes) > MAX_NARROW
        self.routes_by_fare = [*map(dict.fromkeys, fares.values())]
        self.places = [place for place, names in enumerate(fares.values()) for _ in names]

    def pack_routes(self, names: Iterable[str]) -> bytes:
        """The numbers of these routes, of a byte or two each."""
        return self._pack_numbers(map(self.numbers.__getitem__, names))

    def unpack_routes(self, packed: bytes) -> Iterator[str]:
        """The routes with these numbers."""
        return map(self.routes.__getitem__, self._unpack_numbers(packed))

    def pack_open_routes(self, open_routes: OpenRoutes) -> PackedOpenRoutes:
        """Those that aren't open; where routes were opened again, all that are, by fare, as their order is another one."""
        numbers = [*map(self.numbers.__getitem__, chain.from_iterable(open_routes.values()))]
        if numbers == sorted(numbers):
            return self._pack_numbers({*range(len(self.routes))}.difference(numbers))
        return [[*names] for names in open_routes.values()]

    def unpack_open_routes(self, packed: PackedOpenRoutes) -> OpenRoutes:
        """What was packed so."""
        fares = self.components[1].fares
        if isinstance(packed, list):
            return dict(zip(fares, map(dict.fromkeys, packed), strict=True))
        routes_by_fare = [names.copy() for names in self.routes_by_fare]
        for number in self._unpack_numbers(packed):
            del routes_by_fare[self.places[number]][self.routes[number]]
        return dict(zip(fares, routes_by_fare, strict=True))

    def _pack_numbers(self, numbers: Iterable[int]) -> bytes:
        return array("H", numbers).tobytes() if self.is_wide else bytes(numbers)

    def _unpack_numbers(self, packed: bytes) -> Iterable[int]:
        return array("H", packed) if self.is_wide else packed


class Snapshot(NamedTuple):
    """One packed game, and the entries of its log since it was packed."""

    shared_setup: SharedSetup
    rare_fields: Values
    data: bytes
    head: bytes  # after the last entry of the tail
    tail: tuple[bytes, ...] = ()

    def size_bytes(self) -> int:
        """How much memory it takes, without what it shares."""
        return (
            len(self.data)
            + SNAPSHOT_OVERHEAD_BYTES
            + sum(map(len, self.tail))
            + ENTRY_OVERHEAD_BYTES * len(self.tail)
        )

    def restore(self) -> tuple[GameState, Extra]:
        """A state of the caller's own, as it was packed, without the tail; and the `extra` beside it."""
        return _unpack(self)


class SnapshotCache:
    """Packed games by id, those that were put in first before the others, and how much memory they take."""

    def __init__(self) -> None:
        self.total_bytes = 0
        self._snapshots: OrderedDict[str, Snapshot] = OrderedDict()
        self._setups: dict[object, SharedSetup] = {}
        self._drops_last = True  # as the last drop did

    def __contains__(self, game: str) -> bool:
        return game in self._snapshots

    def __len__(self) -> int:
        return len(self._snapshots)

    def put(self, game: str, state: GameState, head: bytes, extra: Extra) -> None:
        """Pack a game, and plain values beside it. Raises ValueError: marshal can't pack a value."""
        setup = self._shared_setup(state)
        self.put_back(game, Snapshot(setup, _rare_fields_of(state), _pack(setup, state, extra), head))

    def put_back(self, game: str, snapshot: Snapshot) -> None:
        """Keep a snapshot that was taken out before, or has a longer tail now."""
        self.discard(game)
        if not snapshot.shared_setup.game_count:
            snapshot = self._with_shared_setup(snapshot)
        snapshot.shared_setup.game_count += 1
        self._snapshots[game] = snapshot
        self.total_bytes += snapshot.size_bytes()

    def drop_one(self) -> None:
        """Drop the game that was put in first; every other time the one that was put in last, because where games take
        turns, and not all fit, the first is the next to be asked for. Raises KeyError: there is none."""
        self._drops_last = not self._drops_last
        self._release(self._snapshots.popitem(last=self._drops_last)[1])

    def pop(self, game: str) -> Snapshot | None:
        """Take a game out; None if it isn't here."""
        if snapshot := self._snapshots.pop(game, None):
            self._release(snapshot)
        return snapshot

    def discard(self, game: str) -> None:
        """Drop a game, if it is here."""
        if snapshot := self._snapshots.pop(game, None):
            self._release(snapshot)

    def _shared_setup(self, state: GameState) -> SharedSetup:
        """The set-up of this state, the same object for all games that have an equal one."""
        setup = self._setups.get(id(state.rule_options))  # found for every state that was restored
        if setup is not None and setup.components == _shared_fields_of(state):
            return setup
        rules, board, rule_options = _shared_fields_of(state)
        key = (rules, board, marshal.dumps(_rule_option_values_of(rule_options)))
        return self._setups.get(key) or SharedSetup(key, state)

    def _with_shared_setup(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with an equal set-up of the games that are here; else its own is added."""
        setup = self._setups.get(snapshot.shared_setup.lookup_keys[0])
        if setup is not None:
            return snapshot._replace(shared_setup=setup)
        self._setups |= dict.fromkeys(snapshot.shared_setup.lookup_keys, snapshot.shared_setup)
        self.total_bytes += snapshot.shared_setup.size_bytes
        return snapshot

    def _release(self, snapshot: Snapshot) -> None:
        setup = snapshot.shared_setup
        self.total_bytes -= snapshot.size_bytes()
        setup.game_count -= 1
        if not setup.game_count:
            self.total_bytes -= setup.size_bytes
            for key in setup.lookup_keys:
                del self._setups[key]


def _pack(setup: SharedSetup, state: GameState, extra: Extra) -> bytes:
    seats = [
        (_seat_fields_of(seat), setup.pack_routes(seat.routes), setup.pack_routes(seat.blocked_parallels))
        for seat in state.seats
    ]
    packed_routes = (
        setup.pack_open_routes(state.open_routes),
        setup.pack_routes(state.route_owners),
        bytes(state.route_owners.values()),
    )
    return marshal.dumps((extra, _plain_fields_of(state), seats, packed_routes))


def _unpack(snapshot: Snapshot) -> tuple[GameState, Extra]:
    extra, plain_fields, seats, packed_routes = marshal.loads(snapshot.data)  # noqa: S302 - our own
    setup, state = snapshot.shared_setup, GameState()
    state.ruleset, state.board, state.rule_options = setup.components
    open_routes, claimed, owners = packed_routes
    state.open_routes = setup.unpack_open_routes(open_routes)
    state.route_owners = dict(zip(setup.unpack_routes(claimed), owners, strict=True))
    state.seats = [_restore_seat(setup, *packed_seat) for packed_seat in seats]
    _set_rare_fields(state, snapshot.rare_fields)
    _set_plain_fields(state, plain_fields)
    return state, extra


def _restore_seat(
    setup: SharedSetup, seat_fields: Sequence[object], routes: bytes, blocked_parallels: bytes
) -> SeatState:
    seat_state = SeatState()
    _set_seat_fields(seat_state, seat_fields)
    seat_state.routes = [*setup.unpack_routes(routes)]
    seat_state.blocked_parallels = {*setup.unpack_routes(blocked_parallels)}
    return seat_state
