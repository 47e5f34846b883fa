"""One round trip to one engine: many commands in one write, their replies in order.

redis-py's pipeline does the same, and takes more than twice the time for each command: that is most of what a worker
that waits for nobody spends on its engine. This uses its connections, its parser and the callbacks by which it decodes
replies, and leaves out what no client of ours asks for: retries, transactions, metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import hiredis
import redis
from redis.exceptions import ResponseError

if TYPE_CHECKING:
    from services.ledger.queries import Argument, Client, RedisCommand, Reply

pack_command: Final[Any] = hiredis.pack_command  # its type says that a command is one word


def is_one_engine(client: Client) -> bool:
    """Whether this is a blocking client of one engine, and neither a cluster nor what stands for a client."""
    return type(client) is redis.Redis


def send_at_once(client: Client, commands: Sequence[RedisCommand]) -> list[Reply]:
    """The reply to each command, where an error is a reply too. Raises ConnectionError or TimeoutError, and then nobody
    knows which of them were done."""
    if not commands:
        return []
    packed = b"".join([pack_command(_words(arguments)) for arguments, _ in commands])
    callbacks, pool = client.response_callbacks, client.connection_pool
    connection = pool.get_connection()
    replies: list[Reply] = []
    try:
        connection.send_packed_command([packed])
        for arguments, options in commands:
            try:
                reply = connection.read_response()
            except ResponseError as error:
                replies.append(error)
            else:
                decode = callbacks.get(arguments[0])
                replies.append(decode(reply, **options) if decode else reply)
    except BaseException:
        connection.disconnect()  # the next round trip must not read what is left of this one
        raise
    finally:
        pool.release(connection)
    return replies


def _words(arguments: Sequence[Argument]) -> Sequence[Argument]:
    """A command of two words is two arguments."""
    name = arguments[0]
    return (*name.split(), *arguments[1:]) if isinstance(name, str) and " " in name else arguments
