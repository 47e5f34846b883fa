"""What a client of the engine raises, for services that don't know redis-py."""

from __future__ import annotations

from typing import Final

from redis.exceptions import RedisError

from services.ledger.engine.silent_nodes import NodeAwayError

__all__ = ["ENGINE_ERRORS", "EngineError", "NodeAwayError"]

EngineError = RedisError  # the engine is away, or refuses the command
ENGINE_ERRORS: Final = (RedisError, OSError)  # and what the connection itself raises
