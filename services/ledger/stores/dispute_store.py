"""Disputes: raised by the gateway or an operator, settled by the auditor. See `dispute_queries`."""

from __future__ import annotations

from typing import NamedTuple

import redis

from schemas.field_types import Seat
from schemas.web.disputes import DisputeId, DisputeMove, DisputeState, parse_dispute_id
from services.ledger.engine import keys
from services.ledger.engine.cluster_pipeline import available_replies
from services.ledger.engine.mistyped_keys import MistypedKeyLog
from services.ledger.engine.partition_scan import PAGE_SIZE, PartitionScanner, read_lengths_and_scores
from services.ledger.engine.queries import Client, Reply, run, run_async
from services.ledger.scripts.lua_scripts import SETTLE_DISPUTE, run_script
from services.ledger.stores import dispute_queries
from services.ledger.stores.dispute_queries import (
    DisputeRecord,
    RaiseOutcome,
    field_names,
    parse_name,
    record_key,
)


class ProvisionalDispute(NamedTuple):
    """A dispute whose answer isn't final, and how its game stands in the engine."""

    id: str
    length: int  # of the game's log; 0 where it has left
    is_idle: bool  # nobody plays it (any more, or yet)


class DisputeStore:
    """For the auditor and the command line; a gateway has `AsyncDisputeStore`."""

    def __init__(self, client: redis.Redis, partitions: int) -> None:
        self._client: Client = client
        self.partitions = partitions
        self._unanswered_scanner = PartitionScanner(client, partitions, keys.unanswered_disputes)
        self._mistyped = MistypedKeyLog()
        self._provisional_scanner = PartitionScanner(client, partitions, keys.provisional_disputes)

    def create(self, name: DisputeId, dispute: DisputeMove) -> RaiseOutcome:
        """Store a dispute; nothing changes unless the outcome is RAISED."""
        return run(self._client, dispute_queries.raise_dispute(self.partitions, name, dispute))

    def find(self, name: DisputeId) -> DisputeRecord | None:
        """One dispute, if there is one of this name. Raises CorruptDataError."""
        return run(self._client, dispute_queries.find_dispute(self.partitions, name))

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
        return run(self._client, dispute_queries.find_disputes(self.partitions, valid_names))

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


class AsyncDisputeStore:
    """For a gateway, without blocking its event loop. It reads what one sender may know, and can't read
    an audit's findings."""

    def __init__(self, client: redis.asyncio.Redis, partitions: int) -> None:
        self._client: Client = client
        self.partitions = partitions

    async def create(self, name: DisputeId, dispute: DisputeMove) -> RaiseOutcome:
        """Store a dispute; nothing changes unless the outcome is RAISED."""
        return await run_async(self._client, dispute_queries.raise_dispute(self.partitions, name, dispute))

    async def find(self, name: DisputeId) -> DisputeRecord | None:
        """One dispute, if there is one of this name. Raises CorruptDataError."""
        return await run_async(self._client, dispute_queries.find_dispute(self.partitions, name))

    async def list_raised_by(self, game: str, seat: Seat | None) -> list[DisputeRecord]:
        """All disputes of one sender in a game, the latest first. What can't be read is left out."""
        return await run_async(self._client, dispute_queries.list_raised_by(self.partitions, game, seat))


def _next_ids(scanner: PartitionScanner) -> list[str]:
    return [name.id for member in scanner.next_page() if (name := parse_name(member)) is not None]
