"""Lua scripts, run by their SHA-1, many in one round trip."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha1
from importlib import resources
from typing import Final

from redis.exceptions import NoScriptError

from services.ledger.engine import keys
from services.ledger.engine.cluster_pipeline import available_replies
from services.ledger.engine.queries import (
    Argument,
    Client,
    Query,
    RedisCommand,
    Reply,
    command,
    require_reply,
    run,
)

MAX_KNOWN_SENDERS: Final = 16_384  # whose keys are kept ready, of those that sent last
ScriptCall = tuple[Sequence[str], Sequence[Argument]]  # a script's keys and arguments


class Script:
    """A Lua script and its SHA-1. The engine may forget it at any time (NOSCRIPT)."""

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
REMOVE_STREAMS: Final = Script("remove_streams")
RETRY_DEAD_LETTER: Final = Script("retry_dead_letter")
SETTLE_DISPUTE: Final = Script("settle_dispute")
SET_WEBHOOK: Final = Script("set_webhook")
MARK_WEBHOOK: Final = Script("mark_webhook")
SUBMIT_COMMAND: Final = Script("submit_command")
WITHDRAW_TOKEN: Final = Script("withdraw_token")
CONFIRM_ENTRY: Final = Script("confirm_entry")
# What gateways and bots call: where services are users of the engine, these may not load any.
LOADED_FOR_OTHERS: Final = (
    HEARTBEAT, SUBMIT_COMMAND, ACKNOWLEDGE, REMOVE_CONSUMER, CONFIRM_ENTRY, RAISE_DISPUTE, SET_WEBHOOK, WITHDRAW_TOKEN
)  # fmt: skip


def load_forgotten(partitions: int) -> Query[None]:
    """Load what others call, at each node with a partition that has forgotten it; one that is away is left out. Raises
    the engine's errors where nothing answers."""
    nodes = [command("XLEN", keys.commands(partition)) for partition in range(partitions)]
    shas = [script.sha for script in LOADED_FOR_OTHERS]
    replies = yield [each for node in nodes for each in (node, command("SCRIPT EXISTS", *shas))]
    to_load = [
        each
        for node, known in zip(nodes, available_replies(replies)[1::2], strict=True)
        for script, is_known in zip(LOADED_FOR_OTHERS, known, strict=False)
        if not is_known
        for each in (node, command("SCRIPT LOAD", script.source))
    ]
    available_replies((yield to_load) if to_load else [])


def call_script(script: Script, calls: Sequence[ScriptCall]) -> Query[list[Reply]]:
    """Run a script once for each call, in order, in one round trip: what each returned, where an error
    is a reply too. Where an engine, or a node of a cluster, has forgotten the script, it ran nothing:
    the script is sent along in a second round trip, or its refusal is the reply to who may send none."""
    if not calls:
        return []
    commands = [script_command("EVALSHA", script.sha, call) for call in calls]
    return (yield from call_forgotten(script, commands, list((yield commands))))


def call_forgotten(
    script: Script, commands: Sequence[RedisCommand], replies: list[Reply]
) -> Query[list[Reply]]:
    """These replies to EVALSHA commands, with those of a script that was forgotten, which is sent along now."""
    if missing := [index for index, reply in enumerate(replies) if isinstance(reply, NoScriptError)]:
        retried = [RedisCommand(("EVAL", script.source, *commands[index].arguments[2:])) for index in missing]
        for index, reply in zip(missing, (yield retried), strict=True):
            replies[index] = reply
    return replies


def run_script(client: Client, script: Script, calls: Sequence[ScriptCall]) -> list[Reply]:
    """What the script returned for each call. Raises the first error."""
    return [require_reply(reply) for reply in run(client, call_script(script, calls))]


def script_command(name: str, script: str | bytes, call: ScriptCall) -> RedisCommand:
    """A call of a script: by EVALSHA with its hash, or by EVAL with its source."""
    script_keys, arguments = call
    return RedisCommand((name, script, len(script_keys), *script_keys, *arguments))
