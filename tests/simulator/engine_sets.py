"""Sorted sets, and the commands on them, as Redis answers them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tests.simulator.engine_store import SYNTAX, EngineReplyError, Store, integer

Args = Sequence[bytes]
Scored = tuple[float, bytes]  # a member after its score: the order of a sorted set
Bound = tuple[float, bool]  # a score, and whether the bound lies behind the members that have it
LAST = b"\xff" * 64  # behind every member
NO_FLOAT = "ERR value is not a valid float"


class SortedSet:
    """Members by score, and by name where scores are equal."""

    __slots__ = ("order", "scores")

    def __init__(self) -> None:
        self.scores: dict[bytes, float] = {}
        self.order: list[Scored] = []

    def set(self, member: bytes, score: float | None) -> None:
        """Give a member a score; None removes it."""
        old = self.scores.pop(member, None)
        if old is not None:
            del self.order[bisect_left(self.order, (old, member))]
        if score is not None:
            self.scores[member] = score
            insort(self.order, (score, member))


def zadd(store: Store, args: Args) -> int:
    """ZADD key [NX | XX] [GT | LT] [CH] score member ..."""
    at = 1
    while args[at].upper() in (b"NX", b"XX", b"GT", b"LT", b"CH"):
        at += 1
    options = {word.upper() for word in args[1:at]}
    if at == len(args) or (len(args) - at) % 2:
        raise EngineReplyError(SYNTAX)
    placed = [(_float(args[k]), args[k + 1]) for k in range(at, len(args), 2)]
    members = store.find(args[0], SortedSet)
    if members is None:
        if b"XX" in options:
            return 0
        members = store.make(args[0], SortedSet)
    added = changed = 0
    for score, member in placed:
        old = members.scores.get(member)
        if _stays(old, score, options):
            continue
        store.note((members.set, member, old))
        members.set(member, score)
        added, changed = added + (old is None), changed + (old is not None)
    return added + changed if b"CH" in options else added


def _stays(old: float | None, score: float, options: set[bytes]) -> bool:
    if old is None:
        return b"XX" in options
    return (
        old == score
        or b"NX" in options
        or (b"GT" in options and score < old)
        or (b"LT" in options and score > old)
    )


def zrem(store: Store, args: Args) -> int:
    members = store.find(args[0], SortedSet)
    return _take_out(store, args[0], members, args[1:]) if members else 0


def zremrangebyscore(store: Store, args: Args) -> int:
    members = store.find(args[0], SortedSet)
    low, high = _bound(args[1], True), _bound(args[2], False)
    if members is None:
        return 0
    return _take_out(store, args[0], members, [member for _, member in _between(members, low, high)])


def _take_out(store: Store, key: bytes, members: SortedSet, names: Iterable[bytes]) -> int:
    gone = 0
    for member in names:
        old = members.scores.get(member)
        if old is not None:
            store.note((members.set, member, old))
            members.set(member, None)
            gone += 1
    if not members.scores:
        store.drop(key)
    return gone


def zscore(store: Store, args: Args) -> bytes | None:
    members = store.find(args[0], SortedSet)
    score = members.scores.get(args[1]) if members else None
    return None if score is None else shown(score)


def zcard(store: Store, args: Args) -> int:
    members = store.find(args[0], SortedSet)
    return len(members.order) if members else 0


def zcount(store: Store, args: Args) -> int:
    members = store.find(args[0], SortedSet)
    return len(_between(members, _bound(args[1], True), _bound(args[2], False))) if members else 0


def zrange(store: Store, args: Args) -> list[bytes]:
    """ZRANGE key start stop [WITHSCORES], by place alone."""
    return _by_place(store, args, 1)


def zrevrange(store: Store, args: Args) -> list[bytes]:
    return _by_place(store, args, -1)


def _by_place(store: Store, args: Args, step: int) -> list[bytes]:
    members = store.find(args[0], SortedSet)
    start, stop = integer(args[1]), integer(args[2])
    with_scores = _with_scores(args[3:])
    order = members.order[::step] if members else []
    first = max(start + len(order), 0) if start < 0 else start
    last = stop + len(order) if stop < 0 else stop
    return _members(order[first : last + 1] if last >= 0 else [], with_scores)


def zrangebyscore(store: Store, args: Args) -> list[bytes]:
    """ZRANGEBYSCORE key min max [WITHSCORES] [LIMIT offset count]"""
    return _by_score(store, args, 1)


def zrevrangebyscore(store: Store, args: Args) -> list[bytes]:
    """ZREVRANGEBYSCORE key max min [WITHSCORES] [LIMIT offset count]"""
    return _by_score(store, (args[0], args[2], args[1], *args[3:]), -1)


def _by_score(store: Store, args: Args, step: int) -> list[bytes]:
    members = store.find(args[0], SortedSet)
    low, high = _bound(args[1], True), _bound(args[2], False)
    options = list(args[3:])
    offset, count = 0, -1
    words = [word.upper() for word in options]
    if b"LIMIT" in words:
        at = words.index(b"LIMIT")
        offset, count = (integer(word) for word in options[at + 1 : at + 3])
        del options[at : at + 3]
    with_scores = _with_scores(options)
    found = _between(members, low, high)[::step] if members else []
    return _members(found[offset:] if count < 0 else found[offset : offset + count], with_scores)


def _with_scores(options: Args) -> bool:
    if [word.upper() for word in options] not in ([], [b"WITHSCORES"]):
        raise EngineReplyError(SYNTAX)
    return bool(options)


def _between(members: SortedSet, low: Bound, high: Bound) -> list[Scored]:
    return members.order[_place(members, low) : _place(members, high)]


def _place(members: SortedSet, bound: Bound) -> int:
    score, behind = bound
    return bisect_right(members.order, (score, LAST)) if behind else bisect_left(members.order, (score, b""))


def _bound(text: bytes, low: bool) -> Bound:
    """A bound of scores: `(5` leaves out what scores 5."""
    outside = text.startswith(b"(")
    try:
        score = float(text[outside:])
    except ValueError:
        raise EngineReplyError("ERR min or max is not a float") from None
    return score, low == outside


def _members(found: Sequence[Scored], with_scores: bool) -> list[bytes]:
    if with_scores:
        return [word for score, member in found for word in (member, shown(score))]
    return [member for _, member in found]


def _float(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        raise EngineReplyError(NO_FLOAT) from None


def shown(score: float) -> bytes:
    """A score as Redis writes it: whole ones without a point."""
    if abs(score) < 1e17 and score == int(score):
        return b"%d" % score
    return repr(score).encode()


COMMANDS: dict[bytes, Callable[[Store, Args], Any]] = {
    b"ZADD": zadd,
    b"ZREM": zrem,
    b"ZREMRANGEBYSCORE": zremrangebyscore,
    b"ZSCORE": zscore,
    b"ZCARD": zcard,
    b"ZCOUNT": zcount,
    b"ZRANGE": zrange,
    b"ZREVRANGE": zrevrange,
    b"ZRANGEBYSCORE": zrangebyscore,
    b"ZREVRANGEBYSCORE": zrevrangebyscore,
}
