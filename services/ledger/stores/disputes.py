"""Disputes as the engine keeps them: raised by the gateway or an operator, settled by the auditor. See `queries`.

They lie beside their game's own keys, in its partition, and outlive it: the archive has the game, this
has what was doubted in it, until the eviction time that is set with the final answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

from schemas.contract import Json
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.field_types import Seat
from schemas.web.disputes import (
    FINAL_STATES,
    MAX_OPEN_PER_SEAT,
    MAX_PER_SEAT,
    MAX_WAITING_PER_PARTITION,
    STATE_LABELS,
    DisputeId,
    DisputeMove,
    DisputeState,
    pack_dispute,
    parse_dispute_id,
    unpack_answer,
    unpack_dispute,
)
from services.ledger.engine import keys
from services.ledger.engine.cluster_pipeline import available_replies
from services.ledger.engine.partitions import (
    PAGE_SIZE,
    MistypedKeyLog,
    PartitionScanner,
    read_lengths_and_scores,
)
from services.ledger.engine.queries import (
    Client,
    Query,
    QueryClient,
    RedisCommand,
    Reply,
    awaited,
    blocking,
    command,
    require_reply,
    run,
)
from services.ledger.scripts.lua_scripts import (
    RAISE_DISPUTE,
    SETTLE_DISPUTE,
    ScriptCall,
    call_script,
    run_script,
)


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
    state: str  # of schemas.web.disputes; empty while no auditor has looked
    answer: bytes  # as the auditor wrote it; empty while there is none

    @property
    def is_final(self) -> bool:
        return self.state in FINAL_STATES


def dispute_json(record: DisputeRecord) -> Json:
    """A dispute as a JSON object. Raises CorruptDataError: its answer can't be read."""
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


# -- queries -----------------------------------------------------------------------------


def raise_dispute(partitions: int, name: DisputeId, dispute: DisputeMove) -> Query[RaiseOutcome]:
    """Store a dispute; nothing changes unless the outcome is RAISED."""
    [reply] = yield from call_script(RAISE_DISPUTE, [_build_raise_call(partitions, name, dispute)])
    status, *stored = require_reply(reply)
    outcome = RaiseOutcome(status.decode())
    if outcome is RaiseOutcome.EXISTS and unpack_dispute(stored[0]) != dispute:
        return RaiseOutcome.DIFFERS
    return outcome


def find_dispute(partitions: int, name: DisputeId) -> Query[DisputeRecord | None]:
    """One dispute, if there is one of this name. Raises CorruptDataError."""
    [reply] = yield [_read_record(partitions, name)]
    return _parse_record(name, require_reply(reply))


def find_disputes(partitions: int, names: Sequence[DisputeId]) -> Query[list[DisputeRecord]]:
    """Those of these disputes that are there and can be read."""
    if not names:
        return []
    replies = yield [_read_record(partitions, name) for name in names]
    records = [_parse_record_if_valid(name, reply) for name, reply in zip(names, replies, strict=True)]
    return [record for record in records if record is not None]


def list_raised_by(partitions: int, game: str, seat: Seat, times_freed: int) -> Query[list[DisputeRecord]]:
    """All disputes of a seat's holder in a game, the latest first. What can't be read is left out."""
    [reply] = yield [command("HGETALL", record_key(partitions, DisputeId(game, seat, "", times_freed)))]
    stored_fields: dict[bytes, bytes] = require_reply(reply)
    digests = [field.decode() for field in stored_fields if b":" not in field]
    records = [
        _parse_record_if_valid(
            DisputeId(game, seat, digest, times_freed),
            [stored_fields.get(field.encode()) for field in field_names(digest)],
        )
        for digest in digests
    ]
    found = [record for record in records if record is not None]
    return sorted(found, key=lambda record: (-record.raised_at_ms, record.name.digest))


# -- how they are stored -----------------------------------------------------------------


def record_key(partitions: int, name: DisputeId) -> str:
    """The key of the hash that holds all disputes of this dispute's sender."""
    return keys.sender_disputes(keys.partition_of(name.game, partitions), name.game, name.sender)


def field_names(digest: str) -> tuple[str, str, str, str]:
    """The fields of one dispute in its sender's hash."""
    return digest, f"{digest}:at", f"{digest}:state", f"{digest}:answer"


def parse_name(id_: bytes | str) -> DisputeId | None:
    """None for what can't be a dispute's id: something else wrote it."""
    try:
        return parse_dispute_id(id_.decode(errors="replace") if isinstance(id_, bytes) else id_)
    except InvalidInputError:
        return None


def _read_record(partitions: int, name: DisputeId) -> RedisCommand:
    return command("HMGET", record_key(partitions, name), *field_names(name.digest))


def _build_raise_call(partitions: int, name: DisputeId, dispute: DisputeMove) -> ScriptCall:
    partition = keys.partition_of(name.game, partitions)
    script_keys = [
        record_key(partitions, name),
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


def _parse_record(name: DisputeId, values: Sequence[bytes | None]) -> DisputeRecord | None:
    dispute, raised_at, state, answer = values
    if dispute is None:
        return None
    if raised_at is None or not raised_at.isdigit():
        raise CorruptDataError(f"nobody knows when dispute {name.id} was raised")
    return DisputeRecord(
        name=name,
        dispute=unpack_dispute(dispute),
        raised_at_ms=int(raised_at),
        state=(state or b"").decode(),
        answer=answer or b"",
    )


def _parse_record_if_valid(name: DisputeId, reply: Reply) -> DisputeRecord | None:
    try:
        return None if isinstance(reply, Exception) else _parse_record(name, reply)
    except CorruptDataError:
        return None


class ProvisionalDispute(NamedTuple):
    """A dispute whose answer isn't final, and how its game stands in the engine."""

    id: str
    length: int  # of the game's log; 0 where it has left
    is_idle: bool  # nobody plays it (any more, or yet)


class DisputeStore(QueryClient):
    """For the auditor and the command line; a gateway has `AsyncDisputeStore`."""

    create = blocking(raise_dispute)
    find = blocking(find_dispute)

    def __init__(self, client: Client, partitions: int) -> None:
        super().__init__(client, partitions)
        self._unanswered_scanner = PartitionScanner(client, partitions, keys.unanswered_disputes)
        self._mistyped = MistypedKeyLog()
        self._provisional_scanner = PartitionScanner(client, partitions, keys.provisional_disputes)

    def read_findings(self, name: DisputeId) -> bytes:
        """What an audit found about it, for the operator alone; empty for nothing."""
        findings_key = keys.dispute_findings(self._partition(name), name.game)
        return bytes(self._client.hget(findings_key, name.id) or b"")

    def list_all(self, limit: int = 1_000) -> list[DisputeRecord]:
        """At most so many of each partition. What can't be read is left out, and so is a partition that
        is away."""
        pipe = self._client.pipeline(transaction=False)
        for partition in range(self.partitions):
            pipe.zrevrange(keys.disputes(partition), 0, limit - 1)
        names = [parse_name(id_) for ids in self._available(pipe) for id_ in ids or ()]
        valid_names = [name for name in names if name is not None]
        return run(self._client, find_disputes(self.partitions, valid_names))

    def record_answer(
        self,
        name: DisputeId,
        state: DisputeState,
        answer: bytes = b"",
        findings: bytes = b"",
        evict_at_ms: int | None = None,
    ) -> bool:
        """Write down what became of it. False, and nothing changes, where more is known than this."""
        partition = self._partition(name)
        script_keys = [
            record_key(self.partitions, name),
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
        """Some more that have no answer, about a page of each partition; called again and again, it goes
        round all of them. A partition that is away is skipped."""
        return _next_ids(self._unanswered_scanner)

    def next_provisional(self) -> list[ProvisionalDispute]:
        """The disputes whose answer is to be completed."""
        ids = _next_ids(self._provisional_scanner)
        games = [parse_dispute_id(id_).game for id_ in ids]
        lengths = read_lengths_and_scores(self._client, self.partitions, games, keys.evictions)
        return [
            ProvisionalDispute(id_, length_and_score[0], length_and_score[1] is not None)
            for id_, length_and_score in zip(ids, lengths, strict=True)
            if length_and_score
        ]

    def evict(self, now_ms: int) -> int:
        """Remove those whose eviction time has passed; how many. Cut off anywhere, it goes on next time."""
        pipe = self._client.pipeline(transaction=False)
        for partition in range(self.partitions):
            pipe.zrangebyscore(keys.disputes(partition), "-inf", now_ms, start=0, num=PAGE_SIZE)
        expired = [
            (partition, id_) for partition, ids in enumerate(self._available(pipe)) for id_ in ids or ()
        ]
        for partition, id_ in expired:
            if (name := parse_name(id_)) is not None:
                self._client.hdel(record_key(self.partitions, name), *field_names(name.digest))
                self._client.hdel(keys.dispute_findings(partition, name.game), id_)
            self._client.zrem(keys.disputes(partition), id_)  # last: until then it is found again
        return len(expired)

    def _available(self, pipe: Client) -> list[Reply]:
        """The replies of a pipeline about each partition's disputes, with () where there is none."""
        names = [keys.disputes(partition) for partition in range(self.partitions)]
        return available_replies(self._mistyped.leave_out(names, pipe.execute(raise_on_error=False)))

    def _partition(self, name: DisputeId) -> int:
        return keys.partition_of(name.game, self.partitions)


class AsyncDisputeStore(QueryClient):
    """For a gateway, without blocking its event loop. It reads what one sender may know, and can't read
    an audit's findings."""

    create = awaited(raise_dispute)
    find = awaited(find_dispute)
    list_raised_by = awaited(list_raised_by)


def _next_ids(scanner: PartitionScanner) -> list[str]:
    return [name.id for member in scanner.next_page() if (name := parse_name(member)) is not None]
