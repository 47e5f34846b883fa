"""The longest trail of routes that are connected, on any board: the cities are swept one by one. Exact.

This is frontier-based dynamic programming (Knuth, TAOCP 7.1.4), as for the longest simple path. Routes that
are connected form one trail exactly when at most two of their cities are odd (Euler). So all that matters
of the routes used so far is, for every city of the frontier, which others it is connected to and whether it
is odd, and how many ends the trail has. Of all sets of routes with the same such state only the one with
the most spaces is kept.

Three things keep the states few. Parity alone, with connections left aside, gives an upper bound of what
every state can still gain; it is exact for most boards. A narrow sweep first finds a good trail, which is
nearly always the longest. And a state in one piece makes all those needless that have no more spaces and
touch no other city of the frontier. So a sweep over the 52 routes that one seat can own keeps a few thousand
states in all, whatever the board; it never keeps more than MAX_BEAM at a time, and would cease to be exact there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from services.referee.games.trains.search.sweep_order import sweep_order

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
            steps.append(_routes(slots[city], slots[near], parallels))
            del lengths[near][city]
        steps.append(_City(slots[city], *arms.get(city, (0, 0))))
        free_slots.append(slots.pop(city))
    return steps


def _routes(a: int, b: int, parallels: list[int]) -> _Routes:
    total = sum(parallels)
    fewer = total - min(parallels)
    return _Routes(a, b, fewer, total) if len(parallels) % 2 else _Routes(a, b, total, fewer)


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
