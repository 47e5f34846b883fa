"""Dice that use the ledger: every call of its port, with letters and verdicts that repeat,
come too late, were decided on another log, or never come."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from schemas.commands import CommandEnvelope, DrawBlind
from services.ledger import (
    AppendRequest,
    BotTask,
    DeliveredCommand,
    EvictAt,
    EvictionChange,
    RedisLedger,
    keys,
)
from services.ledger.ports import QueueFullError

NAMES: Final = ("one", "two")


class AnyLetter:
    """One step of somebody's at a time, each on a ledger of its own."""

    def __init__(self, ledgers: list[RedisLedger], dice: Random) -> None:
        self.ledgers, self.dice = ledgers, dice
        self.hands: list[DeliveredCommand] = []
        self.games = ("game-a", "game-b", "game-c")
        self.everywhere = range(ledgers[0].partitions)
        self.outcomes: set[str] = set()

    def step(self) -> None:
        ledger: RedisLedger = self.dice.choice(self.ledgers)
        self.dice.choice(STEPS)(self, ledger)

    def letter(self) -> CommandEnvelope:
        seat = self.dice.choice((0, 1, None))
        return CommandEnvelope(f"c{self.dice.randrange(40)}", self.dice.choice(self.games), seat, DrawBlind())

    def submit(self, ledger: RedisLedger) -> None:
        try:
            ledger.submit(self.letter())
        except QueueFullError:
            self.outcomes.add("full")

    def take(self, ledger: RedisLedger) -> None:
        self.hands += ledger.take(self.dice.choice(NAMES), self.everywhere, self.dice.randint(1, 3), 5)

    def reclaim(self, ledger: RedisLedger) -> None:
        idle_ms = self.dice.choice((0, 2, 10))
        self.hands += ledger.reclaim(self.dice.choice(NAMES), self.everywhere, idle_ms)

    def hand(self) -> DeliveredCommand:
        return self.dice.choice(self.hands[-6:]) if self.hands else DeliveredCommand(0, "", b"")

    def append(self, ledger: RedisLedger) -> None:
        game = self.dice.choice(self.games)
        length, head = ledger.head(game)
        batch = [
            self.verdict(game, length + ahead, b"" if ahead else head)
            for ahead in range(self.dice.randint(1, 3))
        ]
        self.outcomes |= {outcome.status for outcome in ledger.append(batch)}

    def verdict(self, game: str, length: int, head: bytes) -> AppendRequest:
        """One that fits, more often than not."""
        partition = keys.partition_of(game, len(self.everywhere))
        hand = self.hand()
        return AppendRequest(
            delivery=hand if hand.partition == partition else DeliveredCommand(partition, "", b""),
            game=game,
            expected_length=length + self.dice.choice((0, 0, 0, 0, -1, 1)),
            previous_head=self.dice.choice((head, head, b"another")),
            sender=self.dice.choice((0, 1, None)),
            command_id=f"c{self.dice.randrange(40)}",
            at_ms=self.dice.randrange(1000),
            entry=self.dice.randbytes(9),
            public=self.dice.randbytes(9),
            head=self.dice.randbytes(8),
            private_parts=[(seat, self.dice.randbytes(5)) for seat in (0, 1) if self.dice.random() < 0.4],
            tasks=[BotTask(game, seat, length + 1, "random") for seat in (0, 1) if self.dice.random() < 0.4],
            deadline_ms=self.dice.choice((None, 5, 7)),
            eviction=self.dice.choice((EvictionChange.KEEP, EvictionChange.CLEAR, EvictAt(7))),
        )

    def dismiss(self, ledger: RedisLedger) -> None:
        if self.hands:
            ledger.reject_without_entry(self.hand(), self.letter(), "RATE-1", "enough")

    def bury(self, ledger: RedisLedger) -> None:
        if self.hands:
            ledger.move_to_dead_letters(self.hand(), self.dice.choice((None, self.letter())), "broken")

    def dead_letter(self, ledger: RedisLedger) -> None:
        for dead in ledger.dead_letters().list_all()[:1]:
            self.dice.choice((ledger.dead_letters().retry, ledger.dead_letters().drop))(dead)

    def turns(self, ledger: RedisLedger) -> None:
        turns = ledger.take_tasks(self.dice.choice(NAMES), 2, 0) or ledger.reclaim_tasks("three", 3)
        ledger.acknowledge_tasks(self.dice.sample(turns, len(turns) // 2))

    def deadlines(self, ledger: RedisLedger) -> None:
        ledger.set_deadline(self.dice.choice(self.games), self.dice.choice((None, 3, 6)))
        ledger.schedule_eviction(self.dice.choice(self.games), self.dice.choice((None, 3, 6)))
        ledger.due_deadlines(5, self.everywhere)
        ledger.evictable(5, self.everywhere)
        ledger.games()

    def retire(self, ledger: RedisLedger) -> None:
        if self.dice.random() < 0.3:
            game = self.dice.choice(self.games)
            ledger.evict(game, 2, len(ledger.read_entries(game)) - self.dice.choice((0, 1)))

    def look(self, ledger: RedisLedger) -> None:
        letter = self.letter()
        ledger.read_result(letter.game, letter.seat, letter.id)
        ledger.read_entries(letter.game, 2)

    def sweep(self, ledger: RedisLedger) -> None:
        ledger.prune_consumers(self.everywhere, self.dice.choice((0, 1000)))

    def attend(self, ledger: RedisLedger) -> None:
        name = self.dice.choice(NAMES)
        ledger.membership().heartbeat(name, self.dice.choice((None, 10, 20)), 5)
        if self.dice.random() < 0.2:
            ledger.membership().leave(name)


STEPS: Final[tuple[Callable[[AnyLetter, RedisLedger], None], ...]] = (
    *[AnyLetter.submit] * 4,
    *[AnyLetter.take] * 2,
    *[AnyLetter.append] * 6,
    *[AnyLetter.turns] * 2,
    AnyLetter.reclaim,
    AnyLetter.dismiss,
    AnyLetter.bury,
    AnyLetter.dead_letter,
    AnyLetter.deadlines,
    AnyLetter.retire,
    AnyLetter.look,
    AnyLetter.sweep,
    AnyLetter.attend,
)
