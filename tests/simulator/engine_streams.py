"""Streams, and the commands on them that need no consumer group, as Redis answers them.

An entry's id is one integer: the milliseconds, then 64 bits of sequence.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tests.simulator.engine_store import SYNTAX, EngineReplyError, Store, integer

if TYPE_CHECKING:
    from tests.simulator.engine_groups import Group

Args = Sequence[bytes]
Entry = list[Any]  # as XRANGE shows it: [id, [field, value, ..]]

BITS = 64
SEQUENCE_MOST = (1 << BITS) - 1
ID_MOST = (1 << 2 * BITS) - 1
SMALLER = "ERR The ID specified in XADD is equal or smaller than the target stream top item"
NOT_ABOVE_ZERO = "ERR The ID specified in XADD must be greater than 0-0"
INVALID_ID = "ERR Invalid stream ID specified as stream command argument"


class Stream:
    """Entries by id, the groups that read them, and the last id there ever was."""

    __slots__ = ("entries", "groups", "ids", "last")

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.entries: dict[int, Entry] = {}
        self.last = 0
        self.groups: dict[bytes, Group] = {}

    def add(self, id_: int, entry: Entry) -> None:
        self.ids.append(id_)
        self.entries[id_] = entry
        self.last = id_

    def take_back(self, last: int) -> None:
        """Undo the last `add`: the last id before it was this one."""
        del self.entries[self.ids.pop()]
        self.last = last

    def remove(self, id_: int) -> None:
        del self.ids[bisect_left(self.ids, id_)]
        del self.entries[id_]

    def put_back(self, id_: int, entry: Entry) -> None:
        """Undo a `remove`."""
        self.ids.insert(bisect_left(self.ids, id_), id_)
        self.entries[id_] = entry

    def between(self, first: int, last: int, count: int | None = None) -> list[Entry]:
        start = bisect_left(self.ids, first)
        stop = bisect_right(self.ids, last) if last < self.last else len(self.ids)
        if count is not None:
            stop = min(stop, start + count)
        return [self.entries[id_] for id_ in self.ids[start:stop]]


def shown(id_: int) -> bytes:
    return b"%d-%d" % (id_ >> BITS, id_ & SEQUENCE_MOST)


def read_id(text: bytes, missing: int = 0) -> int:
    """An id as an integer; `missing` is the sequence number if the text has none."""
    ms, dash, sequence = text.partition(b"-")
    try:
        return int(ms) << BITS | (int(sequence) if dash else missing)
    except ValueError:
        raise EngineReplyError(INVALID_ID) from None


def bound(text: bytes, low: bool) -> int:
    """A bound of XRANGE: an id, `-`, `+`, or an id that is excluded: `(5-0`."""
    if text == b"-":
        return 0
    if text == b"+":
        return ID_MOST
    missing = 0 if low else SEQUENCE_MOST
    if text.startswith(b"("):
        return read_id(text[1:], missing) + (1 if low else -1)
    return read_id(text, missing)


def xadd(store: Store, args: Args) -> bytes:
    """XADD key (id | *) field value ..."""
    key, asked, *fields = args
    if not fields or len(fields) % 2:
        raise EngineReplyError("ERR wrong number of arguments for 'xadd' command")
    given = None if asked == b"*" else read_id(asked)
    if given == 0:
        raise EngineReplyError(NOT_ABOVE_ZERO)
    stream = store.find(key, Stream)
    last = stream.last if stream else 0
    id_ = max(store.clock() << BITS, last + 1) if given is None else given
    if id_ <= last:
        raise EngineReplyError(SMALLER)
    if stream is None:
        stream = store.make(key, Stream)
    name = shown(id_) if given is None else asked if b"-" in asked else asked + b"-0"
    store.note((stream.take_back, last))
    stream.add(id_, [name, fields])
    return name


def xlen(store: Store, args: Args) -> int:
    stream = store.find(args[0], Stream)
    return len(stream.ids) if stream else 0


def xdel(store: Store, args: Args) -> int:
    stream = store.find(args[0], Stream)
    if stream is None:
        return 0
    deleted = 0
    for id_ in [read_id(text) for text in args[1:]]:
        entry = stream.entries.get(id_)
        if entry:
            store.note((stream.put_back, id_, entry))
            stream.remove(id_)
            deleted += 1
    return deleted


def xrange(store: Store, args: Args) -> list[Entry] | None:
    """XRANGE key first last [COUNT n]"""
    count = _count(args[3:])
    first, last = bound(args[1], True), bound(args[2], False)
    stream = store.find(args[0], Stream)
    if stream is None:
        return []
    return None if count == 0 else stream.between(first, last, count)


def xrevrange(store: Store, args: Args) -> list[Entry] | None:
    """XREVRANGE key last first [COUNT n]"""
    count = _count(args[3:])
    last, first = bound(args[1], False), bound(args[2], True)
    stream = store.find(args[0], Stream)
    if stream is None:
        return []
    if count == 0:
        return None
    if count == 1 and last >= stream.last and stream.ids and stream.ids[-1] >= first:
        return [stream.entries[stream.ids[-1]]]  # append_entry.lua asks this twice a verdict
    return stream.between(first, last)[::-1][:count]


def _count(options: Args) -> int | None:
    if not options:
        return None
    if len(options) != 2 or options[0].upper() != b"COUNT":
        raise EngineReplyError(SYNTAX)
    return max(integer(options[1]), 0)


def xread(store: Store, args: Args) -> list[Entry] | None:
    """XREAD [COUNT n] [BLOCK ms] STREAMS key .. id .. : it never blocks."""
    options, keys, ids = read_streams(args)
    count = options.get(b"COUNT") or None
    result = []
    for key, after in zip(keys, ids, strict=True):
        stream = store.find(key, Stream)
        if stream and after != b"$":
            found = stream.between(read_id(after) + 1, ID_MOST, count)
            if found:
                result.append([key, found])
    return result or None


def read_streams(args: Args) -> tuple[dict[bytes, int], Args, Args]:
    """The numeric options, the streams and the ids of XREAD and XREADGROUP."""
    n = 0
    options: dict[bytes, int] = {}
    while n < len(args) and (word := args[n].upper()) != b"STREAMS":
        if word not in (b"COUNT", b"BLOCK") or n + 1 == len(args):
            raise EngineReplyError(SYNTAX)
        options[word] = integer(args[n + 1])
        n += 2
    named = args[n + 1 :]
    half = len(named) // 2
    if not named or len(named) % 2:
        raise EngineReplyError(SYNTAX)
    return options, named[:half], named[half:]


COMMANDS: dict[bytes, Callable[[Store, Args], Any]] = {
    b"XADD": xadd,
    b"XLEN": xlen,
    b"XDEL": xdel,
    b"XRANGE": xrange,
    b"XREVRANGE": xrevrange,
    b"XREAD": xread,
}
