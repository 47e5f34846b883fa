"""The rounds of a cluster pipeline, until each command has its reply. Pure.

A command is sent again only where a node reports that it did nothing: the slot is elsewhere
(MOVED), is leaving and this key has left (ASK), or its keys are on both nodes (TRYAGAIN).
After anything else, a lost connection above all, it isn't known whether the command was done:
the error is its reply, and the sender decides. redis-py's own cluster pipeline sends it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

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

from services.ledger.engine.queries import Argument, Reply
from services.ledger.ports import NodeAwayError

Node = TypeVar("Node")
RETRY_PAUSES_S: Final = (0.0, 0.0, 0.01, 0.02, 0.04)  # before each round after the first
# Single commands that go the way of a pipeline: to the node of their first key, and no further.
KEYED_COMMANDS: Final = frozenset(
    (
        *("XLEN", "XADD", "XDEL", "XRANGE", "XREVRANGE", "XREADGROUP", "XCLAIM", "XPENDING"),
        *("ZADD", "ZREM", "ZSCORE", "ZCARD", "ZRANGE", "ZRANGEBYSCORE", "ZREVRANGE", "ZREVRANGEBYSCORE"),
        *("HGET", "HMGET", "HGETALL", "HSET", "HDEL", "HINCRBY", "GET", "SET"),
    )
)
KEYLESS_COMMANDS: Final = (
    "WAIT",
    "WAITAOF",
    "INFO",
    "ASKING",
    "SCRIPT EXISTS",
    "SCRIPT LOAD",
)  # these go to the node of the command before them
NODE_LOST_ERRORS: Final = (ConnectionError, TimeoutError, ClusterDownError, SlotNotCoveredError)


class ClusterCommand:
    """A command and, in the end, its reply. redis-py looks for fields of these names."""

    __slots__ = ("args", "ask_node", "kwargs", "result", "slot")

    def __init__(self, args: tuple[Argument, ...], kwargs: dict[str, object]) -> None:
        self.args, self.kwargs = args, kwargs
        self.slot = None if args[0] in KEYLESS_COMMANDS else hash_slot(first_key(args))
        self.result: Reply = None
        self.ask_node = ""  # the node that may have the key while its slot moves


def first_key(args: tuple[Argument, ...]) -> Argument:
    """The first key of a command."""
    match args[0]:
        case "EVALSHA" | "EVAL":
            return args[3]
        case "XREADGROUP":
            return args[-2]  # of one stream: several may lie on several nodes
        case "MEMORY":
            return args[2]
        case _:
            return args[1]


def hash_slot(key: Argument) -> int:
    """The slot of a key: CRC-16 of its hash tag, modulo 16384."""
    return int(key_slot(key if isinstance(key, bytes) else str(key).encode()))


def group_by_node(
    commands: Iterable[ClusterCommand],
    node_by_slot: Callable[[int], Node],
    node_by_name: Callable[[str], Node | None],
) -> dict[Node, list[ClusterCommand]]:
    """The commands for each node, in the order in which they were given."""
    commands_by_node: dict[Node, list[ClusterCommand]] = {}
    node: Node | None = None
    for command in commands:
        if command.slot is not None:
            try:
                node = (node_by_name(command.ask_node) if command.ask_node else None) or node_by_slot(
                    command.slot
                )
            except (SlotNotCoveredError, KeyError):  # KeyError: redis-py's asyncio client
                node = None
        if node is None:
            command.result = NodeAwayError(f"no node has slot {command.slot}")
            continue
        share = commands_by_node.setdefault(node, [])
        if command.ask_node:
            share.append(ClusterCommand(("ASKING",), {}))
        share.append(command)
    return commands_by_node


def is_node_lost(commands: Iterable[ClusterCommand]) -> bool:
    """Whether a node didn't answer, so that the map of the slots may be out of date."""
    return any(isinstance(command.result, NODE_LOST_ERRORS) for command in commands)


def collect_replies(commands: Iterable[ClusterCommand], raise_on_error: bool) -> list[Reply]:
    """The reply to each command; an error is raised, or is the reply."""
    results = [command.result for command in commands]
    for reply in results if raise_on_error else ():
        if isinstance(reply, Exception):
            raise reply
    return results


def available_replies(replies: Sequence[Reply]) -> list[Reply]:
    """The replies of the nodes that are there, and () for those that are away: their partitions wait,
    the others go on. Raises any other error, and that of an engine that is no cluster."""
    lost = [reply for reply in replies if isinstance(reply, NODE_LOST_ERRORS)]
    is_all_lost = len(lost) == len(replies)
    for reply in replies:
        if isinstance(reply, Exception) and (
            not isinstance(reply, NODE_LOST_ERRORS) or (is_all_lost and not isinstance(reply, NodeAwayError))
        ):
            raise reply
    return [() if isinstance(reply, NODE_LOST_ERRORS) else reply for reply in replies]


def plan_next_round(commands: Iterable[ClusterCommand]) -> tuple[list[ClusterCommand], list[MovedError]]:
    """The commands to send again after a round, and the slots that have moved."""
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
