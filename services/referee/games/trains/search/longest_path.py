"""The longest simple path: the most spaces along a walk that visits no city twice (SCORE-3). Exact.

This is frontier-based dynamic programming (Knuth, TAOCP 7.1.4, "simpath"). The cities are swept one by
one, in an order that keeps the frontier (cities with both swept and unswept neighbours) small: each city
is left out, passed through, or an end. All that matters of a partial path is how its pieces connect the
frontier cities, so of all partial paths with the same connections only the longest is kept. A narrow
sweep over the most promising states first finds a good path; with that bound the full sweep drops most
states, since they can't become longer. The cost of the full sweep grows with the size of the frontier
(about five on a planar board), not with the number of routes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from services.referee.games.trains.search.sweep_order import sweep_order

Graph = dict[str, dict[str, int]]  # by city its neighbours, and the spaces to each
Frontier = dict[bytes, int]  # by state of the frontier the most spaces of a partial path

CLOSED: Final = 255  # the path passes through this city already
END: Final = 254  # the piece that is open here has its other end fixed
FREE_SLOTS: Final = [bytes([slot]) for slot in range(END)]  # more than a frontier ever has
BEAMS: Final = (30, 20_000)  # states kept at a step by each sweep, unless fewer are hopeful


def longest_path(edges: Iterable[tuple[str, str, int]]) -> int:
    """Spaces of the longest simple path over these routes (city, city, length); 0 for none."""
    graph: Graph = defaultdict(dict)
    for a, b, length in edges:
        if a != b:
            graph[a][b] = graph[b][a] = max(length, graph[a].get(b, 0))
    best, arms = _cut_trees(graph)
    for part in sorted(_components(graph), key=lambda part: (-_total_spaces(graph, part), part)):
        sweep = _Sweep(graph, arms, part)
        for beam in BEAMS:
            best, is_complete = sweep.best_over(best, beam)
            if is_complete:
                break
    return best


def _cut_trees(graph: Graph) -> tuple[int, dict[str, int]]:
    """Removes the trees that hang on cycles from the graph. Returns the longest path inside a tree, and by
    remaining city the longest arm into its trees: a path can only begin or end in a tree."""
    inside, arms = 0, dict[str, int]()
    leaves = [city for city, ways in graph.items() if len(ways) == 1]
    while leaves:
        leaf = leaves.pop()
        for root, length in graph.pop(leaf).items():  # one, or none at the last city of a tree
            arm = length + arms.pop(leaf, 0)
            inside = max(inside, arm + arms.get(root, 0))
            arms[root] = max(arm, arms.get(root, 0))
            del graph[root][leaf]
            if len(graph[root]) == 1:
                leaves.append(root)
    return inside, arms


def _components(graph: Graph) -> Iterator[list[str]]:
    """The connected components, each as its cities."""
    seen: set[str] = set()
    for city in graph:
        component = [] if city in seen else [city]
        seen.add(city)
        for city_in_component in component:
            component += (new := [other for other in graph[city_in_component] if other not in seen])
            seen.update(new)
        if component:
            yield component


def _total_spaces(graph: Graph, part: list[str]) -> int:
    return sum(sum(graph[city].values()) for city in part) // 2


class _Step(NamedTuple):
    """One city of the sweep. Frontier cities have slots, which are reused for later cities."""

    slot: int
    arm: int
    ways: list[tuple[int, int]]  # slot and length, to cities not yet swept
    longest_left: dict[int, int]  # by slot of a frontier city: its longest unswept route
    two_longest_left: dict[int, int]  # by slot: the sum of its two longest
    beyond: int  # the sum of the two longest routes of every city beyond the frontier
    ends: list[int]  # what the ends that aren't fixed add at most, by how many are: twice an arm for a route


def _steps(graph: Graph, arms: dict[str, int], order: list[str]) -> Iterator[_Step]:
    """The steps of the sweep in this order of the cities."""
    unswept = {city: dict(graph[city]) for city in order}
    longest = {city: sorted(ways.values())[-2:] for city, ways in unswept.items()}
    slots: dict[str, int] = {}
    free_slots = list(range(len(order)))[::-1]
    for city in order:
        for near in (city, *unswept[city]):
            if near not in slots:
                slots[near] = free_slots.pop()
        slot = slots.pop(city)
        ways = [(slots[near], length) for near, length in unswept[city].items()]
        del longest[city]
        for near in unswept.pop(city):
            del unswept[near][city]
            longest[near] = sorted(unswept[near].values())[-2:]
        one = {other_slot: max(longest[other], default=0) for other, other_slot in slots.items()}
        two = {other_slot: sum(longest[other]) for other, other_slot in slots.items()}
        beyond = sum(sum(two) for other, two in longest.items() if other not in slots)
        ends = sorted((2 * arms.get(other, 0) - sum(longest[other][:-1]) for other in unswept), reverse=True)
        yield _Step(slot, arms.get(city, 0), ways, one, two, beyond, [sum(ends[:2]), sum(ends[:1]), 0])
        free_slots.append(slot)


class _Sweep:
    """The paths in one component. A state is a row of bytes by slot: the slot of the other open end of the
    piece that is open here, END, or CLOSED; a city without a route so far has its own slot."""

    def __init__(self, graph: Graph, arms: dict[str, int], part: list[str]) -> None:
        self.best = 0
        self.state_count = 0  # over all sweeps: the measure of what they cost
        self.steps = list(_steps(graph, arms, sweep_order({city: graph[city] for city in part})))
        self.empty_sides = bytes(
            range(1 + max(slot for step in self.steps for slot in (step.slot, *step.two_longest_left)))
        )

    def best_over(self, best_known: int, beam_width: int) -> tuple[int, bool]:
        """The longest path found, or `best_known` if none is longer, and whether none can be longer. At most
        `beam_width` states are kept at each step."""
        self.best, is_complete = best_known, True
        frontier: Frontier = {self.empty_sides: 0}
        for step in self.steps:
            next_frontier: Frontier = {}
            for sides, spaces in frontier.items():
                for after, total in self._expand(step, sides, spaces):
                    if next_frontier.get(after, -1) < total:
                        next_frontier[after] = total
            self.state_count += len(next_frontier)
            bounds = {sides: _upper_bound(step, sides, spaces) for sides, spaces in next_frontier.items()}
            hopeful = [sides for sides, bound in bounds.items() if bound // 2 > self.best]
            if len(hopeful) > beam_width:
                hopeful = sorted(hopeful, key=bounds.__getitem__, reverse=True)[:beam_width]
                is_complete = False
            frontier = {sides: next_frontier[sides] for sides in hopeful}
        return self.best, is_complete

    def _expand(self, step: _Step, sides: bytes, spaces: int) -> Iterator[tuple[bytes, int]]:
        """The states that follow from all ways to use this city, and their spaces."""
        slot = step.slot
        if sides[slot] in (slot, CLOSED):
            yield _free_slot(sides, slot), spaces
        if sides[slot] == CLOSED:
            return
        starts = [(sides, spaces, 0)]
        if sides[slot] == slot:  # its first route; the second is one of those after it
            starts = [
                (_lay_route(sides, slot, near), spaces + length, number)
                for number, (near, length) in enumerate(step.ways, 1)
                if sides[near] != CLOSED
            ]
        for before, total, used in starts:
            if after := self._end_here(before, slot, total + step.arm):
                yield after, total + step.arm
            for near, length in step.ways[used:]:
                if before[near] != CLOSED and before[slot] != near:  # no city twice
                    after = _free_slot(_lay_route(before, slot, near), slot)
                    if before[slot] == before[near] == END:
                        self._record_path(after, total + length)
                    else:
                        yield after, total + length

    def _end_here(self, sides: bytes, slot: int, spaces: int) -> bytes | None:
        """The open piece ends in this city. None if it can't, or if that completes the path."""
        far, after = sides[slot], bytearray(_free_slot(sides, slot))
        if far == END:
            self._record_path(after, spaces)
            return None
        after[far] = END
        return bytes(after) if after.count(END) <= 2 else None

    def _record_path(self, sides: bytes | bytearray, spaces: int) -> None:
        """A piece with both ends fixed is a path, if no other piece is open."""
        if all(far in (slot, CLOSED) for slot, far in enumerate(sides)):
            self.best = max(self.best, spaces)


def _lay_route(sides: bytes, a: int, b: int) -> bytes:
    """The state with a route between two open or free cities: their pieces become one."""
    after = bytearray(sides)
    far_a, far_b = sides[a], sides[b]
    if far_a != a:
        after[a] = CLOSED
    if far_b != b:
        after[b] = CLOSED
    if far_a != END:
        after[far_a] = far_b
    if far_b != END:
        after[far_b] = far_a
    return bytes(after)


def _free_slot(sides: bytes, slot: int) -> bytes:
    return sides[:slot] + FREE_SLOTS[slot] + sides[slot + 1 :]


def _upper_bound(step: _Step, sides: bytes, spaces: int) -> int:
    """An upper bound of twice the spaces that this state can reach: a city on the path has two routes, and
    an open one has one left."""
    bound = 2 * spaces + step.beyond + step.ends[sides.count(END)]
    for slot, two in step.two_longest_left.items():
        far = sides[slot]
        if far == slot:
            bound += two
        elif far != CLOSED:
            bound += step.longest_left[slot]
    return bound
