"""Random calls of every port of the ledger: commands and verdicts that repeat, come too late, were
decided on another log, or never come."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from schemas.commands import CommandEnvelope
from schemas.stored.rows import pack
from schemas.trains.commands import DrawBlind
from services.ledger import (
    AppendRequest,
    BotTask,
    Delivery,
    EvictAt,
    EvictionChange,
    RedisLedger,
    RejectedCommand,
)
from services.ledger.engine import keys
from services.ledger.ports import QueueFullError

NAMES: Final = ("one", "two")


class AnyLedgerCall:
    """One random call at a time, each on a random ledger."""

    def __init__(self, ledgers: list[RedisLedger], rng: Random) -> None:
        self.ledgers, self.rng = ledgers, rng
        self.deliveries: list[Delivery] = []
        self.games = ("game-a", "game-b", "game-c")
        self.everywhere = range(ledgers[0].partitions)
        self.outcomes: set[str] = set()

    def step(self) -> None:
        ledger: RedisLedger = self.rng.choice(self.ledgers)
        self.rng.choice(STEPS)(self, ledger)

    def envelope(self) -> CommandEnvelope:
        seat = self.rng.choice((0, 1, None))
        return CommandEnvelope(f"c{self.rng.randrange(40)}", self.rng.choice(self.games), seat, DrawBlind())

    def submit(self, ledger: RedisLedger) -> None:
        try:
            ledger.submit(self.envelope())
        except QueueFullError:
            self.outcomes.add("full")

    def take(self, ledger: RedisLedger) -> None:
        self.deliveries += ledger.commands.take(
            self.rng.choice(NAMES), self.everywhere, self.rng.randint(1, 3), 5
        )

    def reclaim(self, ledger: RedisLedger) -> None:
        idle_ms = self.rng.choice((0, 2, 10))
        self.deliveries += ledger.commands.reclaim(self.rng.choice(NAMES), self.everywhere, idle_ms)

    def delivery(self) -> Delivery:
        return self.rng.choice(self.deliveries[-6:]) if self.deliveries else Delivery(0, "", b"")

    def append(self, ledger: RedisLedger) -> None:
        game = self.rng.choice(self.games)
        length, head = ledger.head(game)
        batch = [
            self.verdict(game, length + ahead, b"" if ahead else head)
            for ahead in range(self.rng.randint(1, 3))
        ]
        self.outcomes |= {outcome.status for outcome in ledger.append(batch)}

    def verdict(self, game: str, length: int, head: bytes) -> AppendRequest:
        """A request that is valid, more often than not."""
        partition = keys.partition_of(game, len(self.everywhere))
        delivery = self.delivery()
        return AppendRequest(
            delivery=delivery if delivery.partition == partition else Delivery(partition, "", b""),
            game=game,
            expected_length=length + self.rng.choice((0, 0, 0, 0, -1, 1)),
            previous_head=self.rng.choice((head, head, b"another")),
            sender=self.rng.choice((0, 1, None)),
            command_id=f"c{self.rng.randrange(40)}",
            command_digest=f"d{self.rng.randrange(40)}",
            at_ms=self.rng.randrange(1000),
            secret=pack((f"c{self.rng.randrange(40)}", 0, (1,), {})),
            public=pack((1, self.rng.randrange(1000), ())),
            head=self.rng.randbytes(8),
            private_parts=[
                (seat, pack((1, 0, None, {0: (self.rng.randrange(9),)})))
                for seat in (0, 1)
                if self.rng.random() < 0.4
            ],
            tasks=[BotTask(game, seat, length + 1, "random") for seat in (0, 1) if self.rng.random() < 0.4],
            deadline_ms=self.rng.choice((None, 5, 7)),
            eviction=self.rng.choice((EvictionChange.KEEP, EvictionChange.CLEAR, EvictAt(7))),
        )

    def reject(self, ledger: RedisLedger) -> None:
        if self.deliveries:
            ledger.reject_without_entry(
                [RejectedCommand(self.delivery(), self.envelope(), "RATE-1", "enough")]
            )

    def move_to_dead_letters(self, ledger: RedisLedger) -> None:
        if self.deliveries:
            ledger.move_to_dead_letters(self.delivery(), self.rng.choice((None, self.envelope())), "broken")

    def retry_or_drop(self, ledger: RedisLedger) -> None:
        for dead in ledger.dead_letters().list_all()[:1]:
            self.rng.choice((ledger.dead_letters().retry, ledger.dead_letters().drop))(dead)

    def bot_tasks(self, ledger: RedisLedger) -> None:
        tasks = ledger.take_tasks(self.rng.choice(NAMES), 2, 0) or ledger.reclaim_tasks("three", 3)
        ledger.acknowledge_tasks(self.rng.sample(tasks, len(tasks) // 2))

    def deadlines(self, ledger: RedisLedger) -> None:
        ledger.set_deadline(self.rng.choice(self.games), self.rng.choice((None, 3, 6)))
        ledger.schedule_eviction(self.rng.choice(self.games), self.rng.choice((None, 3, 6)))
        ledger.due_deadlines(5, self.everywhere)
        ledger.evictable(5, self.everywhere)
        ledger.games()

    def evict(self, ledger: RedisLedger) -> None:
        if self.rng.random() < 0.3:
            game = self.rng.choice(self.games)
            ledger.evict(game, 2, len(ledger.read_entries(game)) - self.rng.choice((0, 1)))

    def read(self, ledger: RedisLedger) -> None:
        envelope = self.envelope()
        ledger.read_result(envelope.game, envelope.seat, envelope.id)
        ledger.read_entries(envelope.game, 2)

    def prune(self, ledger: RedisLedger) -> None:
        ledger.prune_consumers(self.everywhere, self.rng.choice((0, 1000)))

    def heartbeat(self, ledger: RedisLedger) -> None:
        name = self.rng.choice(NAMES)
        ledger.membership().heartbeat(name, self.rng.choice((None, 10, 20)), 5)
        if self.rng.random() < 0.2:
            ledger.membership().leave(name)


STEPS: Final[tuple[Callable[[AnyLedgerCall, RedisLedger], None], ...]] = (
    *[AnyLedgerCall.submit] * 4,
    *[AnyLedgerCall.take] * 2,
    *[AnyLedgerCall.append] * 6,
    *[AnyLedgerCall.bot_tasks] * 2,
    AnyLedgerCall.reclaim,
    AnyLedgerCall.reject,
    AnyLedgerCall.move_to_dead_letters,
    AnyLedgerCall.retry_or_drop,
    AnyLedgerCall.deadlines,
    AnyLedgerCall.evict,
    AnyLedgerCall.read,
    AnyLedgerCall.prune,
    AnyLedgerCall.heartbeat,
)
