"""Lua scripts, run by their hash, many in one round trip."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha1
from importlib import resources
from typing import Any, Final

from redis.exceptions import NoScriptError

Call = tuple[Sequence[str], Sequence[Any]]  # a script's keys and arguments


class Script:
    """A Lua script by its hash; the engine may forget it at any time (NOSCRIPT)."""

    def __init__(self, name: str) -> None:
        self.text = resources.files(__package__).joinpath("lua", f"{name}.lua").read_bytes()
        self.sha = sha1(self.text, usedforsecurity=False).hexdigest()


APPEND: Final = Script("append_entry")
ATTEND: Final = Script("heartbeat")
DISMISS: Final = Script("reject_command")
DISPUTE: Final = Script("raise_dispute")
FINISH: Final = Script("acknowledge")
FORGET: Final = Script("remove_consumer")
RETIRE: Final = Script("evict_game")
REVIVE: Final = Script("retry_dead_letter")
SETTLE: Final = Script("settle_dispute")
SUBMIT: Final = Script("submit_command")


def run(client: Any, script: Script, calls: Sequence[Call]) -> list[Any]:
    """Run a script once for each call, in order, in one round trip; what each replied."""
    replies = attempt(client, script, calls)
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply
    return replies


def attempt(client: Any, script: Script, calls: Sequence[Call]) -> list[Any]:
    """The same, where an error is a reply too: on a cluster it need not be everybody's."""
    if not calls:
        return []
    replies = list(_pipe(client, "EVALSHA", script.sha, calls).execute(raise_on_error=False))
    if unknown := _unknown(replies):
        pipe = _pipe(client, "EVAL", script.text, [calls[i] for i in unknown])
        _put(replies, unknown, pipe.execute(raise_on_error=False))
    return replies


async def attempt_async(client: Any, script: Script, calls: Sequence[Call]) -> list[Any]:
    """The same with an asyncio client."""
    if not calls:
        return []
    replies = list(await _pipe(client, "EVALSHA", script.sha, calls).execute(raise_on_error=False))
    if unknown := _unknown(replies):
        pipe = _pipe(client, "EVAL", script.text, [calls[i] for i in unknown])
        _put(replies, unknown, await pipe.execute(raise_on_error=False))
    return replies


def _unknown(replies: Sequence[Any]) -> list[int]:
    """Whose engine, or node of a cluster, forgot the script, and ran nothing: it is brought along."""
    return [i for i, reply in enumerate(replies) if isinstance(reply, NoScriptError)]


def _put(replies: list[Any], places: Sequence[int], again: Sequence[Any]) -> None:
    for i, reply in zip(places, again, strict=True):
        replies[i] = reply


def _pipe(client: Any, command: str, script: str | bytes, calls: Sequence[Call]) -> Any:
    pipe = client.pipeline(transaction=False)
    for called, told in calls:
        pipe.execute_command(command, script, len(called), *called, *told)
    return pipe
