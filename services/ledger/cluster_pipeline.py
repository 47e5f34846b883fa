"""A batch of commands for a cluster's nodes, in rounds, until each has its reply. Pure.

A command is sent again only where a node said that it did nothing: the slot is elsewhere
(MOVED), is leaving and this key has left (ASK), or is half here and half there (TRYAGAIN).
After anything else, a lost connection above all, nobody knows whether it was done: that is
its reply, and whoever sent it decides. redis-py's own cluster pipeline sends it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from redis.crc import key_slot
from redis.exceptions import (
    AskError,
    ClusterDownError,
    ConnectionError,
    MovedError,
    SlotNotCoveredError,
    TimeoutError,
    TryAgainError,
)

RETRY_PAUSES_S: Final = (0.0, 0.0, 0.01, 0.02, 0.04)  # before each round after the first
KEYLESS_COMMANDS: Final = ("WAIT", "WAITAOF", "ASKING")  # these go with a command beside them
NODE_LOST_ERRORS: Final = (ConnectionError, TimeoutError, ClusterDownError, SlotNotCoveredError)


class ClusterCommand:
    """A command and, in the end, its reply. Its fields have the names that redis-py looks for."""

    __slots__ = ("args", "ask_node", "kwargs", "result", "slot")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args, self.kwargs = args, kwargs
        self.slot = None if args[0] in KEYLESS_COMMANDS else hash_slot(first_key(args))
        self.result: Any = None
        self.ask_node = ""  # the node that may have the key while its slot moves


def first_key(args: tuple[Any, ...]) -> Any:
    """The first key of a command."""
    match args[0]:
        case "EVALSHA" | "EVAL":
            return args[3]
        case "XREADGROUP":
            return args[-2]  # of one stream: several may lie on several nodes
        case _:
            return args[1]


def hash_slot(key: Any) -> int:
    return int(key_slot(key if isinstance(key, bytes) else str(key).encode()))


def group_by_node(
    commands: Iterable[ClusterCommand], node_by_slot: Callable[[int], Any], node_by_name: Callable[[str], Any]
) -> dict[Any, list[ClusterCommand]]:
    """What each node is sent, in the order in which it was given."""
    commands_by_node: dict[Any, list[ClusterCommand]] = {}
    node = None
    for command in commands:
        if command.slot is not None:
            try:
                node = (node_by_name(command.ask_node) if command.ask_node else None) or node_by_slot(
                    command.slot
                )
            except (SlotNotCoveredError, KeyError):  # KeyError: redis-py's asyncio client
                node = None
        if node is None:
            command.result = SlotNotCoveredError(f"no node has slot {command.slot}")
            continue
        share = commands_by_node.setdefault(node, [])
        if command.ask_node:
            share.append(ClusterCommand(("ASKING",), {}))
        share.append(command)
    return commands_by_node


def is_node_lost(commands: Iterable[ClusterCommand]) -> bool:
    """Whether a node didn't answer, so that the map of the slots may be out of date."""
    return any(isinstance(command.result, NODE_LOST_ERRORS) for command in commands)


def collect_replies(commands: Iterable[ClusterCommand], raise_on_error: bool) -> list[Any]:
    """What each command was answered; an error is raised, or is the answer."""
    results = [command.result for command in commands]
    for reply in results if raise_on_error else ():
        if isinstance(reply, Exception):
            raise reply
    return results


def available_replies(replies: Sequence[Any]) -> list[Any]:
    """What the nodes that are there replied, and nothing for those that are away: their part
    waits, the others go on. Raises what went wrong otherwise, and when all are away."""
    lost = [reply for reply in replies if isinstance(reply, NODE_LOST_ERRORS)]
    for reply in replies:
        if isinstance(reply, Exception) and (
            not isinstance(reply, NODE_LOST_ERRORS) or len(lost) == len(replies)
        ):
            raise reply
    return [() if isinstance(reply, NODE_LOST_ERRORS) else reply for reply in replies]


def plan_next_round(commands: Iterable[ClusterCommand]) -> tuple[list[ClusterCommand], list[MovedError]]:
    """What must be sent again after a round, and the slots that turned out to be elsewhere."""
    to_resend: list[ClusterCommand] = []
    moved: dict[int, MovedError] = {}
    is_redirected = False
    for command in commands:
        if command.slot is not None:
            is_redirected = isinstance(command.result, (MovedError, AskError, TryAgainError))
        if not is_redirected:
            continue
        error, command.ask_node = command.result, ""
        if isinstance(error, MovedError):  # first, as redis-py makes it a kind of AskError
            moved[error.slot_id] = error
        elif isinstance(error, AskError):
            command.ask_node = f"{error.host}:{error.port}"
        to_resend.append(command)
    return to_resend, list(moved.values())
