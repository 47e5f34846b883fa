"""redis-py's methods for single commands (`xadd`, `hget`, ...) over an `execute_command` that is none of its own."""

from __future__ import annotations

from typing import Any

from redis.commands import AsyncCoreCommands, CoreCommands


class CommandMethods(CoreCommands):
    """The methods of a blocking client: each calls `execute_command` with the command's words."""

    _event_dispatcher: Any = None  # redis-py's protocol of its clients demands it; nothing here has one


class AsyncCommandMethods(AsyncCoreCommands):
    """The methods of an asyncio client: each calls `execute_command` with the command's words."""

    _event_dispatcher: Any = None  # as above
