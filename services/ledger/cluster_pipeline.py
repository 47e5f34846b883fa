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

PAUSES_S: Final = (0.0, 0.0, 0.01, 0.02, 0.04)  # before each round after the first
KEYLESS: Final = ("WAIT", "WAITAOF", "ASKING")  # these go with a command beside them
LOST: Final = (ConnectionError, TimeoutError, ClusterDownError, SlotNotCoveredError)


class Call:
    """A command and, in the end, its reply. Its fields have the names that redis-py looks for."""

    __slots__ = ("args", "asked", "kwargs", "result", "slot")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args, self.kwargs = args, kwargs
        self.slot = None if args[0] in KEYLESS else slot_of(key_of(args))
        self.result: Any = None
        self.asked = ""  # the node that may have the key while its slot moves


def key_of(args: tuple[Any, ...]) -> Any:
    """The first key of a command."""
    match args[0]:
        case "EVALSHA" | "EVAL":
            return args[3]
        case "XREADGROUP":
            return args[-2]  # of one stream: several may lie on several nodes
        case _:
            return args[1]


def slot_of(key: Any) -> int:
    return int(key_slot(key if isinstance(key, bytes) else str(key).encode()))


def shares(
    calls: Iterable[Call], node_of: Callable[[int], Any], named: Callable[[str], Any]
) -> dict[Any, list[Call]]:
    """What each node is sent, in the order in which it was given."""
    found: dict[Any, list[Call]] = {}
    node = None
    for call in calls:
        if call.slot is not None:
            try:
                node = (named(call.asked) if call.asked else None) or node_of(call.slot)
            except (SlotNotCoveredError, KeyError):  # KeyError: redis-py's asyncio client
                node = None
        if node is None:
            call.result = SlotNotCoveredError(f"no node has slot {call.slot}")
            continue
        share = found.setdefault(node, [])
        if call.asked:
            share.append(Call(("ASKING",), {}))
        share.append(call)
    return found


def node_away(calls: Iterable[Call]) -> bool:
    """Whether a node didn't answer, so that the map of the slots may be out of date."""
    return any(isinstance(call.result, LOST) for call in calls)


def replies(calls: Iterable[Call], raise_on_error: bool) -> list[Any]:
    """What each command was answered; an error is raised, or is the answer."""
    found = [call.result for call in calls]
    for reply in found if raise_on_error else ():
        if isinstance(reply, Exception):
            raise reply
    return found


def present(found: Sequence[Any]) -> list[Any]:
    """What the nodes that are there replied, and nothing for those that are away: their part
    waits, the others go on. Raises what went wrong otherwise, and when all are away."""
    away = [reply for reply in found if isinstance(reply, LOST)]
    for reply in found:
        if isinstance(reply, Exception) and (not isinstance(reply, LOST) or len(away) == len(found)):
            raise reply
    return [() if isinstance(reply, LOST) else reply for reply in found]


def settle(calls: Iterable[Call]) -> tuple[list[Call], list[MovedError]]:
    """What must be sent again after a round, and the slots that turned out to be elsewhere."""
    again: list[Call] = []
    moved: dict[int, MovedError] = {}
    sent_back = False
    for call in calls:
        if call.slot is not None:
            sent_back = isinstance(call.result, (MovedError, AskError, TryAgainError))
        if not sent_back:
            continue
        error, call.asked = call.result, ""
        if isinstance(error, MovedError):  # first, as redis-py makes it a kind of AskError
            moved[error.slot_id] = error
        elif isinstance(error, AskError):
            call.asked = f"{error.host}:{error.port}"
        again.append(call)
    return again, list(moved.values())
