"""What a client of the engine raises, for services that don't know redis-py."""

from __future__ import annotations

from typing import Final

from redis.exceptions import ConnectionError, RedisError

from schemas.errors import LedgerlineError

EngineError = RedisError  # the engine is away, or refuses the command
ENGINE_ERRORS: Final = (RedisError, OSError)  # and what the connection itself raises


class NodeAwayError(LedgerlineError, ConnectionError):
    """The node that has these keys doesn't answer; the others may."""
