"""The referee's worker: take commands, decide and append; handle due games; evict old ones.

A step may be cut off anywhere. A command stays pending until the script that appends its entry
also acknowledges it, so a command that was cut off is delivered again, to this referee or
another. The head of the log and the command ids make the second time harmless.

The entry that ends a game with a play-off (TIE-1) sets the game's deadline in the same append. The
game stays due until the next game is created and started, each by a command of the server under a
fixed id. A crash between two steps only means that the next look takes the next step; and if two
referees submit the same command, it has one result (P2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from schemas.commands import CommandEnvelope, StartGame
from schemas.errors import CorruptDataError, InvalidInputError, MissingGameError
from schemas.events import GameEnded
from schemas.stored.codec import unpack_for_fold
from schemas.stored.player_names import shown_names
from services.archive import GameFile, GameFileError, decode_game_file
from services.ledger import (
    BotTaskDispatcher,
    CommandSubmitter,
    DeadlineIndex,
    Delivery,
    EventReader,
    EvictionIndex,
    GameLog,
    MissingEntryError,
    QueueFullError,
    StoredGame,
    StreamRemovalIndex,
)
from services.referee.command_processor import (
    MAX_INTERRUPTED_DELIVERIES,
    CommandProcessor,
    ProcessorLedger,
)
from services.referee.decision_building import BOT_SILENCE_MS, Clocks, bot_tasks, next_wakeup
from services.referee.decision_limit import DecisionLimit, DecisionTooLongError
from services.referee.fork_expansion import ForkExpander
from services.referee.game_cache import MAX_BYTES
from services.referee.games import GameState, fold
from services.referee.games.play_off import next_game
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import CONNECTION_ERRORS, PROGRAMMING_ERRORS

log = get_logger("referee")
RECLAIM_IDLE_MS: Final = 2_000
MAX_DELIVERIES: Final = 8  # a command that was delivered more often seems to crash its referees
CONSUMER_EXPIRY_MS: Final = 600_000  # idle time after which a consumer with nothing pending is removed
MAX_ENVELOPES_PER_STEP: Final = 2_048  # taken at once, of all partitions together
PERIODIC_TASK_BUDGET_MS: Final = 500  # how long commands may wait for a periodic task
RETRY_DELAY_MS: Final = 30_000  # before a periodic task looks again at a game that it failed for
ARCHIVE_RECHECK_MS: Final = 600_000  # before a game that isn't in the archive yet is looked at again
FORK_POLL_MS: Final = 20  # how long a step waits for commands while a fork is being expanded
PLAY_OFF_POLL_MS: Final = 500  # between two looks for the next game of a play-off
# The gateway accepts no ids of clients that begin like these.
PLAY_OFF_CREATE_ID: Final = "play-off:create"
PLAY_OFF_START_ID: Final = "play-off:start"


class RefereeLedger(
    ProcessorLedger, BotTaskDispatcher, DeadlineIndex, EvictionIndex, StreamRemovalIndex, Protocol
):
    """What a referee needs of the ledger."""


class Referee:
    """One referee.

    `new_seed` returns 64 hex digits that nobody can guess; `owned_partitions` the partitions that it
    has leased now. It takes `batch` commands of a partition at once, and caches games, folded or
    packed, in `cache_bytes`. A command that was delivered more than `max_deliveries` times becomes a
    dead letter. `read_archived_length`, where there is an archive, returns how many entries of a
    game it has: a finished game isn't evicted before it has them all. `forks` expands forks; without
    it, they are expanded in the step itself, from the logs of the ledger. A decision takes no longer
    than `decision_limit`, where something watches that."""

    def __init__(
        self,
        ledger: RefereeLedger,
        name: str,
        clocks: Clocks,
        new_seed: Callable[[], str],
        owned_partitions: Callable[[], Sequence[int]],
        batch: int = 128,
        max_deliveries: int = MAX_DELIVERIES,
        cache_bytes: int = MAX_BYTES,
        read_archived_length: Callable[[str], int] | None = None,
        forks: ForkExpander | None = None,
        decision_limit: DecisionLimit | None = None,
    ) -> None:
        self.ledger, self.name, self.clocks, self.max_deliveries = ledger, name, clocks, max_deliveries
        self.owned_partitions, self.batch = owned_partitions, batch
        self.read_archived_length = read_archived_length
        self.forks = forks or ForkExpander(ledger.read_entries, read_source_names=ledger.read_names)
        self.processor = CommandProcessor(
            ledger, clocks, new_seed, cache_bytes, self.forks, decision_limit or DecisionLimit()
        )
        self._interrupted_deadlines: Counter[str] = Counter()

    def step(self, block_ms: int = 500) -> int:
        """Take the next commands, waiting up to `block_ms` for one, and decide them; returns how many
        were taken. That is no more than can be decided before other referees reclaim them."""
        partitions = self.owned_partitions()
        count = min(self.batch, max(1, MAX_ENVELOPES_PER_STEP // max(1, len(partitions))))
        if self.forks.held:
            block_ms = min(block_ms, 1 if self.forks.has_ready() else FORK_POLL_MS)
        deliveries = self.ledger.commands.take(self.name, partitions, count, block_ms)
        self.processor.process(deliveries)
        if self.forks.held:
            self.processor.process_expanded()
        return len(deliveries)

    def tend_forks(self) -> None:
        """Decide the forks that are expanded by now; for the others, keep the deliveries that wait
        for them from being reclaimed. To be called more often than every `RECLAIM_IDLE_MS`."""
        self.processor.process_expanded()
        self.ledger.commands.renew(self.name, self.forks.held_deliveries())

    def reclaim(self, idle_ms: int = RECLAIM_IDLE_MS) -> int:
        """Decide commands that are pending for `idle_ms`, as their referee died or hangs; returns how
        many there were. One that was redelivered is decided alone, or becomes a dead letter."""
        started_ms, count = self.clocks.game_time_ms(), 0
        while deliveries := self.ledger.commands.reclaim(self.name, self.owned_partitions(), idle_ms):
            count += len(deliveries)
            self.processor.process(deliveries)
            if self.clocks.game_time_ms() - started_ms > PERIODIC_TASK_BUDGET_MS:
                return count
        for delivery in self.ledger.commands.redelivered(self.name, self.owned_partitions(), idle_ms):
            count += 1
            if not self.forks.holds(delivery) and not self._give_up_if_exhausted(delivery):
                self.processor.process([delivery])
            if self.clocks.game_time_ms() - started_ms > PERIODIC_TASK_BUDGET_MS:
                break
        return count

    def _give_up_if_exhausted(self, delivery: Delivery) -> bool:
        """Move a command to the dead letters if it was delivered so often that it seems to crash its
        referees. Returns whether it was."""
        if delivery.delivery_count <= self.max_deliveries:
            return False
        self.processor.move_to_dead_letters(
            delivery, f"it was handed out {delivery.delivery_count} times and never answered"
        )
        return True

    def process_due_games(self) -> int:
        """Do what is due by the game clock: expire clocks, go on with play-offs, send tasks to silent
        bots again; returns how many games were looked at."""
        due = self.ledger.due_deadlines(self.clocks.game_time_ms(), self.owned_partitions())
        return self._for_each_game([game for game, _ in due], self._process_due_game)

    def evict(self) -> int:
        """Evict games that ended long ago, or were never started; returns how many were looked at."""
        return self._for_each_game(
            self.ledger.evictable(self.clocks.wall_time_ms(), self.owned_partitions()), self._evict_game
        )

    def remove_streams(self) -> int:
        """Remove the streams of games that are over, and that the engine has as one value; returns how many were looked
        at."""
        removable = self.ledger.removable_streams(self.clocks.wall_time_ms(), self.owned_partitions())
        return self._for_each_game(removable, self._remove_streams)

    def prune_consumers(self) -> int:
        """Remove consumers of workers that ended long ago; returns how many."""
        return self.ledger.prune_consumers(self.owned_partitions(), CONSUMER_EXPIRY_MS)

    def _for_each_game(self, games: Iterable[str], action: Callable[[str], None]) -> int:
        """Run an action for each of these games, for as long as commands can wait; returns how many
        were looked at. A damaged game, or one on a node that is away, doesn't stop the others.

        Raises the first connection error, afterwards; two of them end the run."""
        started_ms, count = self.clocks.game_time_ms(), 0
        connection_errors: list[Exception] = []
        for game in games:
            count += 1
            try:
                action(game)
            except MissingGameError as error:
                log.error("game isn't installed here", game=game, error=str(error))
            except (MissingEntryError, CorruptDataError) as error:
                log.error("game is damaged", game=game, error=str(error))
                self.processor.game_cache.invalidate(game)
            except DecisionTooLongError as error:
                self._set_aside_interrupted(game, str(error))
            except PROGRAMMING_ERRORS:
                log.exception("periodic task failed", game=game)
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

    def _set_aside_interrupted(self, game: str, reason: str) -> None:
        """A deadline's decision was interrupted: it is due again later, but not for ever. The next entry of
        the game sets its deadline again."""
        self.processor.game_cache.invalidate(game)
        self._interrupted_deadlines[game] += 1
        given_up = self._interrupted_deadlines[game] >= MAX_INTERRUPTED_DELIVERIES
        log.error("deadline's decision interrupted", game=game, why=reason, given_up=given_up)
        if given_up:
            del self._interrupted_deadlines[game]
            self.ledger.set_deadline(game, None)

    def _process_due_game(self, game: str) -> None:
        # The deadline is moved first: if this game crashes the referee, it must not crash the next one
        # at once. Whatever is appended to the game's log sets its deadline again.
        self.ledger.set_deadline(game, self.clocks.game_time_ms() + RETRY_DELAY_MS)
        self.processor.game_cache.is_current(game)  # a stale state would bring back an old deadline
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
        else:  # an engine that crashed may have lost a bot's command whose task was acknowledged
            self.ledger.redispatch(bot_tasks(state, cached_game.length))
            recheck_ms = now_ms + BOT_SILENCE_MS
            self.ledger.set_deadline(
                game, min(recheck_ms, state.opened_at_ms + deadline[0]) if deadline else recheck_ms
            )

    def _remove_streams(self, game: str) -> None:
        self.ledger.schedule_removal(game, self.clocks.wall_time_ms() + RETRY_DELAY_MS)
        remove_streams(self.ledger, game)
        self.processor.game_cache.invalidate(game)

    def _evict_game(self, game: str) -> None:
        self.ledger.schedule_eviction(game, self.clocks.wall_time_ms() + RETRY_DELAY_MS)
        self.processor.game_cache.is_current(game)
        cached_game = self.processor.game_cache.get(game)
        state, length = cached_game.state, cached_game.length
        stored = self.ledger.read_stored_game(game) if cached_game.is_stored else None
        if stored is not None:
            length = decode_stored(stored, game).number
        if state.started and not state.result:
            self.ledger.schedule_eviction(game, None)
        elif self.ledger.has_deadline(game):
            pass  # its play-off is still to come
        elif (
            (state.result or stored is not None)
            and self.read_archived_length is not None
            and self.read_archived_length(game) != length
        ):
            # Once it is in the archive, the auditor schedules it anew.
            self.ledger.schedule_eviction(game, self.clocks.wall_time_ms() + ARCHIVE_RECHECK_MS)
        elif self.ledger.evict(game, len(state.seats), cached_game.length):
            log.info("game evicted", game=game, sequence=length)
        self.processor.game_cache.invalidate(game)


class RemovalLedger(EventReader, DeadlineIndex, StreamRemovalIndex, Protocol):
    """What removing streams needs of the ledger."""


def remove_streams(ledger: RemovalLedger, game: str) -> bool:
    """Remove the streams of a finished game if the engine's file of it has all that they have; returns whether they
    are removed. Where the file is another game's, or an earlier end's, they stay until it is stored anew.

    Raises MissingEntryError or CorruptDataError: the log can't be read."""
    if ledger.has_deadline(game):
        return False  # its play-off is still to come
    stored, game_log = ledger.read_stored_game(game), ledger.read_log(game)
    if stored is None or not game_log.entries:
        ledger.schedule_removal(game, None)
    elif not _is_made_of(stored, game, game_log):
        log.error(
            "the file of a finished game isn't that of its log", game=game, sequence=len(game_log.entries)
        )
        ledger.schedule_removal(game, None)
    elif ledger.remove_streams(game, len(fold(game_log.entries[:1]).seats), game_log, stored.data):
        log.info("game stored", game=game, sequence=len(game_log.entries), bytes=len(stored.data))
        return True
    return False


def decode_stored(stored: StoredGame, game: str) -> GameFile:
    """The file that the engine has of a game. Raises CorruptDataError."""
    try:
        return decode_game_file(stored.data)
    except GameFileError as error:
        raise CorruptDataError(f"the engine's file of {game}: {error}") from None


def _is_made_of(stored: StoredGame, game: str, game_log: GameLog) -> bool:
    try:
        file = decode_stored(stored, game)
    except CorruptDataError:
        return False
    *_, events = unpack_for_fold(game_log.entries[-1])
    return (
        (file.game, file.number, file.head) == (game, len(game_log.entries), game_log.head)
        and file.entries == [*game_log.entries]
        and any(isinstance(event, GameEnded) for event in events)
    )


def advance_play_off(ledger: RefereeLedger, state: GameState) -> bool:
    """Submit the next command towards the game that follows this one. True when there is none
    left: that game has started, or it can't be had."""
    shown_state = state.copy()  # the players take their names along
    shown_state.show_names(shown_names(ledger.read_names(state.game)))
    follow_up = next_game(shown_state)
    if follow_up is None:
        return True
    game, create_command = follow_up
    for envelope in (
        CommandEnvelope(PLAY_OFF_CREATE_ID, game, None, create_command),
        CommandEnvelope(PLAY_OFF_START_ID, game, None, StartGame()),
    ):
        result = ledger.read_result(game, None, envelope.id)
        if result is None:
            return not _submit_follow_up(ledger, envelope, state.game)
        if not result.sequence:
            _log_stopped(envelope, state.game, f"{result.rule}, {result.reason}")
            return True
    return True


def _submit_follow_up(commands: CommandSubmitter, envelope: CommandEnvelope, ended_game: str) -> bool:
    try:
        commands.submit(envelope)
    except InvalidInputError as error:  # the board just fitted into the first game's command
        _log_stopped(envelope, ended_game, str(error))
        return False
    except QueueFullError:  # the game stays due, and the next look tries again
        pass
    return True


def _log_stopped(envelope: CommandEnvelope, ended_game: str, reason: str) -> None:
    log.error("play-off stopped", game=envelope.game, of=ended_game, command=envelope.id, why=reason)
