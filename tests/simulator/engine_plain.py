"""Commands on keys, strings and hashes, as Redis answers them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import translate
from functools import cache
from typing import Any

from tests.simulator.engine_sets import SortedSet
from tests.simulator.engine_store import INTEGER, OK, SYNTAX, EngineReplyError, Status, Store, integer
from tests.simulator.engine_streams import Stream

Args = Sequence[bytes]
KINDS = {bytes: b"string", dict: b"hash", SortedSet: b"zset", Stream: b"stream"}


@cache
def pattern(glob: bytes) -> re.Pattern[bytes]:
    """A pattern of KEYS and PSUBSCRIBE. Braces mean themselves."""
    return re.compile(translate(glob.decode("latin-1")).encode("latin-1"))


# -- keys -----------------------------------------------------------------------------


def delete(store: Store, args: Args) -> int:
    gone = exists(store, tuple(dict.fromkeys(args)))
    for key in args:
        if key in store.keys:
            store.drop(key)
    return gone


def exists(store: Store, args: Args) -> int:
    if store.expires_at:
        for key in args:
            store.expire(key)
    return sum(key in store.keys for key in args)


def kind(store: Store, args: Args) -> Status:
    store.expire(args[0])
    return Status(KINDS.get(type(store.keys.get(args[0])), b"none"))


def keys(store: Store, args: Args) -> list[bytes]:
    store.expire_all()
    fits = pattern(args[0]).match
    return [key for key in store.keys if fits(key)]


def scan(store: Store, args: Args) -> list[Any]:
    """SCAN 0 [MATCH glob] [COUNT n]: everything at once, so the cursor is always 0."""
    options = dict(zip(map(bytes.upper, args[1::2]), args[2::2], strict=True))
    if not options.keys() <= {b"MATCH", b"COUNT"}:
        raise EngineReplyError(SYNTAX)
    return [b"0", keys(store, (options.get(b"MATCH", b"*"),))]


def dbsize(store: Store, args: Args) -> int:
    store.expire_all()
    return len(store.keys)


def flush(store: Store, args: Args) -> Status:
    for key in list(store.keys):
        store.drop(key)
    return OK


def expire(store: Store, args: Args, unit_ms: int = 1000) -> int:
    store.expire(args[0])
    if args[0] not in store.keys:
        return 0
    lives_ms = integer(args[1]) * unit_ms
    if lives_ms <= 0:
        store.drop(args[0])
    else:
        store.put(args[0], store.keys[args[0]], store.clock() + lives_ms)
    return 1


def pexpire(store: Store, args: Args) -> int:
    return expire(store, args, 1)


def persist(store: Store, args: Args) -> int:
    store.expire(args[0])
    if args[0] not in store.expires_at:
        return 0
    store.put(args[0], store.keys[args[0]])
    return 1


def pttl(store: Store, args: Args) -> int:
    store.expire(args[0])
    if args[0] not in store.keys:
        return -2
    expires_at = store.expires_at.get(args[0])
    return -1 if expires_at is None else expires_at - store.clock()


def ttl(store: Store, args: Args) -> int:
    left = pttl(store, args)
    return left if left < 0 else (left + 500) // 1000


def time(store: Store, args: Args) -> list[bytes]:
    seconds, ms = divmod(store.clock(), 1000)
    return [b"%d" % seconds, b"%d" % (ms * 1000)]


# -- strings --------------------------------------------------------------------------


def get(store: Store, args: Args) -> bytes | None:
    return store.find(args[0], bytes)


def put(store: Store, args: Args) -> bytes | None:
    """SET key value [NX | XX] [GET] [EX s | PX ms | KEEPTTL]"""
    key, value, *options = args
    store.expire(key)
    expires_at, only, old = None, b"", b"NO"
    words = iter(options)
    for word in map(bytes.upper, words):
        if word in (b"EX", b"PX"):
            lifetime = integer(next(words, b""))
            if lifetime <= 0:
                raise EngineReplyError("ERR invalid expire time in 'set' command")
            expires_at = store.clock() + lifetime * (1000 if word == b"EX" else 1)
        elif word in (b"NX", b"XX"):
            only = word
        elif word == b"GET":
            old = b"GET"
        elif word == b"KEEPTTL":
            expires_at = store.expires_at.get(key)
        else:
            raise EngineReplyError(SYNTAX)
    there = store.find(key, bytes) if old == b"GET" else None
    if not only or exists(store, (key,)) == (only == b"XX"):
        store.put(key, value, expires_at)
        return there if old == b"GET" else OK
    return there


def increase(store: Store, args: Args) -> int:
    key, by = args[0], integer(args[1]) if len(args) > 1 else 1
    old = store.find(key, bytes)
    number = (0 if old is None else integer(old)) + by
    store.put(key, b"%d" % number, store.expires_at.get(key))
    return number


# -- hashes ---------------------------------------------------------------------------


def hget(store: Store, args: Args) -> bytes | None:
    fields = store.find(args[0], dict)
    return fields.get(args[1]) if fields else None


def hmget(store: Store, args: Args) -> list[bytes | None]:
    fields = store.find(args[0], dict) or {}
    return [fields.get(name) for name in args[1:]]


def hset(store: Store, args: Args) -> int:
    fields: dict[bytes, Any] = store.make(args[0], dict)
    before = len(fields)
    for at in range(1, len(args), 2):
        store.set_field(fields, args[at], args[at + 1])
    return len(fields) - before


def hsetnx(store: Store, args: Args) -> int:
    fields: dict[bytes, Any] = store.find(args[0], dict) or {}
    return 0 if args[1] in fields else hset(store, args)


def hdel(store: Store, args: Args) -> int:
    fields = store.find(args[0], dict)
    if fields is None:
        return 0
    there = [name for name in dict.fromkeys(args[1:]) if name in fields]
    for name in there:
        store.set_field(fields, name, None)
    if not fields:
        store.drop(args[0])
    return len(there)


def hlen(store: Store, args: Args) -> int:
    return len(store.find(args[0], dict) or ())


def hexists(store: Store, args: Args) -> int:
    return int(args[1] in (store.find(args[0], dict) or ()))


def hgetall(store: Store, args: Args) -> list[bytes]:
    fields: dict[bytes, bytes] = store.find(args[0], dict) or {}
    return [word for pair in fields.items() for word in pair]


def hincrby(store: Store, args: Args) -> int:
    old, by = hget(store, args), integer(args[2])
    if old is not None and INTEGER.fullmatch(old) is None:
        raise EngineReplyError("ERR hash value is not an integer")
    number = int(old or 0) + by
    hset(store, (args[0], args[1], b"%d" % number))
    return number


COMMANDS: dict[bytes, Callable[[Store, Args], Any]] = {
    b"DEL": delete,
    b"UNLINK": delete,
    b"EXISTS": exists,
    b"TYPE": kind,
    b"KEYS": keys,
    b"SCAN": scan,
    b"DBSIZE": dbsize,
    b"FLUSHDB": flush,
    b"FLUSHALL": flush,
    b"EXPIRE": expire,
    b"PEXPIRE": pexpire,
    b"PERSIST": persist,
    b"TTL": ttl,
    b"PTTL": pttl,
    b"TIME": time,
    b"GET": get,
    b"SET": put,
    b"INCR": increase,
    b"INCRBY": increase,
    b"HGET": hget,
    b"HMGET": hmget,
    b"HSET": hset,
    b"HSETNX": hsetnx,
    b"HDEL": hdel,
    b"HLEN": hlen,
    b"HEXISTS": hexists,
    b"HGETALL": hgetall,
    b"HINCRBY": hincrby,
}
