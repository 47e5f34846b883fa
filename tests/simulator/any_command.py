"""Random engine commands: few keys and few words, so that they touch the same ones again and again."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

Call = tuple[Any, ...]
STREAMS, GROUPS, CONSUMERS = ("s1", "s2", "s3"), ("g1", "g2"), ("one", "two", "three")
HASHES, SETS, STRINGS = ("h1", "h2"), ("z1", "z2"), ("k1", "k2", "k3")
ALL: Final = (*STREAMS, *HASHES, *SETS, *STRINGS, "nothing")
ODD: Final = ("", "7", "nonsense")  # ids that are none, or only half of one
WORDS: Final = ("a", "b", "c", b"\x00\xff", "", "7")


class AnyCommand:
    """`ids` are the stream entries reported so far."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.ids = ["1-0", "2-0", "5-3"]

    def __call__(self) -> Call:
        call: Call = self.rng.choice(MAKERS)(self)
        if self.rng.random() < 0.03 and len(call) > 1 and call[1] in ALL:
            return (call[0], self.rng.choice(ALL), *call[2:])  # maybe a key of another kind
        return call

    def one(self, *of: Any) -> Any:
        return self.rng.choice(of)

    def some(self, *of: Any) -> list[Any]:
        return self.rng.choices(of, k=self.rng.randint(1, 3))

    def maybe(self, *words: Any) -> tuple[Any, ...]:
        return words if self.rng.random() < 0.5 else ()

    def id(self) -> str:
        return self.rng.choice(self.ids[-12:])

    def bound(self) -> str:
        return str(self.one("-", "+", "0-0", "3", f"({self.id()}", self.id(), self.id().partition("-")[0]))

    def score(self) -> Any:
        return self.one(0, 1, 2, 2.5, -3, 1_800_000_000_000, "1e3", 0.1)

    def limit(self) -> Any:
        return self.one("-inf", "+inf", 0, "(1", 2, "(2.5", 1_800_000_000_000)

    def small_number(self) -> int:
        return self.rng.randint(-3, 4)

    def idle(self) -> int:
        """Milliseconds around what passes between a few commands."""
        return int(self.one(0, 0, 1, 3, 10, 1000))


def _xadd(any_: AnyCommand) -> Call:
    id_ = any_.one("*", "*", "*", any_.id(), f"{any_.id().partition('-')[0]}-9", "0-0", "0-1", "nonsense")
    return "XADD", any_.one(*STREAMS), id_, any_.one(*WORDS), any_.one(*WORDS)


def _xreadgroup(any_: AnyCommand) -> Call:
    streams = list(dict.fromkeys(any_.some(*STREAMS)))
    ids = [any_.one(">", ">", ">", "0", any_.id()) for _ in streams]
    options = ("COUNT", any_.one(1, 2, 100), *any_.maybe("BLOCK", 10))
    who = any_.one(*GROUPS), any_.one(*CONSUMERS)
    return "XREADGROUP", "GROUP", *who, *options, "STREAMS", *streams, *ids


def _xpending(any_: AnyCommand) -> Call:
    which = any_.one(*STREAMS), any_.one(*GROUPS)
    if any_.rng.random() < 0.2:
        return "XPENDING", *which
    span = any_.bound(), any_.bound(), any_.one(1, 2, 100)
    return "XPENDING", *which, *any_.maybe("IDLE", any_.idle()), *span, *any_.maybe(any_.one(*CONSUMERS))


def _xclaim(any_: AnyCommand) -> Call:
    ids = any_.some(*any_.ids[-12:])
    who = any_.one(*STREAMS), any_.one(*GROUPS), any_.one(*CONSUMERS)
    return "XCLAIM", *who, any_.idle(), *ids, *any_.maybe("IDLE", any_.one(0, 5, 2000)), *any_.maybe("JUSTID")


def _xautoclaim(any_: AnyCommand) -> Call:
    who = any_.one(*STREAMS), any_.one(*GROUPS), any_.one(*CONSUMERS)
    return "XAUTOCLAIM", *who, any_.idle(), any_.one("0-0", any_.id()), *any_.maybe("COUNT", any_.one(1, 2))


def _xgroup(any_: AnyCommand) -> Call:
    which = any_.one(*STREAMS), any_.one(*GROUPS)
    kind = any_.rng.random()
    if kind < 0.6:
        return "XGROUP CREATE", *which, any_.one("0", "$", any_.id()), *any_.maybe("MKSTREAM")
    if kind < 0.65:
        return "XGROUP DESTROY", *which
    return any_.one("XGROUP DELCONSUMER", "XGROUP CREATECONSUMER"), *which, any_.one(*CONSUMERS)


def _zadd(any_: AnyCommand) -> Call:
    options = (*any_.maybe(any_.one("NX", "XX", "GT", "LT")), *any_.maybe("CH"))
    return "ZADD", any_.one(*SETS), *options, any_.score(), any_.one(*WORDS), any_.score(), any_.one(*WORDS)


def _zrangebyscore(any_: AnyCommand) -> Call:
    options = (*any_.maybe("WITHSCORES"), *any_.maybe("LIMIT", any_.one(0, 1), any_.one(-1, 0, 2)))
    name = any_.one("ZRANGEBYSCORE", "ZREVRANGEBYSCORE")
    return name, any_.one(*SETS), any_.limit(), any_.limit(), *options


def _set(any_: AnyCommand) -> Call:
    expiry = any_.one((), (), ("PX", any_.one(1, 3, 5000)), ("EX", 60), ("KEEPTTL",), ("EX", 0), ("PX", "x"))
    return "SET", any_.one(*STRINGS), any_.one(*WORDS), *expiry, *any_.maybe(any_.one("NX", "XX"))


MAKERS: Final[tuple[Callable[[AnyCommand], Call], ...]] = (
    *[_xadd] * 4,
    *[_xreadgroup] * 3,
    *[_xpending, _xclaim, _xautoclaim, _xgroup] * 2,
    _zadd,
    _zrangebyscore,
    _set,
    lambda any_: ("XLEN", any_.one(*STREAMS)),
    lambda any_: ("XDEL", any_.one(*STREAMS), *any_.some(*any_.ids[-12:], *ODD)),
    *[lambda any_: ("XACK", any_.one(*STREAMS), any_.one(*GROUPS), *any_.ids[-12:])] * 2,
    lambda any_: ("XACK", any_.one(*STREAMS), any_.one(*GROUPS), *any_.some(*any_.ids[-12:], *ODD)),
    lambda any_: (
        "XRANGE",
        any_.one(*STREAMS),
        any_.bound(),
        any_.bound(),
        *any_.maybe("COUNT", any_.one(0, 1, 3)),
    ),
    lambda any_: ("XREVRANGE", any_.one(*STREAMS), any_.bound(), any_.bound(), *any_.maybe("COUNT", 1)),
    lambda any_: ("XREVRANGE", any_.one(*STREAMS), "+", "-", "COUNT", any_.one(1, 2)),
    lambda any_: ("XREAD", "COUNT", any_.one(1, 5), "STREAMS", *STREAMS[:2], any_.one("0", "$"), any_.id()),
    lambda any_: ("XINFO CONSUMERS", any_.one(*STREAMS), any_.one(*GROUPS)),
    lambda any_: ("XINFO GROUPS", any_.one(*STREAMS)),
    lambda any_: ("HSET", any_.one(*HASHES), any_.one(*WORDS), any_.one(*WORDS), any_.one(*WORDS), 1),
    lambda any_: ("HSETNX", any_.one(*HASHES), any_.one(*WORDS), any_.one(*WORDS)),
    lambda any_: ("HGET", any_.one(*HASHES), any_.one(*WORDS)),
    lambda any_: ("HMGET", any_.one(*HASHES), *any_.some(*WORDS)),
    lambda any_: ("HDEL", any_.one(*HASHES), *any_.some(*WORDS)),
    lambda any_: (any_.one("HLEN", "HGETALL"), any_.one(*HASHES)),
    lambda any_: ("HEXISTS", any_.one(*HASHES), any_.one(*WORDS)),
    lambda any_: ("HINCRBY", any_.one(*HASHES), any_.one(*WORDS), any_.small_number()),
    lambda any_: ("ZREM", any_.one(*SETS), *any_.some(*WORDS)),
    lambda any_: ("ZREMRANGEBYSCORE", any_.one(*SETS), any_.limit(), any_.limit()),
    lambda any_: (
        any_.one("ZRANGE", "ZREVRANGE"),
        any_.one(*SETS),
        any_.small_number(),
        any_.small_number(),
        *any_.maybe("WITHSCORES"),
    ),
    lambda any_: ("ZSCORE", any_.one(*SETS), any_.one(*WORDS)),
    lambda any_: ("ZCARD", any_.one(*SETS)),
    lambda any_: ("ZCOUNT", any_.one(*SETS), any_.limit(), any_.limit()),
    lambda any_: ("GET", any_.one(*STRINGS)),
    lambda any_: ("INCR", any_.one(*STRINGS)),
    lambda any_: ("INCRBY", any_.one(*STRINGS), any_.small_number()),
    lambda any_: (any_.one("DEL", "UNLINK", "EXISTS"), *any_.some(*HASHES, *SETS, *STRINGS, "s3")),
    lambda any_: (
        any_.one("EXPIRE", "PEXPIRE"),
        any_.one(*HASHES, *SETS, *STRINGS),
        any_.one(-1, 0, 4, 9000),
    ),
    lambda any_: (any_.one("PERSIST", "TTL", "PTTL", "TYPE"), any_.one(*ALL)),
    lambda any_: ("KEYS", any_.one("*", "s*", "[hz]1", "?2")),
    lambda any_: ("SCAN", 0, *any_.maybe("MATCH", "?1"), "COUNT", 1000),
    lambda any_: ("PUBLISH", any_.one("{p01}:notifications", "{p02}:knock", "elsewhere"), any_.one(*WORDS)),
    lambda any_: ("PING",),
    lambda any_: ("TIME",),
    lambda any_: ("CONFIG GET", any_.one("append*", "appendonly", "no-such-setting")),
    lambda any_: ("WAIT", 0, 1),
    lambda any_: ("WAITAOF", 0, 0, 1),
)
