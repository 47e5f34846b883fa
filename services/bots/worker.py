"""The worker of the bots: take bot tasks, refresh the seats' projections, choose commands, send them.

The views of all tasks taken are read in one round trip, and the commands are sent in another. Slow policies think in
processes of their own, if there are any; the worker goes on meanwhile.

A bot task names a seat that has to act, and the entry after which. The command's id contains that sequence number, so a
task that is delivered twice, to any worker, makes one move.

A task whose command isn't accepted now, or whose game can't be read now, is requeued and delays no other. All tasks wait
only if the engine can't be reached.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from time import perf_counter
from typing import Final, Protocol

from schemas.commands import Command, CommandEnvelope
from schemas.errors import CorruptDataError, MissingGameError
from schemas.field_types import Seat
from services.bots.policies import POLICIES, SLOW_POLICIES
from services.bots.seat_projection import (
    LOST_END_ERRORS,
    VIEW_ERRORS,
    HeldProjections,
    SeatProjection,
    ViewPageReader,
)
from services.bots.seat_random import SeatRandom, think
from services.bots.slow_tasks import SlowTasks
from services.ledger import BotTask, BotTaskQueue, CommandBatchSubmitter, DeliveredBotTask
from services.ledger.ports import NodeAwayError
from services.metrics import declared as metrics
from services.referee.games import legal
from services.referee.games.proof.public_verifier import VerificationFailedError
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import CONNECTION_ERRORS, ENGINE_COMMAND_ERROR, PROGRAMMING_ERRORS

log = get_logger("bots")
RECLAIM_IDLE_MS: Final = 2_000
MAX_RECLAIM_S: Final = 0.5  # how long new tasks wait for reclaimed ones, of either kind
THINKING_BLOCK_MS: Final = 10  # how long an answer waits for the worker, which waits for tasks
MAX_CHOOSING_S: Final = 0.01  # how long a command that was chosen waits for others to be sent with it
MAX_DELIVERIES: Final = 20  # a task that was delivered more often seems to crash its workers
# A task's command, its error where the task must wait, or None where there is nothing to do.
Choice = CommandEnvelope | Exception | None


class BotLedger(BotTaskQueue, ViewPageReader, Protocol):
    """The bots' part of the ledger."""

    def read_creators(self, games: Sequence[str]) -> list[str]:
        """Who created each of these games; an empty word for all that aren't known."""
        ...

    def record_late_bots(self, games: Collection[str]) -> None:
        """Record for a minute that bots of these games wait for time to think."""
        ...


class BotWorker:
    """A worker for all bots. Without `slow_tasks`, slow policies think in its own process. `clock` is monotonic, in seconds."""

    def __init__(
        self,
        ledger: BotLedger,
        commands: CommandBatchSubmitter,
        name: str,
        batch: int = 64,
        clock: Callable[[], float] = time.monotonic,
        slow_tasks: SlowTasks | None = None,
    ) -> None:
        self.ledger, self.commands, self.name, self.batch = ledger, commands, name, batch
        self.clock, self.slow_tasks = clock, slow_tasks
        self._slow_choices: dict[tuple[str, Seat], Command | None] = {}  # of the tasks in process
        self.projections = HeldProjections(clock)
        self._missing: set[str] = set()  # the games that aren't installed here, each logged once

    def step(self, block_ms: int = 500) -> int:
        """Process the next tasks; returns how many were delivered. Waits for one at most `block_ms`."""
        if self.slow_tasks:
            self._go_on_with(self.slow_tasks)
            block_ms = min(block_ms, THINKING_BLOCK_MS)
        deliveries = self.ledger.take_tasks(self.name, self.batch, block_ms)
        self._process_tasks(deliveries)
        return len(deliveries)

    def renew_slow_tasks(self) -> None:
        """Show other workers that this one has these tasks, and tables that theirs wait. To be called more often than every
        RECLAIM_IDLE_MS."""
        if self.slow_tasks is None:
            return
        if (deliveries := self.slow_tasks.deliveries_to_renew()) is not None:
            self.ledger.renew_tasks(self.name, deliveries)
        if late := self.slow_tasks.take_late():
            self.ledger.record_late_bots(late)

    def reclaim(self, idle_ms: int = RECLAIM_IDLE_MS) -> int:
        """Process tasks that another worker took and left pending for `idle_ms`; returns how many are finished.

        Takes little more than MAX_RECLAIM_S of each kind. A task with more than MAX_DELIVERIES is dropped."""
        return self._reclaim_batches(idle_ms) + self._reclaim_redelivered(idle_ms)

    def _reclaim_batches(self, idle_ms: int) -> int:
        deadline, count = self.clock() + MAX_RECLAIM_S, 0
        while finished := self._process_tasks(self.ledger.reclaim_tasks(self.name, idle_ms)):
            count += finished
            if self.clock() > deadline:
                break
        return count

    def _reclaim_redelivered(self, idle_ms: int) -> int:
        """Process redelivered tasks one at a time: if one crashes this worker, only its delivery is counted."""
        deadline, count = self.clock() + MAX_RECLAIM_S, 0
        for delivery in self.ledger.redelivered_tasks(self.name, idle_ms):
            if delivery.delivery_count > MAX_DELIVERIES:
                log.error("bot task dropped", **delivery.task._asdict(), deliveries=delivery.delivery_count)
                metrics.BOT_TASKS.add("dropped")
                self.ledger.acknowledge_tasks([delivery])
            else:
                count += self._process_tasks([delivery])
            if self.clock() > deadline:
                break
        return count

    def forget_finished(self) -> int:
        """Drop the projections of games that are over or gone: nobody sends a task for those."""
        return self.projections.forget_finished(self.ledger)

    def _process_tasks(self, deliveries: Sequence[DeliveredBotTask]) -> int:
        """Answer these tasks, and hold those of slow policies; returns how many are finished."""
        if self.slow_tasks is None:
            return self._answer_tasks(deliveries)
        slow = [delivery for delivery in deliveries if delivery.task.policy in SLOW_POLICIES]
        creators = self.ledger.read_creators([delivery.task.game for delivery in slow]) if slow else []
        repeated = [
            delivery
            for delivery, creator in zip(slow, creators, strict=True)
            if not self.slow_tasks.hold(delivery, creator)
        ]
        if repeated:
            self.ledger.acknowledge_tasks(repeated)
        quick = [delivery for delivery in deliveries if delivery.task.policy not in SLOW_POLICIES]
        return len(repeated) + self._answer_tasks(quick)

    def _go_on_with(self, slow_tasks: SlowTasks) -> None:
        """Answer tasks that were thought about, and begin those that wait."""
        if ended := slow_tasks.take_ended():
            self._slow_choices = {(each.task.game, each.task.seat): choice for each, choice in ended.items()}
            self._answer_tasks([*ended])
        slow_tasks.begin_waiting(self._prepare_thought)

    def _prepare_thought(self, task: BotTask) -> Callable[[], Command] | None:
        """A slow policy's thought; None if nothing is to be chosen, or the view can't be read: answering says why."""
        try:
            projection, commands = self._legal_commands(task)
        except (*CONNECTION_ERRORS, *VIEW_ERRORS):
            return None
        if len(commands) < 2:
            return None
        return partial(
            think, POLICIES[task.policy], projection.state, task.seat, commands, projection.random_source
        )

    def _answer_tasks(self, deliveries: Sequence[DeliveredBotTask]) -> int:
        """Answer these tasks, and requeue those that must wait; returns how many are finished. Raises the connection's error if it
        kept all of them from being finished."""
        finished: list[DeliveredBotTask] = []
        requeued: list[DeliveredBotTask] = []
        remaining, errors = deque(deliveries), list[Exception]()
        try:
            seats = [(delivery.task.game, delivery.task.seat) for delivery in deliveries]
            self.projections.read_pages(self.ledger, seats)
            while remaining:
                for error in self._choose_and_send(remaining):
                    (finished if error is None else requeued).append(remaining.popleft())
                    errors.extend([error] if error else ())
        except CONNECTION_ERRORS:
            requeued.extend(remaining)
            raise
        finally:  # what was sent before the engine went away isn't sent again
            self.projections.forget_pages()
            metrics.BOT_TASKS.add("finished", count=len(finished))
            metrics.BOT_TASKS.add("waits", count=len(requeued))
            if finished:
                self.ledger.acknowledge_tasks(finished)
            if requeued:
                self.ledger.requeue_tasks(requeued)
        if errors and not finished and all(map(_is_connection_lost, errors)):
            raise errors[0]
        if waiting := [error for error in errors if not isinstance(error, MissingGameError)]:
            log.warning("bot tasks wait", count=len(waiting), why=str(waiting[-1]) or "not now")
        return len(finished)

    def _choose_and_send(self, deliveries: Iterable[DeliveredBotTask]) -> list[Exception | None]:
        """Choose for the first tasks, for about MAX_CHOOSING_S, and send the commands together. Returns for each the error for which
        it must wait, or None."""
        choices, deadline = list[Choice](), self.clock() + MAX_CHOOSING_S
        for delivery in deliveries:
            choices.append(self._choose_envelope(delivery.task))
            if self.clock() > deadline:
                break
        envelopes = [choice for choice in choices if isinstance(choice, CommandEnvelope)]
        errors = iter(self.commands.submit_all(envelopes) if envelopes else ())
        return [next(errors) if isinstance(choice, CommandEnvelope) else choice for choice in choices]

    def _choose_envelope(self, task: BotTask) -> Choice:
        try:
            command = self._choose_or_fall_back(task)
        except CONNECTION_ERRORS as error:
            return error
        except MissingGameError as error:  # a worker that has the game takes the task
            self.projections.drop(task.game)
            if str(error) not in self._missing:
                self._missing.add(str(error))
                log.error("bot tasks wait for a worker with their game", **task._asdict(), why=str(error))
            return error
        if command is None:
            return None
        return CommandEnvelope(f"bot:{task.sequence}", task.game, task.seat, command)

    def _choose_or_fall_back(self, task: BotTask) -> Command | None:
        """The policy's choice. If it fails twice, the first legal command; None if that can't be found. Raises
        MissingGameError."""
        for choose in (self.choose_command, self.choose_command, self.first_legal_command):
            try:
                return choose(task)
            except LOST_END_ERRORS as error:  # a fail-over lost the end of the log
                log.warning("bot view reset", **task._asdict(), why=str(error))
            except VerificationFailedError as error:  # a bot doesn't act on a forged view
                fields = {**task._asdict(), "entry": error.sequence, "why": error.reason}
                log.error("THE SERVER IS NOT TO BE BELIEVED", **fields)
            except MissingGameError:
                raise
            except CorruptDataError as error:  # a damaged view
                log.error("bot can't choose", **task._asdict(), error=str(error))
            except PROGRAMMING_ERRORS:  # a bug of the policy; an unreachable engine raises others
                log.exception("bot can't choose", **task._asdict())
            self.projections.drop(task.game)
        log.error("bot task dropped", **task._asdict())
        return None

    def choose_command(self, task: BotTask) -> Command | None:
        """The choice of the seat's policy now; None if the task is outdated and the seat hasn't to act."""
        projection, commands = self._legal_commands(task)
        if not commands:
            return None
        policy = task.policy
        if self.slow_tasks is not None and policy in SLOW_POLICIES:
            choice = self._slow_choices.get((task.game, task.seat))
            if choice in commands:  # the game may have gone on meanwhile
                return choice
            fallback = SLOW_POLICIES[policy].fallback
            policy = fallback if fallback in projection.state.ruleset.bot_policies else "random"
        seat_random, began_s = SeatRandom(*projection.random_source), perf_counter()
        chosen = POLICIES[policy](projection.state, task.seat, commands, seat_random)
        metrics.THINKING_SECONDS.observe(perf_counter() - began_s, policy)
        return chosen

    def first_legal_command(self, task: BotTask) -> Command | None:
        """The first legal command, whatever the policy."""
        _, commands = self._legal_commands(task)
        return commands[0] if commands else None

    def _legal_commands(self, task: BotTask) -> tuple[SeatProjection, list[Command]]:
        """The seat's projection as of now, and its legal commands."""
        projection = self.projections.refreshed(self.ledger, task.game, task.seat)
        return projection, legal(projection.state, task.seat)


def _is_connection_lost(error: Exception) -> bool:
    """Whether the engine gave no answer, so that trying at once is of no use."""
    is_lost = isinstance(error, CONNECTION_ERRORS) and not isinstance(error, ENGINE_COMMAND_ERROR)
    return is_lost and not isinstance(error, NodeAwayError)  # the tasks of other nodes don't wait for it
