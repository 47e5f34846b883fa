"""Queries without I/O: written once, run by a blocking client and by an asyncio client.

A query is a generator. It yields the commands of one round trip, is sent their replies, and returns
its result; most need one round. An error reply is sent as an exception object: what it means is the
query's to decide.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from redis.exceptions import ResponseError

from schemas.errors import CorruptDataError

Client = Any  # of redis-py, blocking or asyncio, of an engine or a cluster: it types replies for all at once
Reply = Any  # bytes, a number, None, nested lists or dicts of them, or an exception: redis-py has no type
Option = Any  # a keyword argument of redis-py, which has many types of them
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
