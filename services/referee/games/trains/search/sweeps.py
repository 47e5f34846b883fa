"""The longest trail and the longest simple path, on any board: the cities are swept one by one (SCORE-3). Exact.

A trail uses no route twice; some of its routes may be bridges, without which their ends aren't connected. A simple
path visits no city twice. Cities are taken in an order that keeps a sweep's frontier small.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

MAX_STARTS: Final = 12
COST_BASE: Final = 3  # how fast the states of a sweep grow with its frontier


def sweep_order(neighbours: Mapping[str, Collection[str]]) -> list[str]:
    """All cities of a connected graph, in an order with a small frontier: the cities that aren't swept and
    have a neighbour that is. It is the cheapest of a few greedy orders."""
    least, chosen = float("inf"), list(neighbours)
    for start in sorted(neighbours, key=lambda city: (len(neighbours[city]), city))[:MAX_STARTS]:
        order, cost = _order_from(start, neighbours, least)
        if cost < least:
            least, chosen = cost, order
    return chosen


def _order_from(
    start: str, neighbours: Mapping[str, Collection[str]], most: float
) -> tuple[list[str], float]:
    """The greedy order from this city, and its cost; it stops where it costs more than `most`."""
    unseen_counts = {city: len(near) for city, near in neighbours.items()}  # neighbours that nothing led to
    waiting, frontier = dict.fromkeys(neighbours), dict.fromkeys([start])
    order, cost = list[str](), 0.0

    def growth(city: str) -> tuple[int, bool]:
        """By how many cities the frontier grows with this one; of equals one of the frontier is first."""
        is_new = city not in frontier
        return unseen_counts[city] + is_new - 1, is_new

    def see(city: str) -> None:
        frontier[city] = None
        for near in neighbours[city]:
            unseen_counts[near] -= 1

    see(start)
    city = start
    while cost < most:
        if city not in frontier:
            see(city)
        for near in neighbours[city]:
            if near in waiting and near not in frontier:
                see(near)
        del waiting[city], frontier[city]
        order.append(city)
        cost += COST_BASE ** len(frontier)
        if not waiting:
            break
        city = min(waiting, key=growth)
    return order, cost


Edge = tuple[str, str, int]
Arms = Mapping[str, tuple[int, int]]  # by city the two longest paths that lead away from the rest, 0 for none
State = tuple[bytes, int, int]  # piece by slot (0: no route yet), bit mask of odd slots, ends
States = dict[State, int]  # the most spaces of each
Gains = dict[int, tuple[int, int, int]]  # by odd slots and ends the most spaces still to gain

NARROW_BEAM: Final = 30  # states kept by the first sweep
MAX_BEAM: Final = 2_000  # ten times what the worst known network of 52 routes needs
MAX_ENDS: Final = 2
IMPOSSIBLE: Final = -(1 << 30)
TOUCHED: Final = bytes([0, *[255] * 255])


class _Routes(NamedTuple):
    """A step of the sweep: the routes between two cities of the frontier, and what use they can be put to.

    Of parallel routes all are used, or all but the shortest, or none: fewer of the same parity gain less."""

    a: int  # slots
    b: int
    even: int  # spaces of those used that change no parity; 0 for none of them
    odd: int


class _City(NamedTuple):
    """A step of the sweep: all routes of a city are decided on, and it leaves the frontier."""

    slot: int
    arm: int
    second_arm: int


Step = _Routes | _City


def longest_connected_trail(edges: Sequence[Edge], arms: Arms, best_known: int) -> int:
    """Spaces of the longest trail over connected routes, or `best_known` if none is longer.

    The trail may begin and end with an arm of a city that it visits."""
    if not edges:
        return best_known
    sweep = _Sweep(_steps(edges, arms))
    for beam in (NARROW_BEAM, MAX_BEAM):
        best_known, is_complete = sweep.best_over(best_known, beam)
        if is_complete:
            break
    return best_known


def _steps(edges: Iterable[Edge], arms: Arms) -> list[Step]:
    """The steps of the sweep. A city gets a slot with its first route; slots are used again."""
    lengths: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for a, b, length in edges:
        lengths[a][b].append(length)
        lengths[b][a].append(length)
    order = sweep_order(lengths)
    slots, free_slots, steps = dict[str, int](), list(range(len(order)))[::-1], list[Step]()
    for city in order:
        for near in (city, *lengths[city]):
            if near not in slots:
                slots[near] = free_slots.pop()
        for near, parallels in lengths[city].items():
            total = sum(parallels)
            fewer = total - min(parallels)
            even, odd = (fewer, total) if len(parallels) % 2 else (total, fewer)
            steps.append(_Routes(slots[city], slots[near], even, odd))
            del lengths[near][city]
        steps.append(_City(slots[city], *arms.get(city, (0, 0))))
        free_slots.append(slots.pop(city))
    return steps


class _Sweep:
    """The states of connected routes, swept in this order."""

    def __init__(self, steps: list[Step]) -> None:
        self.steps = steps
        self.best = 0
        self.state_count = 0  # over all sweeps: the measure of what they cost
        self.gains = list(_gains(steps))  # after each step
        slot_count = 1 + max(step.slot for step in steps if isinstance(step, _City))
        self.untouched = bytes(slot_count + 1)  # the last is never used, so that every state has a 0

    def best_over(self, best_known: int, beam_width: int) -> tuple[int, bool]:
        """The longest trail found, or `best_known` if none is longer, and whether none can be longer. At most
        `beam_width` states are kept at each step."""
        self.best, is_complete = best_known, True
        states: States = {(self.untouched, 0, 0): 0}
        for step, gains in zip(self.steps, self.gains, strict=True):
            self.state_count += len(states)
            if isinstance(step, _Routes):
                states = self._use_routes(states, step, gains)
            else:
                states = _undominated(self._leave_city(states, step, gains))
            if len(states) > beam_width:
                states, is_complete = _most_hopeful(states, gains, beam_width), False
        return self.best, is_complete

    def _use_routes(self, states: States, step: _Routes, gains: Gains) -> States:
        """The states that follow from all ways to use these routes, or none."""
        best, flip = self.best, 1 << step.a | 1 << step.b
        after: States = {}
        for state, spaces in states.items():
            pieces, odd, ends = state
            if spaces + gains[odd][ends] > best and after.get(state, -1) < spaces:
                after[state] = spaces
            joined = None
            for odd_after, total in ((odd ^ flip, spaces + step.odd), (odd, spaces + step.even)):
                if total > spaces and total + gains[odd_after][ends] > best:
                    joined = joined or _join(pieces, step.a, step.b)
                    if after.get(key := (joined, odd_after, ends), -1) < total:
                        after[key] = total
        return after

    def _leave_city(self, states: States, step: _City, gains: Gains) -> States:
        """The states without this city. Where it is odd, the trail ends there."""
        bit, slot = 1 << step.slot, step.slot
        after: States = {}
        for (pieces, odd, ends), spaces in states.items():
            follow = [(odd, ends, spaces)]
            if odd & bit:
                follow = [(odd ^ bit, ends + 1, spaces + step.arm)] if ends < MAX_ENDS else []
            elif step.arm and not ends and pieces[slot]:
                follow.append((odd, MAX_ENDS, spaces + step.arm + step.second_arm))
            if not (rest := _leave(pieces, slot)):
                if pieces.count(0) == len(pieces) - 1:  # no other piece is open
                    self.best = max([self.best, *(total for *_, total in follow)])
                continue
            for odd_after, ends_after, total in follow:
                key = rest, odd_after, ends_after
                if total + gains[odd_after][ends_after] > self.best and after.get(key, -1) < total:
                    after[key] = total
        return after


def _join(pieces: bytes, a: int, b: int) -> bytes:
    """The pieces with two cities connected. A piece has the number of its lowest slot, plus 1."""
    piece_a, piece_b = pieces[a] or a + 1, pieces[b] or b + 1
    low, high = min(piece_a, piece_b), max(piece_a, piece_b)
    after = bytearray(pieces)
    after[a], after[b] = piece_a, piece_b
    return bytes(after).replace(bytes((high,)), bytes((low,)))


def _leave(pieces: bytes, slot: int) -> bytes:
    """The pieces without a city of the frontier; nothing if it is the last one of its piece."""
    piece = pieces[slot]
    if not piece:
        return pieces
    rest = pieces[:slot] + b"\0" + pieces[slot + 1 :]
    lowest = rest.find(piece)
    return b"" if lowest < 0 else rest.replace(bytes((piece,)), bytes((lowest + 1,)))


def _undominated(states: States) -> States:
    """The states without those that some state in one piece makes needless: it has as many spaces and no
    fewer ends to choose, is odd where they are, and touches every city that they touch. What makes a trail of
    them makes one of it."""
    touched = [int.from_bytes(pieces.translate(TOUCHED)) for pieces, _, _ in states]
    in_one_piece: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for ((pieces, odd, ends), spaces), cities in zip(states.items(), touched, strict=True):
        if len(set(pieces)) == 2:  # 0 is always there
            in_one_piece[odd, ends].append((cities, spaces))
    kept: States = {}
    for (state, spaces), cities in zip(states.items(), touched, strict=True):
        pieces, odd, ends = state
        itself = (cities, spaces) if len(set(pieces)) == 2 else None
        rivals = [rival for rival in in_one_piece[odd, ends] if rival != itself]
        if ends:
            rivals += in_one_piece[odd, 0]
        if not cities or not any(most >= spaces and not cities & ~wider for wider, most in rivals):
            kept[state] = spaces
    return kept


def _most_hopeful(states: States, gains: Gains, most: int) -> States:
    """So many of the states: those that can gain the most, and of equals those in the fewest pieces."""

    def rank(item: tuple[State, int]) -> tuple[int, int]:
        (pieces, odd, ends), spaces = item
        return -spaces - gains[odd][ends], len(set(pieces))

    return dict(sorted(states.items(), key=rank)[:most])


def _gains(steps: list[Step]) -> Iterator[Gains]:
    """After each step the most spaces that the steps after it can add, if connections don't matter."""
    active: set[int] = set()
    slots_before = []  # the slots of the frontier before each step
    for step in steps:
        slots_before.append(tuple(active))
        if isinstance(step, _Routes):
            active |= {step.a, step.b}
        else:
            active.discard(step.slot)
    after: Gains = {0: (0, IMPOSSIBLE, 0)}
    rows = []
    for step, slots in zip(reversed(steps), reversed(slots_before), strict=True):
        rows.append(after)
        after = _gains_before(step, _subsets(slots), after)
    yield from reversed(rows)


def _subsets(slots: Iterable[int]) -> list[int]:
    masks = [0]
    for slot in slots:
        masks += [mask | 1 << slot for mask in masks]
    return masks


def _gains_before(step: Step, masks: list[int], after: Gains) -> Gains:
    """The gains before a step, for these odd slots, from those after it."""
    before: Gains = {}
    if isinstance(step, _Routes):
        flip, even, odd = 1 << step.a | 1 << step.b, step.even, step.odd
        for mask in masks:
            (a0, a1, a2), (b0, b1, b2) = after[mask], after[mask ^ flip]
            before[mask] = max(a0 + even, b0 + odd), max(a1 + even, b1 + odd), max(a2 + even, b2 + odd)
        return before
    bit, arm = 1 << step.slot, step.arm
    for mask in masks:
        none, one, two = after[mask & ~bit]
        if mask & bit:
            before[mask] = one + arm, two + arm, IMPOSSIBLE
        else:
            before[mask] = max(none, two + arm + step.second_arm) if arm else none, one, two
    return before


ANCHOR: Final = 1 << 20  # an arm that is longer than all routes together: the longest trail ends with it


class _Part(NamedTuple):
    """Cities that stay connected whichever route is taken away, and the routes between them."""

    edges: list[Edge]
    root: str  # the city at the bridge
    bridge: tuple[str, int] | None  # the city beyond it, and its length; None where no bridge is left


def longest_trail_over_bridges(
    edges: Sequence[Edge], arms: Mapping[str, tuple[int, int]], best_known: int
) -> int:
    """Spaces of the longest trail over these routes and arms, or `best_known` if none is longer."""
    longest_arms = {city: list(pair) for city, pair in arms.items()}
    for part in _parts_outermost_first(edges):
        part_arms = {city: (first, second) for city, (first, second) in longest_arms.items()}
        first, second = part_arms.get(part.root, (0, 0))
        best_known = max(best_known, first + second)
        best_known = longest_connected_trail(part.edges, part_arms, best_known)
        if part.bridge is not None:
            beyond, length = part.bridge
            part_arms[part.root] = (ANCHOR, first)
            arm = length - ANCHOR + longest_connected_trail(part.edges, part_arms, ANCHOR + first)
            longest_arms[beyond] = sorted((arm, *longest_arms.get(beyond, (0, 0))), reverse=True)[:2]
    return best_known


def _parts_outermost_first(edges: Sequence[Edge]) -> list[_Part]:
    """All parts. Each comes after the parts beyond all its bridges but one (Tarjan 1974)."""
    ways: dict[str, list[tuple[int, str]]] = {}
    for number, (a, b, _) in enumerate(edges):
        ways.setdefault(a, []).append((number, b))
        ways.setdefault(b, []).append((number, a))
    visits, open_cities, parts = dict[str, int](), list[str](), list[_Part]()

    def visit(city: str, by: int | None) -> int:
        """The earliest visited city that can be reached from what lies behind this one."""
        earliest, place = len(visits), len(open_cities)
        visits[city] = earliest
        open_cities.append(city)
        for number, near in ways[city]:
            if number != by:
                earliest = min(earliest, visits[near] if near in visits else visit(near, number))
        if earliest == visits[city]:
            cities = set(open_cities[place:])
            del open_cities[place:]
            inner = [edge for edge in edges if edge[0] in cities and edge[1] in cities]
            bridge = None
            if by is not None:
                a, b, length = edges[by]
                bridge = (b if city == a else a), length
            parts.append(_Part(inner, city, bridge))
        return earliest

    for city in ways:
        if city not in visits:
            visit(city, None)
    return parts


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
    for part in sorted(
        _components(graph), key=lambda part: (-sum(sum(graph[c].values()) for c in part), part)
    ):
        sweep = _PathSweep(graph, arms, part)
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


class _PathStep(NamedTuple):
    """One city of the sweep. Frontier cities have slots, which are reused for later cities."""

    slot: int
    arm: int
    ways: list[tuple[int, int]]  # slot and length, to cities not yet swept
    longest_left: dict[int, int]  # by slot of a frontier city: its longest unswept route
    two_longest_left: dict[int, int]  # by slot: the sum of its two longest
    beyond: int  # the sum of the two longest routes of every city beyond the frontier
    ends: list[int]  # what the ends that aren't fixed add at most, by how many are: twice an arm for a route


def _path_steps(graph: Graph, arms: dict[str, int], order: list[str]) -> Iterator[_PathStep]:
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
        yield _PathStep(slot, arms.get(city, 0), ways, one, two, beyond, [sum(ends[:2]), sum(ends[:1]), 0])
        free_slots.append(slot)


class _PathSweep:
    """The paths in one component. A state is a row of bytes by slot: the slot of the other open end of the
    piece that is open here, END, or CLOSED; a city without a route so far has its own slot."""

    def __init__(self, graph: Graph, arms: dict[str, int], part: list[str]) -> None:
        self.best = 0
        self.state_count = 0  # over all sweeps: the measure of what they cost
        self.steps = list(_path_steps(graph, arms, sweep_order({city: graph[city] for city in part})))
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

    def _expand(self, step: _PathStep, sides: bytes, spaces: int) -> Iterator[tuple[bytes, int]]:
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


def _upper_bound(step: _PathStep, sides: bytes, spaces: int) -> int:
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
