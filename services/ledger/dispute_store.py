"""Disputes as the engine keeps them: raised by the gateway or an operator, settled by the auditor.

They lie beside their game's own keys, in its partition, and outlive it: the archive has the game, this
has what was doubted in it, until the time that is set when a dispute is settled for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import redis

from schemas.codec import Corrupt
from schemas.contract import Malformed
from schemas.disputes import (
    FINAL,
    MOST,
    OPEN_MOST,
    PLAINLY,
    WAITING_MOST,
    DisputeMove,
    Name,
    pack_dispute,
    read_name,
    unpack_answer,
    unpack_dispute,
)
from schemas.field_types import Seat
from services.ledger import keys
from services.ledger.cluster_pipeline import present
from services.ledger.partition_scan import PAGE, Circuit, lengths_and_scores
from services.ledger.scripts import DISPUTE, SETTLE, Call, attempt_async, run

Came = Literal["raised", "there", "differs", "open", "many", "busy"]


class Held(NamedTuple):
    """A dispute, and what has become of it."""

    name: Name
    dispute: DisputeMove
    at: int  # milliseconds since 1970, by the engine's clock
    state: str  # of schemas.disputes; empty while nobody has looked
    answer: bytes  # as the auditor wrote it; empty while there is none

    @property
    def final(self) -> bool:
        return self.state in FINAL


def document(held: Held) -> dict[str, Any]:
    """A dispute as a JSON object. Raises Corrupt: its answer can't be read."""
    name, dispute = held.name, held.dispute
    return {
        "dispute": name.id,
        "game": name.game,
        "seat": name.seat,
        "number": dispute.number,
        "reason": dispute.reason,
        "since": datetime.fromtimestamp(held.at / 1000, UTC).isoformat(timespec="seconds"),
        "state": PLAINLY.get(held.state, held.state),
        "final": held.final,
        "answer": unpack_answer(held.answer) if held.answer else None,
    }


class Told(NamedTuple):
    """A dispute whose answer isn't the last word, and how its game stands in the engine."""

    id: str
    length: int  # of the game's log; 0 where it has left
    idle: bool  # nobody plays it (any more, or yet)


class Disputes:
    """See above. For the auditor and the command line; a gateway has `AsyncDisputes`."""

    def __init__(self, client: redis.Redis, partitions: int) -> None:
        self._client: Any = client  # redis-py types replies for both of its clients at once
        self.partitions = partitions
        self._waiting = Circuit(client, partitions, keys.disputes_waiting)
        self._told = Circuit(client, partitions, keys.disputes_told)

    def raise_(self, name: Name, dispute: DisputeMove) -> Came:
        """Put a dispute down; nothing changes where it is there, or too many are."""
        [reply] = run(self._client, DISPUTE, [_raise_call(name, dispute, self.partitions)])
        return _came(reply, dispute)

    def one(self, name: Name) -> Held | None:
        """Raises Corrupt: it can't be read."""
        return _held(name, self._client.hmget(_place(name, self.partitions), *_fields(name.mark)))

    def found(self, name: Name) -> bytes:
        """What an audit found of it, for the operator alone; empty for nothing."""
        kept = keys.disputes_found(self._partition(name), name.game)
        return bytes(self._client.hget(kept, name.id) or b"")

    def all(self, most: int = 1_000) -> list[Held]:
        """At most so many of each partition. What can't be read is left out, and so is a partition that
        is away."""
        pipe = self._client.pipeline(transaction=False)
        for partition in range(self.partitions):
            pipe.zrevrange(keys.disputes(partition), 0, most - 1)
        names = [_named(id_) for ids in present(pipe.execute(raise_on_error=False)) for id_ in ids or ()]
        return self._many([name for name in names if name is not None])

    def settle(
        self, name: Name, state: str, answer: bytes = b"", found: bytes = b"", leaves: int | None = None
    ) -> bool:
        """Write down what became of it. False, and nothing, where more is known than this."""
        partition = self._partition(name)
        called = [
            _place(name, self.partitions),
            keys.disputes(partition),
            keys.disputes_waiting(partition),
            keys.disputes_told(partition),
            keys.disputes_found(partition, name.game),
        ]
        told = [name.mark, name.id, state, answer, found, "" if leaves is None else leaves]
        return bool(run(self._client, SETTLE, [(called, told)])[0])

    def waiting(self) -> list[str]:
        """Some more that have no answer, about a page of each partition; asked again and again, it goes
        round all of them. A partition that is away is passed over."""
        return _ids(self._waiting)

    def told(self) -> list[Told]:
        """The same of those whose answer is to be completed."""
        ids = _ids(self._told)
        games = [read_name(id_).game for id_ in ids]
        found = lengths_and_scores(self._client, self.partitions, games, keys.over)
        return [Told(id_, of[0], of[1] is not None) for id_, of in zip(ids, found, strict=True) if of]

    def leave(self, now: int) -> int:
        """Forget those whose time is over; how many. Cut off anywhere, it goes on the next time."""
        pipe = self._client.pipeline(transaction=False)
        for partition in range(self.partitions):
            pipe.zrangebyscore(keys.disputes(partition), "-inf", now, start=0, num=PAGE)
        found = [
            (partition, id_)
            for partition, ids in enumerate(present(pipe.execute(raise_on_error=False)))
            for id_ in ids or ()
        ]
        for partition, id_ in found:
            if (name := _named(id_)) is not None:
                self._client.hdel(_place(name, self.partitions), *_fields(name.mark))
                self._client.hdel(keys.disputes_found(partition, name.game), id_)
            self._client.zrem(keys.disputes(partition), id_)  # last: until then it is found again
        return len(found)

    def _many(self, names: Sequence[Name]) -> list[Held]:
        pipe = self._client.pipeline(transaction=False)
        for name in names:
            pipe.hmget(_place(name, self.partitions), *_fields(name.mark))
        replies = pipe.execute(raise_on_error=False) if names else []
        return [held for name, reply in zip(names, replies, strict=True) if (held := _readable(name, reply))]

    def _partition(self, name: Name) -> int:
        return keys.partition_of(name.game, self.partitions)


class AsyncDisputes:
    """What a gateway asks, without blocking its event loop. It reads what one speaker may know, and can't
    read what was found beside it."""

    def __init__(self, client: redis.asyncio.Redis, partitions: int) -> None:
        self._client: Any = client
        self.partitions = partitions

    async def raise_(self, name: Name, dispute: DisputeMove) -> Came:
        """Put a dispute down; nothing changes where it is there, or too many are."""
        [reply] = await attempt_async(self._client, DISPUTE, [_raise_call(name, dispute, self.partitions)])
        if isinstance(reply, Exception):
            raise reply
        return _came(reply, dispute)

    async def one(self, name: Name) -> Held | None:
        """Raises Corrupt: it can't be read."""
        pipe = self._client.pipeline(transaction=False)
        pipe.hmget(_place(name, self.partitions), *_fields(name.mark))
        [reply] = await pipe.execute()
        return _held(name, reply)

    async def of(self, game: str, seat: Seat | None) -> list[Held]:
        """All that this speaker disputes in the game, the latest first. What can't be read is left out."""
        pipe = self._client.pipeline(transaction=False)
        pipe.hgetall(keys.disputes_of(keys.partition_of(game, self.partitions), game, seat))
        [kept] = await pipe.execute()
        marks = [field.decode() for field in kept if b":" not in field]
        found = [
            _readable(Name(game, seat, mark), [kept.get(field.encode()) for field in _fields(mark)])
            for mark in marks
        ]
        return sorted((held for held in found if held), key=lambda held: (-held.at, held.name.mark))


# -- how they are kept -------------------------------------------------------------------


def _place(name: Name, partitions: int) -> str:
    return keys.disputes_of(keys.partition_of(name.game, partitions), name.game, name.seat)


def _fields(mark: str) -> tuple[str, ...]:
    return mark, f"{mark}:at", f"{mark}:state", f"{mark}:answer"


def _raise_call(name: Name, dispute: DisputeMove, partitions: int) -> Call:
    partition = keys.partition_of(name.game, partitions)
    called = [_place(name, partitions), keys.disputes(partition), keys.disputes_waiting(partition)]
    return called, [name.mark, name.id, pack_dispute(dispute), OPEN_MOST, MOST, WAITING_MOST]


def _came(reply: Sequence[bytes], dispute: DisputeMove) -> Came:
    came: Any = reply[0].decode()
    if came == "there" and unpack_dispute(reply[1]) != dispute:
        return "differs"
    said: Came = came
    return said


def _held(name: Name, values: Sequence[bytes | None]) -> Held | None:
    dispute, at, state, answer = values
    if dispute is None:
        return None
    if at is None or not at.isdigit():
        raise Corrupt(f"nobody knows when dispute {name.id} was raised")
    return Held(name, unpack_dispute(dispute), int(at), (state or b"").decode(), answer or b"")


def _readable(name: Name, reply: Any) -> Held | None:
    try:
        return None if isinstance(reply, Exception) else _held(name, reply)
    except Corrupt:
        return None


def _ids(circuit: Circuit) -> list[str]:
    return [name.id for member in circuit.more() if (name := _named(member)) is not None]


def _named(id_: bytes | str) -> Name | None:
    """None for what no dispute can be called: somebody else wrote it."""
    try:
        return read_name(id_.decode(errors="replace") if isinstance(id_, bytes) else id_)
    except Malformed:
        return None
