"""Lua scripts, run by their hash, many in one round trip."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha1
from importlib import resources
from typing import Any, Final

from redis.exceptions import NoScriptError

ScriptCall = tuple[Sequence[str], Sequence[Any]]  # a script's keys and arguments


class Script:
    """A Lua script by its hash; the engine may forget it at any time (NOSCRIPT)."""

    def __init__(self, name: str) -> None:
        self.source = resources.files(__package__).joinpath("lua", f"{name}.lua").read_bytes()
        self.sha = sha1(self.source, usedforsecurity=False).hexdigest()


APPEND_ENTRY: Final = Script("append_entry")
HEARTBEAT: Final = Script("heartbeat")
REJECT_COMMAND: Final = Script("reject_command")
RAISE_DISPUTE: Final = Script("raise_dispute")
ACKNOWLEDGE: Final = Script("acknowledge")
REMOVE_CONSUMER: Final = Script("remove_consumer")
EVICT_GAME: Final = Script("evict_game")
RETRY_DEAD_LETTER: Final = Script("retry_dead_letter")
SETTLE_DISPUTE: Final = Script("settle_dispute")
SUBMIT_COMMAND: Final = Script("submit_command")


def run_script(client: Any, script: Script, calls: Sequence[ScriptCall]) -> list[Any]:
    """Run a script once for each call, in order, in one round trip; what each replied."""
    replies = try_script(client, script, calls)
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply
    return replies


def try_script(client: Any, script: Script, calls: Sequence[ScriptCall]) -> list[Any]:
    """The same, where an error is a reply too: on a cluster it need not be everybody's."""
    if not calls:
        return []
    replies = list(_build_pipeline(client, "EVALSHA", script.sha, calls).execute(raise_on_error=False))
    if missing := _missing_script_indices(replies):
        pipe = _build_pipeline(client, "EVAL", script.source, [calls[i] for i in missing])
        _replace_replies(replies, missing, pipe.execute(raise_on_error=False))
    return replies


async def try_script_async(client: Any, script: Script, calls: Sequence[ScriptCall]) -> list[Any]:
    """The same with an asyncio client."""
    if not calls:
        return []
    replies = list(await _build_pipeline(client, "EVALSHA", script.sha, calls).execute(raise_on_error=False))
    if missing := _missing_script_indices(replies):
        pipe = _build_pipeline(client, "EVAL", script.source, [calls[i] for i in missing])
        _replace_replies(replies, missing, await pipe.execute(raise_on_error=False))
    return replies


def _missing_script_indices(replies: Sequence[Any]) -> list[int]:
    """Whose engine, or node of a cluster, forgot the script, and ran nothing: it is brought along."""
    return [i for i, reply in enumerate(replies) if isinstance(reply, NoScriptError)]


def _replace_replies(replies: list[Any], indices: Sequence[int], new_replies: Sequence[Any]) -> None:
    for i, reply in zip(indices, new_replies, strict=True):
        replies[i] = reply


def _build_pipeline(client: Any, command: str, script: str | bytes, calls: Sequence[ScriptCall]) -> Any:
    pipe = client.pipeline(transaction=False)
    for script_keys, arguments in calls:
        pipe.execute_command(command, script, len(script_keys), *script_keys, *arguments)
    return pipe
