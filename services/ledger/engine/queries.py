"""Queries without I/O: written once, run by a blocking client and by an asyncio client.

A query is a generator. It yields the commands of one round trip, is sent their replies, and returns
its result; most need one round. An error reply is sent as an exception object: what it means is the
query's to decide.

The round trips to one engine go past redis-py's pipeline. redis-py keeps the connections: it knows addresses, TLS, users and
time-outs, and puts a lost one aside. Left out is what its pipeline does for each command besides packing it and reading its
reply, which cost as much as deciding it. A blocking client's commands may be made while those before them are on their way:
then the engine works while the next are decided. A cluster, a client that sends again by itself, and one that is none of
redis-py's own, keep their pipelines.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from functools import wraps
from itertools import chain
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, TypeVar

import redis
import redis.asyncio
from redis.connection import Connection, SSLConnection, UnixDomainSocketConnection
from redis.exceptions import ResponseError

from schemas.errors import CorruptDataError
from services.fast_path.engine_connection import DirectCalls, pack_command

Client = Any  # of redis-py, blocking or asyncio, of an engine or a cluster: it types replies for all at once
Reply = Any  # bytes, a number, None, nested lists or dicts of them, or an exception: redis-py has no type
Option = Any  # a keyword argument of redis-py, which has many types of them
Argument = str | bytes | int | float
OWN_CONNECTIONS: Final = (Connection, SSLConnection, UnixDomainSocketConnection)
SENT_AT_ONCE_BYTES: Final = 16_384  # the engine reads no more at once


class RedisCommand(NamedTuple):
    """A command, and the options by which redis-py decodes its reply. `packed` is the command as it is sent, where that was
    made before."""

    arguments: tuple[Argument, ...]
    options: Mapping[str, object] = {}
    packed: bytes = b""


Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")
Query = Generator[Sequence[RedisCommand], Sequence[Reply], Result]


def command(*arguments: Argument, **options: object) -> RedisCommand:
    """A command of redis-py's, to be sent by a query."""
    return RedisCommand(arguments, options)


def run(client: Client, query: Query[Result]) -> Result:
    """A query's result, by a blocking client. Raises what the query does, and the client's own errors."""
    try:
        commands = next(query)
        while True:
            commands = query.send(send_and_wait(client, commands))
    except StopIteration as finished:
        result: Result = finished.value
        return result


def send_and_wait(client: Client, commands: Iterable[RedisCommand]) -> list[Reply]:
    """One round trip by a blocking client: the replies, where an error is a reply too."""
    return sending_by(client)(client, commands)


def sending_by(client: Client) -> Callable[[Client, Iterable[RedisCommand]], list[Reply]]:
    """How a blocking client makes its round trips. Where the connection is redis-py's own, to one engine, the first commands
    are on their way while the next are made."""
    return make_round_trip if is_one_engine(client) else send_by_pipeline


def send_by_pipeline(client: Client, commands: Iterable[RedisCommand]) -> list[Reply]:
    """A round trip by the client's own pipeline: the replies, where an error is a reply too."""
    replies: list[Reply] = _filled_pipeline(client, commands).execute(raise_on_error=False)
    return replies


def _filled_pipeline(client: Client, commands: Iterable[RedisCommand]) -> Client:
    pipe = client.pipeline(transaction=False)
    for arguments, options, *_ in commands:
        pipe.execute_command(*arguments, **options)
    return pipe


async def run_async(client: Client, query: Query[Result]) -> Result:
    """Run a query by an asyncio client, and return its result. Raises as `run`."""

    async def send(commands: Sequence[RedisCommand]) -> Sequence[Reply]:
        return await send_commands(client, commands)

    return await run_rounds(send, query)


async def run_rounds(
    send: Callable[[Sequence[RedisCommand]], Awaitable[Sequence[Reply]]], query: Query[Result]
) -> Result:
    """Run a query by `send`, which makes a round trip, and return its result."""
    try:
        commands = next(query)
        while True:
            commands = query.send(await send(commands))
    except StopIteration as finished:
        result: Result = finished.value
        return result


class QueryClient:
    """A client, and how many partitions its engine has: what queries are run on."""

    def __init__(self, client: Client, partitions: int) -> None:
        self._client: Client = client
        self.partitions = partitions


def blocking(
    query: Callable[Concatenate[int, Parameters], Query[Result]],
) -> Callable[Concatenate[QueryClient, Parameters], Result]:
    """A method that runs this query on a blocking client; its docstring is the query's."""

    @wraps(query)
    def method(on: QueryClient, /, *arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        return run(on._client, query(on.partitions, *arguments, **named))

    return method


def awaited(
    query: Callable[Concatenate[int, Parameters], Query[Result]],
) -> Callable[Concatenate[QueryClient, Parameters], Awaitable[Result]]:
    """A method that runs this query on an asyncio client; its docstring is the query's."""

    @wraps(query)
    def method(
        on: QueryClient, /, *arguments: Parameters.args, **named: Parameters.kwargs
    ) -> Awaitable[Result]:
        return run_async(on._client, query(on.partitions, *arguments, **named))

    return method


async def send_commands(client: Client, commands: Sequence[RedisCommand]) -> list[Reply]:
    """One round trip by an asyncio client: the replies, where an error is a reply too."""
    if isinstance(client, AsyncEngineClient):
        return await make_async_round_trip(client, commands)
    replies: list[Reply] = await _filled_pipeline(client, commands).execute(raise_on_error=False)
    return replies


def is_one_engine(client: Client) -> bool:
    """Whether this is redis-py's own client of one engine, on a connection of its own kinds, which sends nothing twice."""
    if type(client) is not redis.Redis or client.connection_pool.connection_class not in OWN_CONNECTIONS:
        return False
    retry = client.connection_pool.connection_kwargs.get("retry")
    return retry is not None and retry.get_retries() == 0


def make_round_trip(client: Client, commands: Iterable[RedisCommand]) -> list[Reply]:
    """Send the commands, as they are made, and return their replies, in order; an error of the engine is a reply too.

    Raises the connection's own errors, and what making a command raises: then those before it may have been run."""
    to_send = iter(commands)
    if (first := next(to_send, None)) is None:
        return []
    pool = client.connection_pool
    connection = pool.get_connection()
    try:
        sent, unsent, size = list[RedisCommand](), list[bytes](), 0
        for command in chain((first,), to_send):
            sent.append(command)
            unsent.append(packed := command.packed or pack(command.arguments))
            if (size := size + len(packed)) >= SENT_AT_ONCE_BYTES:
                connection.send_packed_command((b"".join(unsent),))
                unsent, size = [], 0
        if unsent:
            connection.send_packed_command((b"".join(unsent),))
        replies: list[Reply] = []
        for _ in sent:
            try:
                replies.append(connection.read_response())
            except ResponseError as error:
                replies.append(error)
    except BaseException:
        connection.disconnect()  # a reply that nobody reads now would answer another command
        raise
    finally:
        pool.release(connection)
    return _decode(client, sent, replies)


class AsyncEngineClient(redis.asyncio.Redis):
    """An asyncio client of one engine, whose round trips share a connection (`make_async_round_trip`)."""

    direct_calls: DirectCalls | None = None  # made in the event loop

    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        """Close the connections."""
        if self.direct_calls is not None:
            await self.direct_calls.close()
        await super().aclose(close_connection_pool)


async def make_async_round_trip(client: AsyncEngineClient, commands: Sequence[RedisCommand]) -> list[Reply]:
    """Send commands by an asyncio client, with those of others in this turn of the event loop, and return their replies, as
    `make_round_trip` does."""
    if not commands:
        return []
    if client.direct_calls is None:
        client.direct_calls = DirectCalls(client.connection_pool)
    packed = b"".join([each.packed or pack(each.arguments) for each in commands])
    replies = await client.direct_calls.ask(packed, len(commands))
    return _decode(client, commands, replies)


def pack(arguments: tuple[Argument, ...]) -> bytes:
    """A command as it is sent; its name may have two words."""
    name = arguments[0]
    if isinstance(name, str) and " " in name:
        arguments = (*name.split(), *arguments[1:])
    packed: bytes = pack_command(arguments)
    return packed


def _decode(client: Client, commands: Sequence[RedisCommand], replies: list[Reply]) -> list[Reply]:
    """The replies as redis-py gives them."""
    names = {each.arguments[0] for each in commands}
    decoders = {name: client.response_callbacks.get(name) for name in names}
    if not any(decoders.values()):
        return replies
    return [
        decode(reply, **each.options)
        if (decode := decoders[each.arguments[0]]) and not isinstance(reply, Exception)
        else reply
        for each, reply in zip(commands, replies, strict=True)
    ]


def with_cancellable_send(connection_class: type) -> Any:  # a class that redis-py has no type for
    """A connection class whose sending can be cancelled."""
    return type("Connection", (CancellableSend, connection_class), {})


class CancellableSend:
    """A mixin over a connection of redis-py's: a task may be cancelled while it sends.

    redis-py sends under `asyncio.wait_for`, which before Python 3.12 swallows a cancellation
    that comes just as the sending ends: a busy gateway then never stopped (129 of 300 times)."""

    socket_timeout: float | None

    async def send_packed_command(self, command: object, check_health: bool = True) -> None:
        """Send a command, within the socket's timeout. Raises redis.TimeoutError."""
        timeout_s, self.socket_timeout = self.socket_timeout, None
        base: Any = super()  # whichever class this one is mixed into
        try:
            async with asyncio.timeout(timeout_s):
                await base.send_packed_command(command, check_health)
        except TimeoutError:
            await base.disconnect(nowait=True)
            raise redis.TimeoutError("Timeout writing to socket") from None
        finally:
            self.socket_timeout = timeout_s


def require_reply(reply: Reply) -> Reply:
    """The reply. Raises it where it is an error."""
    if isinstance(reply, Exception):
        raise reply
    return reply


def require_game_reply(game: str, reply: Reply) -> Reply:
    """A reply about one game. Raises CorruptDataError: a key of the game holds another type; or the
    engine's own error."""
    if isinstance(reply, ResponseError) and "WRONGTYPE" in str(reply):
        raise CorruptDataError(f"a key of {game} is of another kind")
    if isinstance(reply, Exception):
        raise reply
    return reply
