"""The bot tasks of slow policies: those that wait for a process, and those about which one thinks.

They stay pending in the engine until their commands are sent, so another worker goes on with them if this one dies.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from schemas.commands import Command
from schemas.field_types import Seat
from services.bots.policies import DEADLINE_BUDGETS, SLOW_POLICIES
from services.ledger import BotTask, DeliveredBotTask
from services.metrics import declared as metrics
from services.runtime.executors import Asker, FairTurns
from services.runtime.killable_processes import KillableProcesses
from services.runtime.logging_setup import get_logger

log = get_logger("bots")
SeatOfGame = tuple[str, Seat]
MAX_WAIT_S: Final = 10.0  # for a process; then the fallback answers: a seat's clock may run
LATE_S: Final = 2.0  # for a process, after which the table is told


class SlowTasks:
    """At most one task of each seat. Processes are shared by what creators, and then their tables, used of late."""

    def __init__(
        self, processes: KillableProcesses[SeatOfGame, Command], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.processes, self.clock = processes, clock
        self._held: dict[SeatOfGame, DeliveredBotTask] = {}
        self._waiting: dict[SeatOfGame, float] = {}  # since when, the longest first
        self._turns = FairTurns[SeatOfGame](clock)
        self._begun: dict[SeatOfGame, tuple[Asker, float]] = {}  # who is thought for, and since when
        self._choices: dict[SeatOfGame, Command | None] = {}  # of those that ended
        self._late: set[SeatOfGame] = set()  # of those that wait
        self._was_renewed = False

    def __len__(self) -> int:
        return len(self._held)

    def deliveries_to_renew(self) -> list[DeliveredBotTask] | None:
        """All that are held, and an empty list once after that; None if nothing is to be renewed."""
        was_renewed, self._was_renewed = self._was_renewed, bool(self._held)
        return list(self._held.values()) if self._held or was_renewed else None

    def hold(self, delivery: DeliveredBotTask, creator: str) -> bool:
        """Hold a task of a slow policy until it ends; False if its seat has another task already."""
        key = (delivery.task.game, delivery.task.seat)
        if key in self._held:
            return self._held[key].id == delivery.id
        self._held[key], self._waiting[key] = delivery, self.clock()
        self._turns.put((creator, delivery.task.game), key)
        return True

    def begin_waiting(self, prepare: Callable[[BotTask], Callable[[], Command] | None]) -> None:
        """Let free processes think about those whose turn it is. A task ends at once if `prepare` gives None."""
        free_count = self.processes.free_count(len(self._waiting))
        while free_count and (taken := self._turns.take()):
            asker, key = taken
            if self._waiting.pop(key, None) is None:
                continue  # it has waited for too long
            free_count -= 1
            task = self._held[key].task
            if thought := prepare(task):
                limit_s = SLOW_POLICIES[task.policy].budget_s * DEADLINE_BUDGETS
                self.processes.begin(key, thought, limit_s)
                self._begun[key] = asker, self.clock()
            else:
                self._choices[key] = None

    def take_ended(self) -> dict[DeliveredBotTask, Command | None]:
        """The tasks that ended since the last call, with the choices; None if the fallback is to answer."""
        for answer in self.processes.collect():
            if answer.failure:
                log.error("slow policy failed", **self._held[answer.key].task._asdict(), why=answer.failure)
            self._choices[answer.key] = answer.result
            asker, since_s = self._begun.pop(answer.key)
            metrics.THINKING_SECONDS.observe(self.clock() - since_s, self._held[answer.key].task.policy)
            self._turns.charge(asker, self.clock() - since_s)
        for key, since_s in list(self._waiting.items()):
            if self.clock() - since_s < MAX_WAIT_S:
                break
            log.warning("no process for a slow policy", **self._held[key].task._asdict())
            del self._waiting[key]
            self._choices[key] = None
        ended = {self._held.pop(key): command for key, command in self._choices.items()}
        self._choices.clear()
        return ended

    def take_late(self) -> set[str]:
        """The games with tasks that have begun to wait for too long since the last call."""
        late = {key for key, since_s in self._waiting.items() if self.clock() - since_s >= LATE_S}
        games = {game for game, _ in late - self._late}
        self._late = late
        return games
