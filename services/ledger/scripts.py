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
        self.text = resources.files(__package__).joinpath(f"{name}.lua").read_bytes()
        self.sha = sha1(self.text, usedforsecurity=False).hexdigest()


APPEND: Final = Script("append")
ATTEND: Final = Script("attend")
DISMISS: Final = Script("dismiss")
DISPUTE: Final = Script("dispute")
FINISH: Final = Script("finish")
FORGET: Final = Script("forget")
RETIRE: Final = Script("retire")
REVIVE: Final = Script("revive")
SETTLE: Final = Script("settle")
SUBMIT: Final = Script("submit")


def run(client: Any, script: Script, calls: Sequence[Call]) -> list[Any]:
    """Run a script once for each call, in order, in one round trip; what each replied."""
    replies = attempt(client, script, calls)
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply
    return replies


def attempt(client: Any, script: Script, calls: Sequence[Call]) -> list[Any]:
    """The same, where an error is a reply too: on a cluster it need not be everybody's."""
    replies = _send(client, "EVALSHA", script.sha, calls)
    unknown = [i for i, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
    if unknown:  # this engine, or one node of a cluster, forgot the script: it is brought along
        again = _send(client, "EVAL", script.text, [calls[i] for i in unknown])
        for i, reply in zip(unknown, again, strict=True):
            replies[i] = reply
    return replies


def _send(client: Any, command: str, script: str | bytes, calls: Sequence[Call]) -> list[Any]:
    if not calls:
        return []
    pipe = client.pipeline(transaction=False)
    for called, told in calls:
        pipe.execute_command(command, script, len(called), *called, *told)
    return list(pipe.execute(raise_on_error=False))
