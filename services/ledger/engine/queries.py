"""Queries without I/O: written once, run by a blocking client and by an asyncio client.

A query is a generator. It yields the commands of one round trip, is sent their replies, and returns
its result; most need one round. An error reply is sent as an exception object: what it means is the
query's to decide.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from services.ledger.engine.cancellable_send import has_cancellable_send
from services.ledger.engine.round_trips import is_one_engine, make_async_round_trip, make_round_trip

Client = Any  # of redis-py, blocking or asyncio, of an engine or a cluster: it types replies for all at once
Reply = Any  # bytes, a number, None, nested lists or dicts of them, or an exception: redis-py has no type
Argument = str | bytes | int | float


class RedisCommand(NamedTuple):
    """A command, and the options by which redis-py decodes its reply. `packed` is the command as it is sent, where that was
    made before."""

    arguments: tuple[Argument, ...]
    options: Mapping[str, object] = {}
    packed: bytes = b""


Result = TypeVar("Result")
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
    """One round trip by a blocking client: the replies, where an error is a reply too. Where the connection is
    redis-py's own, to one engine, the first commands are on their way while the next are made."""
    if is_one_engine(client):
        return make_round_trip(client, commands)
    replies: list[Reply] = _pipeline(client, commands).execute(raise_on_error=False)
    return replies


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


async def send_commands(client: Client, commands: Sequence[RedisCommand]) -> list[Reply]:
    """One round trip by an asyncio client: the replies, where an error is a reply too."""
    if has_cancellable_send(client):
        return await make_async_round_trip(client, commands)
    replies: list[Reply] = await _pipeline(client, commands).execute(raise_on_error=False)
    return replies


def require_reply(reply: Reply) -> Reply:
    """The reply. Raises it where it is an error."""
    if isinstance(reply, Exception):
        raise reply
    return reply


def _pipeline(client: Client, commands: Iterable[RedisCommand]) -> Client:
    pipe = client.pipeline(transaction=False)
    for arguments, options, *_ in commands:
        pipe.execute_command(*arguments, **options)
    return pipe
