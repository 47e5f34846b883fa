"""The referee's shell: take letters, decide, append; fire what is due; let old games go.

A step may be cut off anywhere. A letter stays pending until the script that writes its
verdict also acknowledges it, so a letter that was cut off is taken again, by this referee
or another; the log's last entry and the command ids make the second time harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from schemas.errors import CorruptDataError
from services.ledger import (
    BotTaskDispatcher,
    DeadlineIndex,
    DeliveredCommand,
    EvictionIndex,
    MissingEntryError,
)
from services.referee.command_processor import Clocks, CommandProcessor, ProcessorLedger
from services.referee.fork_expansion import ForkExpander
from services.referee.game_cache import MAX_PACKED_BYTES
from services.referee.scheduling import BOT_SILENCE_MS, advance_play_off, bot_tasks, next_wakeup
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import CONNECTION_ERRORS, PROGRAMMING_ERRORS

log = get_logger("referee")
RECLAIM_IDLE_MS: Final = 2_000
MAX_DELIVERIES: Final = 8  # a letter that was handed out more often broke its referees, it seems
CONSUMER_EXPIRY_MS: Final = 600_000  # a consumer with nothing in hand is forgotten after this
MAX_ENVELOPES_PER_STEP: Final = 2_048  # that are taken at once, of all partitions together
PERIODIC_TASK_BUDGET_MS: Final = 500  # that letters wait for a chore
RETRY_DELAY_MS: Final = 30_000  # before a game that breaks a chore is looked at again
ARCHIVE_RECHECK_MS: Final = 600_000  # before a game that isn't in the archive yet is looked at again
FORK_POLL_MS: Final = 20  # that a step waits for commands while a fork is being expanded
PLAY_OFF_POLL_MS: Final = 500  # between two looks for the next game of a play-off


class RefereeLedger(ProcessorLedger, BotTaskDispatcher, DeadlineIndex, EvictionIndex, Protocol):
    """What a referee needs of the ledger."""


class Referee:
    """One worker. `times` are its clocks, `seeds` gives 64 hex digits that nobody can guess,
    `looks_after` the partitions that are its own to look after just now; `remembers_bytes` of
    games that were not asked for lately stay folded; `origins` gives the logs that forks go on from
    (else the ledger does). Where there is an archive, `archived` tells how
    many entries of a game it has, and a game that is over stays until those are all."""

    def __init__(
        self,
        ledger: RefereeLedger,
        name: str,
        clocks: Clocks,
        new_seed: Callable[[], str],
        owned_partitions: Callable[[], Sequence[int]],
        batch: int = 128,
        max_deliveries: int = MAX_DELIVERIES,
        cache_bytes: int = MAX_PACKED_BYTES,
        read_archived_length: Callable[[str], int] | None = None,
        forks: ForkExpander | None = None,
    ) -> None:
        self.ledger, self.name, self.clocks, self.max_deliveries = ledger, name, clocks, max_deliveries
        self.owned_partitions, self.batch, self.read_archived_length = (
            owned_partitions,
            batch,
            read_archived_length,
        )
        self.forks = forks or ForkExpander(ledger.read_entries)
        self.processor = CommandProcessor(ledger, clocks, new_seed, cache_bytes, self.forks)

    def step(self, block_ms: int = 500) -> int:
        """Answer the next letters, waiting for one at most so long; how many were taken. No more
        than it can answer before others take it for dead."""
        partitions = self.owned_partitions()
        count = min(self.batch, max(1, MAX_ENVELOPES_PER_STEP // max(1, len(partitions))))
        if self.forks.held_deliveries():
            block_ms = min(block_ms, FORK_POLL_MS)
        deliveries = self.ledger.take(self.name, partitions, count, block_ms)
        for start in range(0, len(deliveries), self.batch):
            self.processor.process(deliveries[start : start + self.batch])
        self.processor.process_expanded()
        return len(deliveries)

    def tend_forks(self) -> None:
        """Decide the forks that are expanded by now; for the others, keep the deliveries that wait
        for them from being reclaimed. To be called more often than every `RECLAIM_IDLE_MS`."""
        self.processor.process_expanded()
        self.ledger.renew(self.name, self.forks.held_deliveries())

    def reclaim(self, idle_ms: int = RECLAIM_IDLE_MS) -> int:
        """Answer what another referee took and left unanswered for so long; how many letters
        there were. One that was handed out again and again is decided alone, or given up."""
        started_ms, count = self.clocks.game_time_ms(), 0
        while deliveries := self.ledger.reclaim(self.name, self.owned_partitions(), idle_ms):
            count += len(deliveries)
            self.processor.process(deliveries)
            if self.clocks.game_time_ms() - started_ms > PERIODIC_TASK_BUDGET_MS:
                return count
        for delivery in self.ledger.redelivered(self.name, self.owned_partitions(), idle_ms):
            count += 1
            if not self.forks.holds(delivery) and not self._give_up_if_exhausted(delivery):
                self.processor.process([delivery])
            if self.clocks.game_time_ms() - started_ms > PERIODIC_TASK_BUDGET_MS:
                break
        return count

    def _give_up_if_exhausted(self, delivery: DeliveredCommand) -> bool:
        """Bury a letter that was handed out so often that it seems to end whoever decides it."""
        if delivery.delivery_count <= self.max_deliveries:
            return False
        self.processor.move_to_dead_letters(
            delivery, f"it was handed out {delivery.delivery_count} times and never answered"
        )
        return True

    def process_due_games(self) -> int:
        """Put down the house's own commands that are due: for every clock that has run out, and
        for every play-off that is to go on; how many games were looked at."""
        due = self.ledger.due_deadlines(self.clocks.game_time_ms(), self.owned_partitions())
        return self._for_each_game([game for game, _ in due], self._process_due_game)

    def evict(self) -> int:
        """Let games go that ended long ago, or were never started; how many were looked at."""
        return self._for_each_game(
            self.ledger.evictable(self.clocks.wall_time_ms(), self.owned_partitions()), self._evict_game
        )

    def prune_consumers(self) -> int:
        """Forget consumers of workers that went long ago; how many."""
        return self.ledger.prune_consumers(self.owned_partitions(), CONSUMER_EXPIRY_MS)

    def _for_each_game(self, games: Iterable[str], action: Callable[[str], None]) -> int:
        """Do it for each of these games, for as long as letters can wait. One game's damage must
        not stop what is to be done for the others; nor one that lies where nobody answers."""
        started_ms, count = self.clocks.game_time_ms(), 0
        connection_errors: list[Exception] = []
        for game in games:
            count += 1
            try:
                action(game)
            except (MissingEntryError, CorruptDataError) as error:
                log.error("game is damaged", game=game, error=str(error))
                self.processor.game_cache.invalidate(game)
            except PROGRAMMING_ERRORS:
                log.exception("periodic task broke", game=game)
                self.processor.game_cache.invalidate(game)
            except CONNECTION_ERRORS as error:
                connection_errors.append(error)
            if (
                self.clocks.game_time_ms() - started_ms > PERIODIC_TASK_BUDGET_MS
                or len(connection_errors) > 1
            ):
                break
        if connection_errors:
            raise connection_errors[0]
        return count

    def _process_due_game(self, game: str) -> None:
        # Until it is done the game is due later: what ends this referee must not end the next one
        # at once. What is written down for the game says anew when it is due.
        self.ledger.set_deadline(game, self.clocks.game_time_ms() + RETRY_DELAY_MS)
        self.processor.game_cache.is_current(game)  # else a deadline that is none any more would be put back
        cached_game = self.processor.game_cache.get(game)
        state, now_ms = cached_game.state, self.clocks.game_time_ms()
        wakeup_ms, deadline = next_wakeup(state), state.next_deadline()
        if wakeup_ms is None or wakeup_ms > now_ms:
            self.ledger.set_deadline(game, wakeup_ms)
        elif state.next_play_off is not None:
            done = advance_play_off(self.ledger, state)
            self.ledger.set_deadline(game, None if done else now_ms + PLAY_OFF_POLL_MS)
        elif deadline is not None and state.opened_at_ms + deadline[0] <= now_ms:
            self.processor.expire_clock(game, deadline[1])
        else:  # an engine that went down may have lost the bot's command after its note was done with
            self.ledger.redispatch(bot_tasks(state, cached_game.length))
            recheck_ms = now_ms + BOT_SILENCE_MS
            self.ledger.set_deadline(
                game, min(recheck_ms, state.opened_at_ms + deadline[0]) if deadline else recheck_ms
            )

    def _evict_game(self, game: str) -> None:
        self.ledger.schedule_eviction(game, self.clocks.wall_time_ms() + RETRY_DELAY_MS)
        self.processor.game_cache.is_current(game)
        cached_game = self.processor.game_cache.get(game)
        state = cached_game.state
        if state.started and not state.result:
            self.ledger.schedule_eviction(game, None)
        elif self.ledger.has_deadline(game):
            pass  # its play-off is still to come
        elif (
            state.result
            and self.read_archived_length is not None
            and self.read_archived_length(game) != cached_game.length
        ):
            self.ledger.schedule_eviction(
                game, self.clocks.wall_time_ms() + ARCHIVE_RECHECK_MS
            )  # the archive's mark says otherwise
        elif self.ledger.evict(game, len(state.seats), cached_game.length):
            log.info("game retired", game=game, sequence=cached_game.length)
        self.processor.game_cache.invalidate(game)
