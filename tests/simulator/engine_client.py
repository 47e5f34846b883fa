"""redis-py's two clients by interface: the product's ledgers run on them unchanged.

Names of methods, their arguments and the shapes of replies are redis-py's own, because its
own code makes them; between its commands and its replies there is an `Engine` and no wire.

Every round trip goes through the client's `carry`, which gets the calls and a function that
runs them on the engine and gives one reply a call, an exception where the reply is an error.
Faults are injected there: don't run them and raise ConnectionError (lost on the way), run them and
raise it (the reply is lost), run some of them, run them twice, move the clock, crash.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache
from typing import Any, Final

import redis
from redis import DataError, ResponseError
from redis._parsers.base import BaseParser
from redis._parsers.response_callbacks import get_response_callbacks
from redis.client import EMPTY_RESPONSE, NEVER_DECODE
from redis.utils import safe_str

from services.fast_path.engine_connection import AsyncCommandMethods, CommandMethods
from tests.simulator.engine import Connection, Engine
from tests.simulator.engine_connection import Pool
from tests.simulator.engine_pubsub import AsyncSubscription, Subscription
from tests.simulator.engine_store import EngineReplyError, Status

Call = Sequence[Any]  # a command's name and arguments as redis-py would send them
Execute = Callable[[Sequence[Call]], list[Any]]
Carry = Callable[[Sequence[Call], Execute], list[Any]]
AsyncCarry = Callable[[Sequence[Call], Execute], Awaitable[list[Any]]]

parse_error: Final[Callable[[str], Exception]] = BaseParser.parse_error
READERS: Final = get_response_callbacks(2, legacy_responses=True)


def straight(calls: Sequence[Call], execute: Execute) -> list[Any]:
    """The carry without faults."""
    return execute(calls)


async def straight_async(calls: Sequence[Call], execute: Execute) -> list[Any]:
    """The same for the asynchronous client."""
    return execute(calls)


class Line:
    """A client's connections to one engine. Like redis-py's pools it hands out the one used
    last, and silently replaces one that broke while it was idle."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._free: list[Connection] = []

    def take(self) -> Connection:
        connection = self._free.pop() if self._free else Connection(self.engine)
        return connection if connection.generation == self.engine.generation else Connection(self.engine)

    def give_back(self, connection: Connection) -> None:
        self._free.append(connection)

    def runner(self, connection: Connection) -> Execute:
        """Runs calls on the engine, over one connection; ConnectionError if that broke meanwhile."""

        def execute(calls: Sequence[Call]) -> list[Any]:
            if connection.generation != self.engine.generation:
                raise redis.ConnectionError("the engine went away")
            return [self._run(connection, call) for call in calls]

        return execute

    def _run(self, connection: Connection, call: Call) -> Any:
        try:
            words = [ENCODE.get(type(word), encode)(word) for word in call[1:]]
            return self.engine.execute(connection, *spelled(call[0]), *words)
        except EngineReplyError as error:
            return parse_error(str(error))


@cache
def spelled(name: str | bytes) -> tuple[bytes, ...]:
    """The words of a command's name: `XGROUP CREATE` is two."""
    return tuple((name.encode() if isinstance(name, str) else name).split())


def encode(word: Any) -> bytes:
    """An argument as redis-py writes it, for the types that ENCODE has not."""
    if isinstance(word, str):
        return word.encode()
    if isinstance(word, bool) or not isinstance(word, int | float | bytearray | memoryview):
        raise DataError(f"Invalid input of type: '{type(word).__name__}'.")
    return repr(word).encode() if isinstance(word, int | float) else bytes(word)


ENCODE: Final[dict[type, Callable[[Any], bytes]]] = {
    bytes: bytes,  # which copies nothing
    str: str.encode,
    int: b"%d".__mod__,
}


def read(call: Call, options: dict[str, Any], reply: Any) -> Any:
    """A reply as redis-py returns it. Raises it if it is an error."""
    if isinstance(reply, Exception):
        if EMPTY_RESPONSE in options and isinstance(reply, ResponseError):
            return options[EMPTY_RESPONSE]
        raise reply
    reader = READERS.get(call[0])
    if type(reply) is Status:
        reply = bytes(reply)
    if reader is None:
        return reply
    if options:
        options = {name: value for name, value in options.items() if name not in NOT_FOR_READERS}
    return reader(reply, **options)


NOT_FOR_READERS: Final = {EMPTY_RESPONSE, NEVER_DECODE, "keys"}


def read_all(calls: Sequence[tuple[Call, dict[str, Any]]], replies: Iterable[Any], strict: bool) -> list[Any]:
    """A pipeline's replies; the first error among them is raised if `strict`."""
    result = []
    for number, ((call, options), reply) in enumerate(zip(calls, replies, strict=True), 1):
        try:
            result.append(read(call, options, reply))
        except ResponseError as error:
            if strict:
                what = " ".join(map(safe_str, call))[:100]
                error.args = (f"Command # {number} ({what}) of pipeline caused error: {error.args[0]}",)
                raise
            result.append(error)
    return result


class SyncClient(CommandMethods):
    """Stands for `redis.Redis`."""

    def __init__(self, engine: Engine, carry: Carry = straight) -> None:
        self.engine, self.carry = engine, carry
        self._line = Line(engine)

    def execute_command(self, *call: Any, **options: Any) -> Any:
        [reply] = self._trip([call])
        return read(call, options, reply)

    def pipeline(self, transaction: bool = True) -> Pipeline:
        assert not transaction, "the product has no use for MULTI"
        return Pipeline(self._trip)

    def pubsub(self, ignore_subscribe_messages: bool = False) -> Subscription:
        return Subscription(self.engine, ignore_subscribe_messages)

    def _trip(self, calls: Sequence[Call]) -> list[Any]:
        connection = self._line.take()
        replies = self.carry(calls, self._line.runner(connection))  # one that broke isn't given back
        self._line.give_back(connection)
        return replies

    def close(self) -> None:
        """There is nothing to close."""

    def __enter__(self) -> SyncClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Pipeline(CommandMethods):
    """Commands sent in one round trip; not a transaction."""

    def __init__(self, trip: Callable[[Sequence[Call]], list[Any]]) -> None:
        self._trip = trip
        self._calls: list[tuple[Call, dict[str, Any]]] = []

    def execute_command(self, *call: Any, **options: Any) -> Pipeline:
        self._calls.append((call, options))
        return self

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        calls, self._calls = self._calls, []
        return read_all(calls, self._trip([call for call, _ in calls]), raise_on_error) if calls else []

    def __len__(self) -> int:
        return len(self._calls)

    def __bool__(self) -> bool:
        return True

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, *_: object) -> None:
        self._calls = []


class AsyncClient(AsyncCommandMethods):
    """Stands for `redis.asyncio.Redis`. Concurrent round trips have a connection each."""

    def __init__(self, engine: Engine, carry: AsyncCarry = straight_async) -> None:
        self.engine, self.carry = engine, carry
        self._line = Line(engine)

    async def execute_command(self, *call: Any, **options: Any) -> Any:
        [reply] = await self._trip([call])
        return read(call, options, reply)

    def pipeline(self, transaction: bool = True) -> AsyncPipeline:
        assert not transaction, "the product has no use for MULTI"
        return AsyncPipeline(self._trip)

    def pubsub(self, ignore_subscribe_messages: bool = False) -> AsyncSubscription:
        return AsyncSubscription(self.engine, ignore_subscribe_messages)

    @property
    def connection_pool(self) -> Pool:
        return Pool(self.engine, self._trip_over)

    async def _trip_over(self, connection: Connection, calls: Sequence[Call]) -> list[Any]:
        return await self.carry(calls, self._line.runner(connection))

    async def _trip(self, calls: Sequence[Call]) -> list[Any]:
        connection = self._line.take()
        replies = await self._trip_over(connection, calls)
        self._line.give_back(connection)
        return replies

    async def aclose(self) -> None:
        """There is nothing to close."""

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class AsyncPipeline(AsyncCommandMethods):
    """The same as `Pipeline`, awaited."""

    def __init__(self, trip: Callable[[Sequence[Call]], Awaitable[list[Any]]]) -> None:
        self._trip = trip
        self._calls: list[tuple[Call, dict[str, Any]]] = []

    def execute_command(self, *call: Any, **options: Any) -> AsyncPipeline:
        self._calls.append((call, options))
        return self

    async def execute(self, raise_on_error: bool = True) -> list[Any]:
        calls, self._calls = self._calls, []
        if not calls:
            return []
        return read_all(calls, await self._trip([call for call, _ in calls]), raise_on_error)

    async def __aenter__(self) -> AsyncPipeline:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._calls = []
