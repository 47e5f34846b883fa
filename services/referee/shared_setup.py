"""What the packed games of one board and one set of rules share, and names by their numbers there.

A board's names take twenty bytes each, their numbers one. The lists of open routes, of which a fare has few, are
the same objects in all games.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter
from typing import Final

from schemas.field_types import COLORS, HIDDEN, LOCOMOTIVE
from services.referee.hot_games import board_bytes
from services.referee.rules import GameState
from services.referee.rules.board import Fare

SHARED_FIELDS: Final = ("ruleset", "board", "rule_options")
MAX_NARROW: Final = 256  # names whose numbers fit a byte
MAX_KNOWN_ROUTES: Final = 8  # of a fare whose lists are all kept: there are 256 at most
Hand = dict[str | None, int]
PackedHand = bytes | Hand
OpenRoutes = dict[Fare, tuple[str, ...]]
PackedOpenRoutes = tuple[int, ...] | list[tuple[str, ...]]

shared_fields_of = attrgetter(*SHARED_FIELDS)


def _small_dict(kinds: Iterable[str | None]) -> Hand:
    """A hand of none of these, whose copies take half of the memory: a dictionary of strings that is given None as
    its last key would grow, but this one has had None as its first."""
    hand: Hand = {HIDDEN: 0}
    del hand[HIDDEN]
    hand.update((kind, 0) for kind in kinds)
    return hand


class NumberedNames:
    """Names by number, in a byte each, or in two."""

    def __init__(self, names: Iterable[str]) -> None:
        numbered = [*names]
        numbers: dict[str | None, int] = {name: number for number, name in enumerate(numbered)}
        self._name_of, self._number_of = numbered.__getitem__, numbers.__getitem__
        self._is_wide = len(numbered) > MAX_NARROW

    def pack(self, names: Iterable[str | None]) -> bytes:
        """Their numbers. Raises KeyError: one has none, as what is hidden."""
        if self._is_wide:
            return array("H", map(self._number_of, names)).tobytes()
        return bytes(map(self._number_of, names))

    def unpack(self, packed: bytes) -> Iterator[str]:
        """The names with these numbers."""
        return map(self._name_of, array("H", packed) if self._is_wide else packed)


class FareRoutes(dict[int, tuple[str, ...]]):
    """The lists of open routes of one fare, by a bit for each route that is open."""

    def __init__(self, routes: tuple[str, ...]) -> None:
        super().__init__()
        self.bits = {name: 1 << place for place, name in enumerate(routes)}
        self[sum(self.bits.values())] = routes

    def __missing__(self, packed: int) -> tuple[str, ...]:
        open_routes = tuple([name for name, bit in self.bits.items() if packed & bit])
        if len(self.bits) <= MAX_KNOWN_ROUTES:
            self[packed] = open_routes
        return open_routes


class FareBits(dict[tuple[str, ...], int]):
    """The other way round. Raises KeyError for routes that don't stand as on the board: they were opened again."""

    def __init__(self, routes: tuple[str, ...]) -> None:
        super().__init__()
        self.bits = {name: 1 << place for place, name in enumerate(routes)}
        self[routes] = sum(self.bits.values())

    def __missing__(self, open_routes: tuple[str, ...]) -> int:
        bits = [self.bits[name] for name in open_routes]
        if bits != sorted(bits):
            raise KeyError(open_routes)
        packed = sum(bits)
        if len(self.bits) <= MAX_KNOWN_ROUTES:
            self[open_routes] = packed
        return packed


class SharedSetup:
    """The rules, board and rule options that many games share, and how many of those are packed."""

    def __init__(self, state: GameState) -> None:
        self.components, self.game_count = shared_fields_of(state), 0
        self.size_bytes = board_bytes(state.board)
        board, fares = state.board, state.board.fares
        self.routes = NumberedNames(chain.from_iterable(fares.values()))
        self.tickets = NumberedNames(board.tickets)
        kinds = dict.fromkeys((*state.rule_options.cards, *COLORS, LOCOMOTIVE))
        self.cards = NumberedNames(kinds)
        self._hand_kinds = [*kinds, HIDDEN]
        self._empty_hand = _small_dict(self._hand_kinds)
        self._fares = tuple(fares)
        self._routes_of = [*map(FareRoutes, fares.values())]
        self._bits_of = [*map(FareBits, fares.values())]

    def pack_open_routes(self, open_routes: OpenRoutes) -> PackedOpenRoutes:
        """A bit for each that is open, by fare; where some were opened again, their names, as their order is another one."""
        try:
            return (*map(dict.__getitem__, self._bits_of, open_routes.values()),)
        except KeyError:
            return [*open_routes.values()]

    def unpack_open_routes(self, packed: PackedOpenRoutes) -> OpenRoutes:
        """What was packed so."""
        if isinstance(packed, list):
            return dict(zip(self._fares, packed, strict=True))
        return dict(zip(self._fares, map(dict.__getitem__, self._routes_of, packed), strict=False))

    def pack_hand(self, hand: Hand) -> PackedHand:
        """How many cards of each kind; where that doesn't fit a byte, the hand itself."""
        try:
            return bytes(hand.values()) if [*hand] == self._hand_kinds else hand
        except ValueError:
            return hand

    def unpack_hand(self, packed: PackedHand) -> Hand:
        """What was packed so."""
        if isinstance(packed, dict):
            return packed
        hand = self._empty_hand.copy()
        hand.update(zip(self._hand_kinds, packed, strict=False))  # one for each: see pack_hand
        return hand
