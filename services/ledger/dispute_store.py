"""Disputes as the engine keeps them: raised by the gateway or an operator, settled by the auditor.

They lie beside their game's own keys, in its partition, and outlive it: the archive has the game, this
has what was doubted in it, until the time that is set when a dispute is settled for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

import redis

from schemas.disputes import (
    FINAL_STATES,
    MAX_OPEN_PER_SEAT,
    MAX_PER_SEAT,
    MAX_WAITING_PER_PARTITION,
    STATE_LABELS,
    DisputeId,
    DisputeMove,
    pack_dispute,
    parse_dispute_id,
    unpack_answer,
    unpack_dispute,
)
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.field_types import Seat
from services.ledger import keys
from services.ledger.cluster_pipeline import available_replies
from services.ledger.partition_scan import PAGE_SIZE, PartitionScanner, read_lengths_and_scores
from services.ledger.scripts import RAISE_DISPUTE, SETTLE_DISPUTE, ScriptCall, run_script, try_script_async


class RaiseOutcome(StrEnum):
    """What became of raising a dispute. All but DIFFERS are as raise_dispute.lua returns them."""

    RAISED = "raised"
    EXISTS = "there"  # the same dispute is there already
    DIFFERS = "differs"  # another dispute has this id
    TOO_MANY_OPEN = "open"  # of this sender, without an answer
    TOO_MANY = "many"  # of this sender in the game
    BUSY = "busy"  # too many of the partition wait for an answer


class DisputeRecord(NamedTuple):
    """A dispute, and what has become of it."""

    name: DisputeId
    dispute: DisputeMove
    raised_at_ms: int  # milliseconds since 1970, by the engine's clock
    state: str  # of schemas.disputes; empty while nobody has looked
    answer: bytes  # as the auditor wrote it; empty while there is none

    @property
    def is_final(self) -> bool:
        return self.state in FINAL_STATES


def dispute_json(record: DisputeRecord) -> dict[str, Any]:
    """A dispute as a JSON object. Raises Corrupt: its answer can't be read."""
    name, dispute = record.name, record.dispute
    return {
        "dispute": name.id,
        "game": name.game,
        "seat": name.seat,
        "number": dispute.number,
        "reason": dispute.reason,
        "since": datetime.fromtimestamp(record.raised_at_ms / 1000, UTC).isoformat(timespec="seconds"),
        "state": STATE_LABELS.get(record.state, record.state),
        "final": record.is_final,
        "answer": unpack_answer(record.answer) if record.answer else None,
    }


class ProvisionalDispute(NamedTuple):
    """A dispute whose answer isn't the last word, and how its game stands in the engine."""

    id: str
    length: int  # of the game's log; 0 where it has left
    is_idle: bool  # nobody plays it (any more, or yet)


class DisputeStore:
    """See above. For the auditor and the command line; a gateway has `AsyncDisputes`."""

    def __init__(self, client: redis.Redis, partitions: int) -> None:
        self._client: Any = client  # redis-py types replies for both of its clients at once
        self.partitions = partitions
        self._unanswered_scanner = PartitionScanner(client, partitions, keys.unanswered_disputes)
        self._provisional_scanner = PartitionScanner(client, partitions, keys.provisional_disputes)

    def create(self, name: DisputeId, dispute: DisputeMove) -> RaiseOutcome:
        """Put a dispute down; nothing changes where it is there, or too many are."""
        [reply] = run_script(self._client, RAISE_DISPUTE, [_build_raise_call(name, dispute, self.partitions)])
        return _parse_raise_outcome(reply, dispute)

    def find(self, name: DisputeId) -> DisputeRecord | None:
        """Raises Corrupt: it can't be read."""
        return _parse_record(
            name, self._client.hmget(_record_key(name, self.partitions), *_field_names(name.digest))
        )

    def read_findings(self, name: DisputeId) -> bytes:
        """What an audit found of it, for the operator alone; empty for nothing."""
        findings_key = keys.dispute_findings(self._partition(name), name.game)
        return bytes(self._client.hget(findings_key, name.id) or b"")

    def list_all(self, limit: int = 1_000) -> list[DisputeRecord]:
        """At most so many of each partition. What can't be read is left out, and so is a partition that
        is away."""
        pipe = self._client.pipeline(transaction=False)
        for partition in range(self.partitions):
            pipe.zrevrange(keys.disputes(partition), 0, limit - 1)
        names = [
            _parse_name(id_)
            for ids in available_replies(pipe.execute(raise_on_error=False))
            for id_ in ids or ()
        ]
        return self._read_many([name for name in names if name is not None])

    def record_answer(
        self,
        name: DisputeId,
        state: str,
        answer: bytes = b"",
        findings: bytes = b"",
        evict_at_ms: int | None = None,
    ) -> bool:
        """Write down what became of it. False, and nothing, where more is known than this."""
        partition = self._partition(name)
        script_keys = [
            _record_key(name, self.partitions),
            keys.disputes(partition),
            keys.unanswered_disputes(partition),
            keys.provisional_disputes(partition),
            keys.dispute_findings(partition, name.game),
        ]
        arguments = [
            name.digest,
            name.id,
            state,
            answer,
            findings,
            "" if evict_at_ms is None else evict_at_ms,
        ]
        return bool(run_script(self._client, SETTLE_DISPUTE, [(script_keys, arguments)])[0])

    def next_unanswered(self) -> list[str]:
        """Some more that have no answer, about a page of each partition; asked again and again, it goes
        round all of them. A partition that is away is passed over."""
        return _next_ids(self._unanswered_scanner)

    def next_provisional(self) -> list[ProvisionalDispute]:
        """The same of those whose answer is to be completed."""
        ids = _next_ids(self._provisional_scanner)
        games = [parse_dispute_id(id_).game for id_ in ids]
        lengths = read_lengths_and_scores(self._client, self.partitions, games, keys.evictions)
        return [
            ProvisionalDispute(id_, length_and_score[0], length_and_score[1] is not None)
            for id_, length_and_score in zip(ids, lengths, strict=True)
            if length_and_score
        ]

    def evict(self, now_ms: int) -> int:
        """Forget those whose time is over; how many. Cut off anywhere, it goes on the next time."""
        pipe = self._client.pipeline(transaction=False)
        for partition in range(self.partitions):
            pipe.zrangebyscore(keys.disputes(partition), "-inf", now_ms, start=0, num=PAGE_SIZE)
        expired = [
            (partition, id_)
            for partition, ids in enumerate(available_replies(pipe.execute(raise_on_error=False)))
            for id_ in ids or ()
        ]
        for partition, id_ in expired:
            if (name := _parse_name(id_)) is not None:
                self._client.hdel(_record_key(name, self.partitions), *_field_names(name.digest))
                self._client.hdel(keys.dispute_findings(partition, name.game), id_)
            self._client.zrem(keys.disputes(partition), id_)  # last: until then it is found again
        return len(expired)

    def _read_many(self, names: Sequence[DisputeId]) -> list[DisputeRecord]:
        pipe = self._client.pipeline(transaction=False)
        for name in names:
            pipe.hmget(_record_key(name, self.partitions), *_field_names(name.digest))
        replies = pipe.execute(raise_on_error=False) if names else []
        return [
            record
            for name, reply in zip(names, replies, strict=True)
            if (record := _parse_record_if_valid(name, reply))
        ]

    def _partition(self, name: DisputeId) -> int:
        return keys.partition_of(name.game, self.partitions)


class AsyncDisputeStore:
    """What a gateway asks, without blocking its event loop. It reads what one speaker may know, and can't
    read what was found beside it."""

    def __init__(self, client: redis.asyncio.Redis, partitions: int) -> None:
        self._client: Any = client
        self.partitions = partitions

    async def create(self, name: DisputeId, dispute: DisputeMove) -> RaiseOutcome:
        """Put a dispute down; nothing changes where it is there, or too many are."""
        [reply] = await try_script_async(
            self._client, RAISE_DISPUTE, [_build_raise_call(name, dispute, self.partitions)]
        )
        if isinstance(reply, Exception):
            raise reply
        return _parse_raise_outcome(reply, dispute)

    async def find(self, name: DisputeId) -> DisputeRecord | None:
        """Raises Corrupt: it can't be read."""
        pipe = self._client.pipeline(transaction=False)
        pipe.hmget(_record_key(name, self.partitions), *_field_names(name.digest))
        [reply] = await pipe.execute()
        return _parse_record(name, reply)

    async def list_raised_by(self, game: str, seat: Seat | None) -> list[DisputeRecord]:
        """All that this speaker disputes in the game, the latest first. What can't be read is left out."""
        pipe = self._client.pipeline(transaction=False)
        pipe.hgetall(keys.sender_disputes(keys.partition_of(game, self.partitions), game, seat))
        [stored_fields] = await pipe.execute()
        marks = [field.decode() for field in stored_fields if b":" not in field]
        records = [
            _parse_record_if_valid(
                DisputeId(game, seat, mark),
                [stored_fields.get(field.encode()) for field in _field_names(mark)],
            )
            for mark in marks
        ]
        return sorted(
            (held for held in records if held), key=lambda held: (-held.raised_at_ms, held.name.digest)
        )


# -- how they are kept -------------------------------------------------------------------


def _record_key(name: DisputeId, partitions: int) -> str:
    return keys.sender_disputes(keys.partition_of(name.game, partitions), name.game, name.seat)


def _field_names(mark: str) -> tuple[str, ...]:
    return mark, f"{mark}:at", f"{mark}:state", f"{mark}:answer"


def _build_raise_call(name: DisputeId, dispute: DisputeMove, partitions: int) -> ScriptCall:
    partition = keys.partition_of(name.game, partitions)
    script_keys = [
        _record_key(name, partitions),
        keys.disputes(partition),
        keys.unanswered_disputes(partition),
    ]
    return script_keys, [
        name.digest,
        name.id,
        pack_dispute(dispute),
        MAX_OPEN_PER_SEAT,
        MAX_PER_SEAT,
        MAX_WAITING_PER_PARTITION,
    ]


def _parse_raise_outcome(reply: Sequence[bytes], dispute: DisputeMove) -> RaiseOutcome:
    outcome = RaiseOutcome(reply[0].decode())
    if outcome is RaiseOutcome.EXISTS and unpack_dispute(reply[1]) != dispute:
        return RaiseOutcome.DIFFERS
    return outcome


def _parse_record(name: DisputeId, values: Sequence[bytes | None]) -> DisputeRecord | None:
    dispute, raised_at, state, answer = values
    if dispute is None:
        return None
    if raised_at is None or not raised_at.isdigit():
        raise CorruptDataError(f"nobody knows when dispute {name.id} was raised")
    return DisputeRecord(
        name, unpack_dispute(dispute), int(raised_at), (state or b"").decode(), answer or b""
    )


def _parse_record_if_valid(name: DisputeId, reply: Any) -> DisputeRecord | None:
    try:
        return None if isinstance(reply, Exception) else _parse_record(name, reply)
    except CorruptDataError:
        return None


def _next_ids(scanner: PartitionScanner) -> list[str]:
    return [name.id for member in scanner.next_page() if (name := _parse_name(member)) is not None]


def _parse_name(id_: bytes | str) -> DisputeId | None:
    """None for what no dispute can be called: somebody else wrote it."""
    try:
        return parse_dispute_id(id_.decode(errors="replace") if isinstance(id_, bytes) else id_)
    except InvalidInputError:
        return None
