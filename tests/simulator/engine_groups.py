"""Consumer groups, and the commands on them, as Redis answers them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.simulator.engine_store import OK, SYNTAX, EngineReplyError, Store, integer
from tests.simulator.engine_streams import ID_MOST, Entry, Stream, bound, read_id, read_streams, shown

Args = Sequence[bytes]
Pending = tuple[bytes, int, int]  # consumer, delivered when, how often
Seen = tuple[int, int]  # when a consumer last polled, and when it last got an entry (-1: never)


class Group:
    """The last delivered id, and which entries are pending with which consumer."""

    __slots__ = ("consumers", "last", "pending")

    def __init__(self, last: int) -> None:
        self.last = last
        self.pending: dict[int, Pending] = {}
        self.consumers: dict[bytes, Seen] = {}

    def set_last(self, last: int) -> None:
        self.last = last

    def pending_of(self, consumer: bytes) -> list[int]:
        return [id_ for id_, pending in self.pending.items() if pending[0] == consumer]


def _group(store: Store, key: bytes, name: bytes, suffix: str = "") -> tuple[Stream, Group]:
    stream = store.find(key, Stream)
    group = stream.groups.get(name) if stream else None
    if stream is None or group is None:
        where = f"No such key '{key.decode()}' or consumer group '{name.decode()}'"
        raise EngineReplyError(f"NOGROUP {where}{suffix}")
    return stream, group


def _record_poll(store: Store, group: Group, consumer: bytes, active: bool) -> None:
    """Record that a consumer polled; `active` if it got an entry."""
    now = store.clock()
    before = group.consumers.get(consumer)
    seen = now, now if active else before[1] if before else -1
    if seen != before:
        store.set_field(group.consumers, consumer, seen)


def _set_pending(store: Store, group: Group, id_: int, pending: Pending | None) -> None:
    store.set_field(group.pending, id_, pending)  # type: ignore[arg-type]  # ids stand for names


def xreadgroup(store: Store, args: Args) -> list[Entry] | None:
    """XREADGROUP GROUP group consumer [COUNT n] [BLOCK ms] STREAMS key .. id .."""
    name, consumer = args[1:3]
    options, keys, ids = read_streams(args[3:])
    count = options.get(b"COUNT") or None
    groups = [_group(store, key, name, " in XREADGROUP with GROUP option") for key in keys]
    result = []
    for key, after, (stream, group) in zip(keys, ids, groups, strict=True):
        if after != b">":
            result.append([key, _pending_after(store, stream, group, consumer, read_id(after), count)])
        elif found := _deliver(store, stream, group, consumer, count):
            result.append([key, found])
    return result or None


def _deliver(store: Store, stream: Stream, group: Group, consumer: bytes, count: int | None) -> list[Entry]:
    found = stream.between(group.last + 1, ID_MOST, count) if group.last < stream.last else []
    _record_poll(store, group, consumer, bool(found))
    now = store.clock()
    for entry in found:
        _set_pending(store, group, read_id(entry[0]), (consumer, now, 1))
    if found:
        store.note((group.set_last, group.last))
        group.last = read_id(found[-1][0])
    return found


def _pending_after(
    store: Store, stream: Stream, group: Group, consumer: bytes, after: int, count: int | None
) -> list[Entry]:
    """The entries that are pending with a consumer; of a deleted entry only the id."""
    _record_poll(store, group, consumer, False)
    ids = sorted(id_ for id_ in group.pending_of(consumer) if id_ > after)[:count]
    for id_ in ids:
        if id_ in stream.entries:
            _set_pending(store, group, id_, (consumer, store.clock(), group.pending[id_][2] + 1))
    return [stream.entries.get(id_) or [shown(id_), None] for id_ in ids]


def xack(store: Store, args: Args) -> int:
    stream = store.find(args[0], Stream)
    group = stream.groups.get(args[1]) if stream else None
    if group is None:
        return 0
    ids = [read_id(text) for text in args[2:]]
    acknowledged = [id_ for id_ in dict.fromkeys(ids) if id_ in group.pending]
    for id_ in acknowledged:
        _set_pending(store, group, id_, None)
    return len(acknowledged)


def xgroup(store: Store, args: Args) -> Any:
    """XGROUP CREATE key group id [MKSTREAM], DESTROY key group, CREATECONSUMER and
    DELCONSUMER key group consumer"""
    word, key, name, *rest = args
    stream = store.find(key, Stream)
    if stream is None and b"MKSTREAM" not in map(bytes.upper, rest):
        raise EngineReplyError(
            "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want "
            "to use the MKSTREAM option to create an empty stream automatically."
        )
    change = GROUP_CHANGES.get(word.upper())
    if change is None:
        raise EngineReplyError(f"ERR unknown subcommand '{word.decode()}'. Try XGROUP HELP.")
    return change(store, store.make(key, Stream), key, name, rest)


def _create(store: Store, stream: Stream, key: bytes, name: bytes, rest: Args) -> bytes:
    if name in stream.groups:
        raise EngineReplyError("BUSYGROUP Consumer Group name already exists")
    store.set_field(stream.groups, name, Group(stream.last if rest[0] == b"$" else read_id(rest[0])))
    return OK


def _destroy(store: Store, stream: Stream, key: bytes, name: bytes, rest: Args) -> int:
    exists = name in stream.groups
    if exists:
        store.set_field(stream.groups, name, None)
    return int(exists)


def _of_group(stream: Stream, key: bytes, name: bytes) -> Group:
    group = stream.groups.get(name)
    if group is None:
        raise EngineReplyError(
            f"NOGROUP No such consumer group '{name.decode()}' for key name '{key.decode()}'"
        )
    return group


def _create_consumer(store: Store, stream: Stream, key: bytes, name: bytes, rest: Args) -> int:
    group = _of_group(stream, key, name)
    new = rest[0] not in group.consumers
    if new:
        _record_poll(store, group, rest[0], False)
    return int(new)


def _delete_consumer(store: Store, stream: Stream, key: bytes, name: bytes, rest: Args) -> int:
    group = _of_group(stream, key, name)
    pending = group.pending_of(rest[0])
    for id_ in pending:
        _set_pending(store, group, id_, None)
    if rest[0] in group.consumers:
        store.set_field(group.consumers, rest[0], None)
    return len(pending)


GROUP_CHANGES = {
    b"CREATE": _create,
    b"DESTROY": _destroy,
    b"CREATECONSUMER": _create_consumer,
    b"DELCONSUMER": _delete_consumer,
}


def xinfo(store: Store, args: Args) -> list[list[Any]]:
    """XINFO GROUPS key, XINFO CONSUMERS key group. Without entries-read and lag."""
    stream = store.find(args[1], Stream)
    if stream is None:
        raise EngineReplyError("ERR no such key")
    if args[0].upper() == b"GROUPS":
        return [_group_info(name, stream.groups[name]) for name in sorted(stream.groups)]
    group = _of_group(stream, args[1], args[2])
    return [_consumer_info(store, name, group) for name in sorted(group.consumers)]


def _group_info(name: bytes, group: Group) -> list[Any]:
    fields: list[Any] = [b"name", name, b"consumers", len(group.consumers)]
    return [*fields, b"pending", len(group.pending), b"last-delivered-id", shown(group.last)]


def _consumer_info(store: Store, name: bytes, group: Group) -> list[Any]:
    seen, active = group.consumers[name]
    idle, inactive = store.clock() - seen, store.clock() - active if active >= 0 else -1
    fields: list[Any] = [b"name", name, b"pending", len(group.pending_of(name))]
    return [*fields, b"idle", max(idle, 0), b"inactive", inactive]


def xpending(store: Store, args: Args) -> list[Any]:
    """XPENDING key group [[IDLE ms] first last count [consumer]]"""
    _, group = _group(store, args[0], args[1])
    rest = list(args[2:])
    if not rest:
        return _summary(group)
    idle_ms = 0
    if rest[0].upper() == b"IDLE":
        idle_ms, rest = integer(rest[1]), rest[2:]
    if len(rest) not in (3, 4):
        raise EngineReplyError(SYNTAX)
    rows = _pending_rows(store, group, bound(rest[0], True), bound(rest[1], False), idle_ms)
    consumer = rest[3] if len(rest) == 4 else None
    result = [row for row in rows if consumer is None or row[1] == consumer]
    return result[: max(integer(rest[2]), 0)]


def _pending_rows(store: Store, group: Group, first: int, last: int, idle_ms: int) -> Iterator[list[Any]]:
    now = store.clock()
    for id_ in sorted(group.pending):
        consumer, since, deliveries = group.pending[id_]
        idle = max(now - since, 0)
        if first <= id_ <= last and idle >= idle_ms:
            yield [shown(id_), consumer, idle, deliveries]


def _summary(group: Group) -> list[Any]:
    if not group.pending:
        return [0, None, None, None]
    consumers = sorted({pending[0] for pending in group.pending.values()})
    result = [[name, b"%d" % len(group.pending_of(name))] for name in consumers]
    return [len(group.pending), shown(min(group.pending)), shown(max(group.pending)), result]


def xclaim(store: Store, args: Args) -> list[Any]:
    """XCLAIM key group consumer min-idle id .. [IDLE ms] [JUSTID]"""
    stream, group = _group(store, args[0], args[1])
    idle_ms, ids = integer(args[3]), list(args[4:])
    if just_id := ids[-1].upper() == b"JUSTID":
        ids.pop()
    since = store.clock()
    if len(ids) > 1 and ids[-2].upper() == b"IDLE":
        since -= integer(ids.pop())
        ids.pop()
    _record_poll(store, group, args[2], False)
    claimed = [
        _claim(store, stream, group, args[2], id_, since, just_id)
        for id_ in map(read_id, ids)
        if id_ in group.pending and _is_claimable(store, stream, group, id_, idle_ms)
    ]
    return [entry for entry in claimed if entry is not None]


def xautoclaim(store: Store, args: Args) -> list[Any]:
    """XAUTOCLAIM key group consumer min-idle start [COUNT n] [JUSTID]"""
    stream, group = _group(store, args[0], args[1])
    idle_ms, start, options = integer(args[3]), bound(args[4], True), [word.upper() for word in args[5:]]
    left = integer(options[options.index(b"COUNT") + 1]) if b"COUNT" in options else 100
    _record_poll(store, group, args[2], False)
    ids = [id_ for id_ in sorted(group.pending) if id_ >= start]
    claimed: list[Any] = []
    deleted: list[bytes] = []
    tried = 0
    for id_ in ids[: left * 10]:
        tried += 1
        if not _is_claimable(store, stream, group, id_, idle_ms):
            continue
        entry = _claim(store, stream, group, args[2], id_, store.clock(), b"JUSTID" in options)
        if entry is None:
            deleted.append(shown(id_))
        else:
            claimed.append(entry)
        left -= 1
        if not left:
            break
    return [shown(ids[tried]) if tried < len(ids) else b"0-0", claimed, deleted]


def _is_claimable(store: Store, stream: Stream, group: Group, id_: int, idle_ms: int) -> bool:
    """Whether it has been idle for so long, or its entry was deleted."""
    return id_ not in stream.entries or not idle_ms or store.clock() - group.pending[id_][1] >= idle_ms


def _claim(
    store: Store, stream: Stream, group: Group, consumer: bytes, id_: int, since: int, just_id: bool
) -> Any:
    """The entry, now pending with this consumer. None if it was deleted; then it is pending no more."""
    if id_ not in stream.entries:
        _set_pending(store, group, id_, None)
        return None
    deliveries = group.pending[id_][2] + (not just_id)
    _set_pending(store, group, id_, (consumer, since, deliveries))
    _record_poll(store, group, consumer, True)
    return shown(id_) if just_id else stream.entries[id_]


COMMANDS: dict[bytes, Callable[[Store, Args], Any]] = {
    b"XREADGROUP": xreadgroup,
    b"XACK": xack,
    b"XGROUP": xgroup,
    b"XINFO": xinfo,
    b"XPENDING": xpending,
    b"XCLAIM": xclaim,
    b"XAUTOCLAIM": xautoclaim,
}
