"""Packed snapshots of folded games, so that a referee can cache very many of them.

A state is some four hundred small objects, twenty kB in all. Packed it is three, and it is restored in a
hundredth of the time in which its log is read and folded. Objects that never change in place are kept as they are:
the set-up (rules, board and rule options), which many games share, and values that few games have. Names of
routes, tickets and cards are numbers. The rest is plain values, and nothing packs those faster than marshal; its bytes
never leave the process.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final, NamedTuple
from weakref import WeakValueDictionary

from schemas.rule_options import RuleOptions
from services.referee.rules import GameState
from services.referee.rules.seat_state import SEAT_FIELDS, SeatState
from services.referee.rules.state import STATE_FIELDS
from services.referee.shared_setup import SHARED_FIELDS, SharedSetup, shared_fields_of
from services.referee.slots import Values, attribute_reader, attribute_writer

RARE_FIELDS: Final = ("access", "tunnel", "result", "play_off", "next_play_off")
NUMBERED_FIELDS: Final = ("open_routes", "route_owners", "deck", "ticket_decks")
NUMBERED_SEAT_FIELDS: Final = ("hand", "tickets", "routes", "blocked_parallels")
PLAIN_FIELDS: Final = tuple(
    name for name in STATE_FIELDS if name not in {*SHARED_FIELDS, *RARE_FIELDS, *NUMBERED_FIELDS, "seats"}
)
PLAIN_SEAT_FIELDS: Final = tuple(name for name in SEAT_FIELDS if name not in NUMBERED_SEAT_FIELDS)
SNAPSHOT_OVERHEAD_BYTES: Final = 350  # of a snapshot, besides its data: its key, its tuples
Extra = Any  # plain values that marshal can pack; the caller knows of which types

_rare_fields_of, _set_rare_fields = attribute_reader(RARE_FIELDS), attribute_writer(RARE_FIELDS)
_plain_fields_of, _set_plain_fields = attribute_reader(PLAIN_FIELDS), attribute_writer(PLAIN_FIELDS)
_seat_fields_of, _set_seat_fields = attribute_reader(PLAIN_SEAT_FIELDS), attribute_writer(PLAIN_SEAT_FIELDS)
_rule_option_values_of = attrgetter(*(field.name for field in fields(RuleOptions)))


class Snapshot(NamedTuple):
    """One packed game."""

    shared_setup: SharedSetup
    rare_fields: Values
    data: bytes

    def size_bytes(self) -> int:
        """How much memory it takes, without what it shares."""
        return len(self.data) + SNAPSHOT_OVERHEAD_BYTES

    def restore(self) -> tuple[GameState, Extra]:
        """A state of the caller's own, as it was packed; and the `extra` beside it."""
        return _unpack(self)


class SnapshotCache:
    """Packed games by id, those that were put in first before the others, and how much memory they take."""

    def __init__(self) -> None:
        self.total_bytes = 0
        self._snapshots: OrderedDict[str, Snapshot] = OrderedDict()
        # Of packed games, and of those that were restored.
        self._setups: WeakValueDictionary[object, SharedSetup] = WeakValueDictionary()
        self._drops_last = True  # as the last drop did

    def __contains__(self, game: str) -> bool:
        return game in self._snapshots

    def __len__(self) -> int:
        return len(self._snapshots)

    def pack(self, state: GameState, extra: Extra) -> Snapshot:
        """A state, and plain values beside it, packed, not kept. Raises one of PROGRAMMING_ERRORS: a value can't be
        packed."""
        setup = self._shared_setup(state)
        return Snapshot(setup, _rare_fields_of(state), _pack(setup, state, extra))

    def put(self, game: str, snapshot: Snapshot) -> None:
        """Keep a packed game."""
        self.discard(game)
        self._snapshots[game] = snapshot
        self.total_bytes += snapshot.size_bytes()
        setup = snapshot.shared_setup
        setup.game_count += 1
        if setup.game_count == 1:
            self.total_bytes += setup.size_bytes

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
        """The set-up of this state, the same object for all games that have an equal one, packed or restored."""
        setup = self._setups.get(id(state.rule_options))  # found for every state that was restored
        if setup is not None and setup.components == shared_fields_of(state):
            return setup
        rules, board, rule_options = shared_fields_of(state)
        key = (rules, board, marshal.dumps(_rule_option_values_of(rule_options)))
        setup = self._setups.get(key)
        if setup is None:
            setup = self._setups[key] = self._setups[id(rule_options)] = SharedSetup(state)
        return setup

    def _release(self, snapshot: Snapshot) -> None:
        setup = snapshot.shared_setup
        self.total_bytes -= snapshot.size_bytes()
        setup.game_count -= 1
        if not setup.game_count:
            self.total_bytes -= setup.size_bytes


def _pack(setup: SharedSetup, state: GameState, extra: Extra) -> bytes:
    routes, tickets = setup.routes, setup.tickets
    seats = [
        (
            _seat_fields_of(seat),
            setup.pack_hand(seat.hand),
            tickets.pack(seat.tickets),
            routes.pack(seat.routes),
            routes.pack(seat.blocked_parallels),
        )
        for seat in state.seats
    ]
    numbered_fields = (
        setup.pack_open_routes(state.open_routes),
        routes.pack(state.route_owners),
        bytes(state.route_owners.values()),
        setup.cards.pack(state.deck),
        [*state.ticket_decks],
        [*map(tickets.pack, state.ticket_decks.values())],
    )
    return marshal.dumps((extra, _plain_fields_of(state), seats, numbered_fields))


def _unpack(snapshot: Snapshot) -> tuple[GameState, Extra]:
    extra, plain_fields, seats, numbered_fields = marshal.loads(snapshot.data)  # noqa: S302 - our own
    open_routes, claimed, owners, deck, deck_names, ticket_decks = numbered_fields
    setup, state = snapshot.shared_setup, GameState.__new__(GameState)
    state.ruleset, state.board, state.rule_options = setup.components
    state.open_routes = setup.unpack_open_routes(open_routes)
    state.route_owners = dict(zip(setup.routes.unpack(claimed), owners, strict=True))
    state.deck = [*setup.cards.unpack(deck)]
    state.ticket_decks = {
        name: [*setup.tickets.unpack(tickets)] for name, tickets in zip(deck_names, ticket_decks, strict=True)
    }
    tickets_of, routes_of, unpack_hand = setup.tickets.unpack, setup.routes.unpack, setup.unpack_hand
    state.seats = []
    for seat_fields, hand, tickets, routes, blocked_parallels in seats:
        seat_state = SeatState.__new__(SeatState)
        _set_seat_fields(seat_state, seat_fields)
        seat_state.hand = unpack_hand(hand)
        seat_state.tickets = [*tickets_of(tickets)]
        seat_state.routes = [*routes_of(routes)]
        seat_state.blocked_parallels = {*routes_of(blocked_parallels)}
        state.seats.append(seat_state)
    _set_rare_fields(state, snapshot.rare_fields)
    _set_plain_fields(state, plain_fields)
    return state, extra
