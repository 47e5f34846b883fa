"""A referee of Trains as the course describes it, for two strategies and players that fail: written from the texts alone, so
that the server can be compared with it. It shares nothing with the product."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

Edge = tuple[str, str, int, str]  # city, city, length, colour


class CoursePlayer(NamedTuple):
    """A strategy, and the call at which it fails, for the n-th time that it gets it (from 0)."""

    name: str
    strategy: str
    call: str = ""
    nth: int = 0


class FailedError(Exception):
    """The player failed at a call."""


class CourseGame:
    """One game."""

    def __init__(self, map_json: Any, players: Sequence[CoursePlayer], cards: Sequence[str]) -> None:
        self.players, self.deck = players, list(cards)
        self.edges: list[Edge] = sorted(
            (*sorted((a, b)), length, color)
            for a, row in map_json["connections"].items()
            for b, colors in row.items()
            for color, length in colors.items()
        )
        cities = sorted(city for city, _ in map_json["cities"])
        self.destinations = [pair for pair in combinations(cities, 2) if joined(self.edges, *pair)]
        self.calls = [Counter[str]() for _ in players]
        self.active = list(range(len(players)))
        self.removed: list[int] = []
        self.hands: list[Counter[str]] = []
        for _ in players:
            self.hands.append(Counter(self.deck[:4]))
            del self.deck[:4]
        self.rails = [45] * len(players)
        self.owned: list[list[Edge]] = [[] for _ in players]
        self.kept: list[list[tuple[str, str]]] = [[] for _ in players]

    def call(self, player: int, name: str) -> None:
        """Raises FailedError where this player fails now."""
        self.calls[player][name] += 1
        who = self.players[player]
        if who.call == name and self.calls[player][name] == who.nth + 1:
            raise FailedError

    def remove(self, player: int) -> None:
        self.active.remove(player)
        self.removed.append(player)
        self.owned[player] = []

    def play(self) -> tuple[list[list[str]], list[str]]:
        """The names by rank, and those removed."""
        self.set_up()
        self.take_turns()
        ranks = self.ranks()
        late = []
        for player in [player for rank in ranks for player in rank]:
            try:
                self.call(player, "win")
            except FailedError:
                late.append(player)
        shown = [sorted(self.players[each].name for each in rank if each not in late) for rank in ranks]
        return shown, sorted(self.players[each].name for each in (*self.removed, *late))

    def set_up(self) -> None:
        for player in [*self.active]:
            offered = self.destinations[:5]
            try:
                self.call(player, "setup")
                self.call(player, "pick")
            except FailedError:
                back = [
                    color
                    for color in ("white", "blue", "red", "green")
                    for _ in range(self.hands[player][color])
                ]
                self.deck[:0] = back
                self.remove(player)
                continue
            kept = offered[:2] if self.players[player].strategy == "hold-10" else offered[-2:]
            self.kept[player] = kept
            self.destinations = [each for each in self.destinations if each not in kept]

    def take_turns(self) -> None:
        queue, last, unchanged = [*self.active], list[int](), set[int]()
        in_last = False
        while self.active and not (in_last and not last):
            player = (last if in_last else queue).pop(0)
            try:
                changed = self.take_turn(player)
            except FailedError:
                self.remove(player)
                unchanged.clear()
                continue
            if not in_last:
                if self.rails[player] <= 2:
                    in_last, last = True, [*queue]
                queue.append(player)
            unchanged = set() if changed else unchanged | {player}
            if unchanged >= set(self.active):
                return

    def take_turn(self, player: int) -> bool:
        """Whether it changed anything."""
        self.call(player, "play")
        taken = {edge for owned in self.owned for edge in owned}
        hand = self.hands[player]
        able = [e for e in self.edges if e not in taken and e[2] <= self.rails[player] and e[2] <= hand[e[3]]]
        if able and not (self.players[player].strategy == "hold-10" and hand.total() <= 10):
            edge = able[0]
            hand[edge[3]] -= edge[2]
            self.rails[player] -= edge[2]
            self.owned[player].append(edge)
            return True
        if len(self.deck) < 2:
            return False
        self.call(player, "more")
        hand.update(self.deck[:2])
        del self.deck[:2]
        return True

    def ranks(self) -> list[list[int]]:
        longest = {player: longest_path(self.owned[player]) for player in self.active}
        most = max(longest.values(), default=0)
        points = {
            player: sum(edge[2] for edge in self.owned[player])
            + sum(10 if joined(self.owned[player], *pair) else -10 for pair in self.kept[player])
            + 20 * (longest[player] == most > 0)
            for player in self.active
        }
        return [
            [player for player in self.active if points[player] == value]
            for value in sorted(set(points.values()), reverse=True)
        ]


def joined(edges: Sequence[Edge], start: str, end: str) -> bool:
    """Whether the edges join two cities."""
    found = {start}
    while more := {b for edge in edges for a, b in (edge[:2], edge[1::-1]) if a in found} - found:
        found |= more
    return end in found


def longest_path(edges: Sequence[Edge]) -> int:
    """Spaces of the longest way that comes through no city twice."""

    def from_city(city: str, seen: frozenset[str]) -> int:
        ways = (
            (b, length)
            for *ends, length, _ in edges
            for a, b in (ends, ends[::-1])
            if a == city and b not in seen
        )
        return max((length + from_city(b, seen | {b}) for b, length in ways), default=0)

    return max((from_city(city, frozenset([city])) for edge in edges for city in edge[:2]), default=0)
