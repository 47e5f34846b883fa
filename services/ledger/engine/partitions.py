"""Keys that every partition has one of: scanned a page at a time, and left out where they hold another type than ours.

Nothing of Ledgerline writes such a key; a person or another program did. It is logged once with its name, and
looked at again every `RECHECK_MS`, until somebody has mended it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from typing import Final

from redis.exceptions import ResponseError

from services.ledger.engine import keys
from services.ledger.engine.cluster_pipeline import available_replies
from services.ledger.engine.queries import Client, Reply
from services.runtime.logging_setup import get_logger

log = get_logger("ledger")
RECHECK_MS: Final = 5_000


def is_mistyped(reply: Reply) -> bool:
    """Whether a reply says that the key holds another type."""
    return isinstance(reply, ResponseError) and "WRONGTYPE" in str(reply)


class MistypedKeyLog:
    """Logs each such key once, and once when it has its type again."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def leave_out(self, names: Sequence[str], replies: Sequence[Reply]) -> list[Reply]:
        """The replies about keys of these names, with () for those that hold another type."""
        self.note(names, {name for name, reply in zip(names, replies, strict=True) if is_mistyped(reply)})
        return [() if is_mistyped(reply) else reply for reply in replies]

    def note(
        self,
        names: Iterable[str],
        found: Set[str],
        effect: str = "what depends on it waits until it is mended",
    ) -> None:
        """Of the keys of these names, those in `found` hold another type; `effect` says what comes of it."""
        for name in sorted(found - self.names):
            log.error(f"key holds another type: {effect}", key=name)
        for name in sorted(self.names.intersection(names) - found):
            log.info("key has its type again", key=name)
        self.names = (self.names - {*names}) | found


class UsablePartitions:
    """Which partitions have no such key of their own. `clock` counts milliseconds and never jumps."""

    def __init__(self, client: Client, clock: Callable[[], int]) -> None:
        self._client, self._clock = client, clock
        self.log = MistypedKeyLog()
        self.left_out: set[int] = set()  # nearly always none: what asks often looks here first
        self._next_check_ms = 0

    def among(self, partitions: Iterable[int]) -> list[int]:
        """Those of these partitions that can be used, as far as is known."""
        if self.left_out and self._clock() >= self._next_check_ms:
            self.probe(sorted(self.left_out))
        return [partition for partition in partitions if partition not in self.left_out]

    def probe(self, partitions: Sequence[int]) -> bool:
        """Look at the types of these partitions' own keys. Returns whether one of them is left out from now on,
        or still."""
        self._next_check_ms = self._clock() + RECHECK_MS
        pipe, names, owners = self._client.pipeline(transaction=False), [], []
        for partition in partitions:
            for name, probe in partition_probes(partition):
                pipe.execute_command(*probe)
                names.append(name)
                owners.append(partition)
        replies = pipe.execute(raise_on_error=False)
        self.log.leave_out(names, replies)
        found = {owner for owner, reply in zip(owners, replies, strict=True) if is_mistyped(reply)}
        self.left_out = (self.left_out - {*partitions}) | found
        return bool(found)

    def replies(self, partitions: Sequence[int], replies: Sequence[Reply]) -> list[Reply]:
        """One reply about each of these partitions, with () for those that can't be used, and those that are on a
        node that is away."""
        if any(is_mistyped(reply) for reply in replies):
            self.probe(partitions)
        return available_replies([() if is_mistyped(reply) else reply for reply in replies])


Probe = tuple[str, tuple[str, ...]]  # a key, and a command that fails where it holds another type
SHARED_PROBES: Final[tuple[Probe, ...]] = (  # of the keys that all services of a kind share
    *(
        (key, ("ZSCORE", key, ""))
        for key in (keys.MEMBERSHIP_KEY, keys.BOTS_KEY, keys.AUDITORS_KEY, keys.GATEWAYS_KEY)
    ),
    (keys.GAME_CLOCK_KEY, ("GET", keys.GAME_CLOCK_KEY)),
)


def partition_probes(partition: int) -> list[Probe]:
    """A command for each key of the partition's own that fails where it holds another type, and changes nothing.
    A service that may not send one of them doesn't use that key either."""
    streams = (
        (keys.commands(partition), keys.REFEREE_GROUP),
        (keys.bot_tasks(partition), keys.BOT_GROUP),
    )
    sorted_sets = keys.deadlines(partition), keys.evictions(partition)
    return [
        *((stream, ("XPENDING", stream, group)) for stream, group in streams),
        (keys.dead_letters(partition), ("XLEN", keys.dead_letters(partition))),
        *((sorted_set, ("ZSCORE", sorted_set, "")) for sorted_set in sorted_sets),
    ]


PAGE_SIZE: Final = 100


class PartitionScanner:
    """Goes round the members of such sets. A member that stays is found in every round."""

    def __init__(self, client: Client, partitions: int, key_of: Callable[[int], str]) -> None:
        self._client, self._set_keys = client, [key_of(partition) for partition in range(partitions)]
        self._cursors = [0] * partitions
        self._mistyped = MistypedKeyLog()

    def next_page(self) -> list[str]:
        """Some more members, about a page of each partition. A partition that is away is skipped, and so is a key
        of another type."""
        pipe = self._client.pipeline(transaction=False)
        for set_key, cursor in zip(self._set_keys, self._cursors, strict=True):
            pipe.zscan(set_key, cursor, count=PAGE_SIZE)
        members: list[str] = []
        replies = self._mistyped.leave_out(self._set_keys, pipe.execute(raise_on_error=False))
        for partition, reply in enumerate(available_replies(replies)):
            if reply:
                self._cursors[partition] = int(reply[0])
                members += [member.decode(errors="replace") for member, _ in reply[1]]
        return members


def read_lengths_and_scores(
    client: Client, partitions: int, games: Sequence[str], key_of: Callable[[int], str]
) -> list[tuple[int, float | None] | None]:
    """The length of each of these games' logs and its score in such a set; None where that isn't known now."""
    pipe = client.pipeline(transaction=False)
    for game in games:
        partition = keys.partition_of(game, partitions)
        pipe.execute_command("XLEN", keys.log(partition, game))
        pipe.zscore(key_of(partition), game)
    replies = iter(pipe.execute(raise_on_error=False) if games else ())
    return [
        None if isinstance(length, Exception) or isinstance(score, Exception) else (int(length), score)
        for _, length, score in zip(games, replies, replies, strict=True)
    ]
