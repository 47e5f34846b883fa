"""The ledger on Redis or Valkey: streams for logs, views, commands and turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import redis
from redis.exceptions import AskError, ResponseError, TryAgainError

from schemas.codec import pack, unpack
from schemas.commands import CommandEnvelope
from schemas.contract import Schema
from schemas.entries import ViewEntry
from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from services.ledger import keys
from services.ledger.archive_index import ArchiveIndex
from services.ledger.cluster_pipeline import available_replies
from services.ledger.consumer_groups import ConsumerGroup, Delivery, monotonic_ms
from services.ledger.dead_letters import MAX_DEAD_LETTERS, DeadLetterStore, dead_letter_fields
from services.ledger.dispute_store import DisputeStore
from services.ledger.log_reader import read_game_logs
from services.ledger.membership import Membership
from services.ledger.ports import (
    MAX_WAITING_COMMANDS,
    MAX_WAITING_TASKS,
    AppendRequest,
    AppendResult,
    AppendStatus,
    BotTask,
    CommandResult,
    DeliveredBotTask,
    DeliveredCommand,
    DuplicateCommand,
    GameLog,
    QueueFullError,
)
from services.ledger.replies import (
    parse_entries,
    parse_log,
    parse_public_entries,
    parse_result,
    require_game_reply,
)
from services.ledger.script_calls import build_append_call, build_evict_call, build_submit_call
from services.ledger.scripts import (
    APPEND_ENTRY,
    EVICT_GAME,
    REJECT_COMMAND,
    SUBMIT_COMMAND,
    run_script,
    try_script,
)
from services.ledger.view_merge import merge_view
from services.ledger.wakeups import wakeup_channel_of
from services.runtime.logging_setup import get_logger

log = get_logger("bots")
REJECTION_TTL_S: Final = 60
POISONED_REASON: Final = "it broke the referee and was put aside; the game goes on, and an operator sees it"
NOT_KEPT_REASON: Final = (
    "it broke the referee, as too many did before it: it isn't kept, so send it again later"
)
BOT_TASK_SHAPE: Final[Schema[BotTask]] = Schema(BotTask, "note")
UNKNOWN_RESULT: Final = AppendResult(AppendStatus.UNKNOWN, 0)
DAMAGED_CODE: Final = -2
STATUS_BY_CODE: Final = {
    1: AppendStatus.APPENDED,
    0: AppendStatus.DUPLICATE,
    -1: AppendStatus.CONFLICT,
    DAMAGED_CODE: AppendStatus.DAMAGED,
}


class RedisLedger:
    """Implements all of `ports`. One client, one thread at a time. `clock` counts milliseconds and
    never jumps."""

    def __init__(
        self,
        client: redis.Redis,
        partitions: int,
        max_waiting: int = MAX_WAITING_COMMANDS,
        clock: Callable[[], int] = monotonic_ms,
    ) -> None:
        self._client: Any = client  # redis-py types replies for both of its clients at once
        self.partitions, self.max_waiting = partitions, max_waiting
        self._all_partitions = range(partitions)
        self._command_group = ConsumerGroup(client, keys.REFEREE_GROUP, keys.commands, partitions, clock)
        self._task_group = ConsumerGroup(client, keys.BOT_GROUP, keys.bot_tasks, partitions, clock)
        self._wakeup_channels = {group: wakeup_channel_of(client, group) for group in keys.WAKEUP_CHANNELS}

    def close(self) -> None:
        """Let go of the engine."""
        self._command_group.close()
        self._task_group.close()
        self._client.close()

    def membership(self) -> Membership:
        """Who keeps the house, on the same connection."""
        return Membership(self._client)

    def dead_letters(self) -> DeadLetterStore:
        """What an operator looks at, on the same connection."""
        return DeadLetterStore(self._client, self.partitions)

    def archive_index(self) -> ArchiveIndex:
        """Which games are in the archive, on the same connection."""
        return ArchiveIndex(self._client, self.partitions)

    def disputes(self) -> DisputeStore:
        """Disputed moves, on the same connection."""
        return DisputeStore(self._client, self.partitions)

    def partition_of(self, game: str) -> int:
        return keys.partition_of(game, self.partitions)

    # -- letters ----------------------------------------------------------------------

    def submit(self, envelope: CommandEnvelope) -> None:
        script_keys, arguments = build_submit_call(
            envelope, self.partitions, self.max_waiting, self._wakeup_channels[keys.REFEREE_GROUP]
        )
        try:
            [is_accepted] = run_script(self._client, SUBMIT_COMMAND, [(script_keys, arguments)])
        except TryAgainError:  # the partition moves to another node: a key by itself is always somewhere
            self._client.delete(script_keys[1])
            [is_accepted] = run_script(self._client, SUBMIT_COMMAND, [(script_keys[:1], arguments)])
        if not is_accepted:
            raise QueueFullError(f"{self.max_waiting} letters wait in the partition of game {envelope.game}")

    def take(
        self, consumer: str, partitions: Sequence[int], count: int, block_ms: int
    ) -> list[DeliveredCommand]:
        return [
            _parse_delivery(delivery)
            for delivery in self._command_group.read(consumer, partitions, count, block_ms)
        ]

    def reclaim(self, consumer: str, partitions: Sequence[int], idle_ms: int) -> list[DeliveredCommand]:
        return [
            _parse_delivery(delivery)
            for delivery in self._command_group.reclaim(consumer, partitions, idle_ms)
        ]

    def redelivered(
        self, consumer: str, partitions: Sequence[int], idle_ms: int
    ) -> Iterator[DeliveredCommand]:
        return map(_parse_delivery, self._command_group.redelivered(consumer, partitions, idle_ms))

    def renew(self, consumer: str, deliveries: Sequence[DeliveredCommand]) -> None:
        self._command_group.renew(consumer, [(delivery.partition, delivery.id) for delivery in deliveries])

    def append(self, requests: Sequence[AppendRequest | DuplicateCommand]) -> list[AppendResult]:
        replies = try_script(
            self._client,
            APPEND_ENTRY,
            [build_append_call(request, self._wakeup_channels[keys.BOT_GROUP]) for request in requests],
        )
        failed = [place for place, reply in enumerate(replies) if isinstance(reply, ResponseError)]
        to_requeue = [place for place in failed if not _is_script_damage(replies[place])]
        deliveries = [requests[place].delivery for place in to_requeue]
        self._command_group.requeue(
            (delivery.partition, delivery.id, delivery.delivery_count)
            for delivery in deliveries
            if delivery.id
        )
        for place in failed:
            if place not in to_requeue:
                replies[place] = (DAMAGED_CODE, _expected_length(requests[place]))
            elif isinstance(replies[place], TryAgainError | AskError):  # moving: other games don't wait
                replies[place] = ()
        return [
            AppendResult(STATUS_BY_CODE[reply[0]], reply[1]) if reply else UNKNOWN_RESULT
            for reply in available_replies(replies)
        ]

    def reject_without_entry(
        self, delivery: DeliveredCommand, envelope: CommandEnvelope, rule: str, reason: str
    ) -> None:
        self._reject(delivery, envelope, rule, reason, ())

    def move_to_dead_letters(
        self, delivery: DeliveredCommand, envelope: CommandEnvelope | None, reason: str
    ) -> None:
        dead_fields = tuple(dead_letter_fields(reason, delivery.data, delivery.delivery_count))
        self._reject(delivery, envelope, "POISON-1", POISONED_REASON, dead_fields)

    def _reject(
        self,
        delivery: DeliveredCommand,
        envelope: CommandEnvelope | None,
        rule: str,
        reason: str,
        dead_fields: Sequence[Any],
    ) -> None:
        partition, reasons = delivery.partition, (b"", b"")
        script_keys, notification = [keys.commands(partition)] * 2, ["", ""]
        if envelope is not None:
            script_keys[1] = keys.rejection(partition, envelope.game, envelope.seat, envelope.id)
            reasons = pack((rule, reason)), pack((rule, NOT_KEPT_REASON))
            notification = [keys.notification_channel(partition), envelope.game]
        script_keys.append(keys.dead_letters(partition))
        arguments = [reasons[0], REJECTION_TTL_S, *notification, MAX_DEAD_LETTERS, reasons[1], *dead_fields]
        run_script(
            self._client, REJECT_COMMAND, [(script_keys, [keys.REFEREE_GROUP, delivery.id, *arguments])]
        )

    def read_result(self, game: str, sender: Seat | None, command_id: str) -> CommandResult | None:
        partition = self.partition_of(game)
        pipe = self._client.pipeline(transaction=False)
        pipe.hget(keys.command_results(partition, game, sender), command_id)
        pipe.get(keys.rejection(partition, game, sender, command_id))
        return parse_result(
            *(require_game_reply(game, reply) for reply in pipe.execute(raise_on_error=False))
        )

    # -- logs and views ---------------------------------------------------------------

    def read_entries(self, game: str, after: int = 0) -> list[bytes]:
        pipe = self._client.pipeline(transaction=False)
        pipe.xrange(keys.log(self.partition_of(game), game), f"{after + 1}-0")
        [reply] = pipe.execute(raise_on_error=False)
        return parse_log(game, require_game_reply(game, reply), after)

    def read_log(self, game: str) -> GameLog:
        [game_log] = read_game_logs(self._client, self.partitions, [game])
        if isinstance(game_log, Exception):
            raise game_log
        return game_log

    def read_logs(self, games: Sequence[str]) -> dict[str, GameLog]:
        logs = zip(games, read_game_logs(self._client, self.partitions, games), strict=True)
        return {game: game_log for game, game_log in logs if isinstance(game_log, GameLog)}

    def head(self, game: str) -> tuple[int, bytes]:
        last = self._client.xrevrange(keys.public_view(self.partition_of(game), game), count=1)
        return next(((sequence, head) for sequence, _, head in parse_public_entries(last)), (0, b""))

    def read_view(self, game: str, viewer: Seat | None, after: int = 0, limit: int = 1000) -> list[ViewEntry]:
        partition, first, last = self.partition_of(game), f"{after + 1}-0", f"{after + limit}-0"
        pipe = self._client.pipeline(transaction=False)
        pipe.xrange(keys.public_view(partition, game), first, last)
        if viewer is not None:  # after the public one, so that no part is older than its entry
            pipe.xrange(keys.private_view(partition, game, viewer), first, last)
        public, *private_parts = (
            require_game_reply(game, reply) for reply in pipe.execute(raise_on_error=False)
        )
        return merge_view(
            after, parse_public_entries(public), parse_entries(private_parts[0]) if private_parts else ()
        )

    def follow_view(self, game: str, viewer: Seat | None, after: int, block_ms: int) -> list[ViewEntry]:
        stream = keys.public_view(self.partition_of(game), game)
        block = block_ms if block_ms > 0 else None  # 0 would block for ever
        new_entries = self._client.xread({stream: f"{after}-0"}, count=1, block=block)
        return self.read_view(game, viewer, after) if new_entries else []

    def games(self, limit: int = 1000) -> list[str]:
        pipe = self._client.pipeline(transaction=False)
        for partition in self._all_partitions:
            pipe.zrevrange(keys.games(partition), 0, limit - 1, withscores=True)
        scored_games = [pair for pairs in pipe.execute() for pair in pairs]
        return [game.decode() for game, _ in sorted(scored_games, key=lambda pair: -pair[1])[:limit]]

    # -- turns, deadlines, and games that may leave -----------------------------------

    def take_tasks(self, consumer: str, count: int, block_ms: int) -> list[DeliveredBotTask]:
        return list(self._parse_tasks(self._task_group.read(consumer, self._all_partitions, count, block_ms)))

    def reclaim_tasks(self, consumer: str, idle_ms: int) -> list[DeliveredBotTask]:
        return list(self._parse_tasks(self._task_group.reclaim(consumer, self._all_partitions, idle_ms)))

    def redelivered_tasks(self, consumer: str, idle_ms: int) -> Iterator[DeliveredBotTask]:
        return self._parse_tasks(self._task_group.redelivered(consumer, self._all_partitions, idle_ms))

    def _parse_tasks(self, delivered: Iterable[Delivery]) -> Iterator[DeliveredBotTask]:
        for partition, id_, fields, delivery_count in delivered:
            try:
                task = BOT_TASK_SHAPE.read(unpack(fields.get(b"t", b"")))
            except (InvalidInputError, TypeError, ValueError) as error:
                log.error("note can't be read", partition=partition, id=id_, error=str(error))
                self._task_group.acknowledge([(partition, id_)])
            else:
                yield DeliveredBotTask(partition, id_, task, delivery_count)

    def redispatch(self, tasks: Sequence[BotTask]) -> None:
        for task in tasks:
            stream = keys.bot_tasks(self.partition_of(task.game))
            if self._client.xlen(stream) < MAX_WAITING_TASKS:
                self._client.xadd(stream, {"t": pack(tuple(task))})

    def acknowledge_tasks(self, tasks: Sequence[DeliveredBotTask]) -> None:
        self._task_group.acknowledge((delivery.partition, delivery.id) for delivery in tasks)

    def requeue_tasks(self, tasks: Sequence[DeliveredBotTask]) -> None:
        self._task_group.requeue(
            (delivery.partition, delivery.id, delivery.delivery_count) for delivery in tasks
        )

    def due_deadlines(self, game_time_ms: int, partitions: Iterable[int]) -> list[tuple[str, int]]:
        return self._members_up_to(keys.deadlines, game_time_ms, partitions)

    def has_deadline(self, game: str) -> bool:
        return self._client.zscore(keys.deadlines(self.partition_of(game)), game) is not None

    def set_deadline(self, game: str, deadline_ms: int | None) -> None:
        self._set_score(keys.deadlines(self.partition_of(game)), game, deadline_ms)

    def evictable(self, now_ms: int, partitions: Iterable[int]) -> list[str]:
        return [game for game, _ in self._members_up_to(keys.evictions, now_ms, partitions)]

    def schedule_eviction(self, game: str, evict_at_ms: int | None) -> None:
        self._set_score(keys.evictions(self.partition_of(game)), game, evict_at_ms)

    def evict(self, game: str, seats: int, length: int) -> bool:
        call = build_evict_call(game, self.partition_of(game), seats, length)
        return bool(run_script(self._client, EVICT_GAME, [call])[0])

    def prune_consumers(self, partitions: Iterable[int], idle_ms: int) -> int:
        partition_list = list(partitions)
        return self._command_group.prune_consumers(
            partition_list, idle_ms
        ) + self._task_group.prune_consumers(partition_list, idle_ms)

    # -- plumbing ---------------------------------------------------------------------

    def _members_up_to(
        self, key_of: Callable[[int], str], max_score: int, partitions: Iterable[int]
    ) -> list[tuple[str, int]]:
        """The games with the lowest scores in these partitions' sorted sets, up to a score."""
        pipe, set_keys = self._client.pipeline(transaction=False), [key_of(p) for p in partitions]
        for set_key in set_keys:
            pipe.zrangebyscore(set_key, "-inf", max_score, start=0, num=1000, withscores=True)
        scored_games = []
        for set_key, pairs in zip(
            set_keys, available_replies(pipe.execute(raise_on_error=False)), strict=True
        ):
            for member, score in pairs:
                try:
                    scored_games.append((member.decode(), int(max(score, 0))))
                except ValueError:
                    log.error("no game has such a name", key=set_key, name=member)
                    self._client.zrem(set_key, member)
        return scored_games

    def _set_score(self, set_key: str, member: str, score: int | None) -> None:
        if score is None:
            self._client.zrem(set_key, member)
        else:
            self._client.zadd(set_key, {member: score})


def _expected_length(request: AppendRequest | DuplicateCommand) -> int:
    """How long the log was when the command was decided, as far as that is known."""
    return 0 if isinstance(request, DuplicateCommand) else max(0, request.expected_length)


def _is_script_damage(error: ResponseError) -> bool:
    """Whether the script itself met something that isn't as we write it. Any other error is the
    engine's: it can't write now, or here, and did nothing."""
    message = str(error)
    if type(error) is not ResponseError or message.startswith(("MISCONF", "NOREPLICAS", "BUSY")):
        return False
    return "WRONGTYPE" in message or "script" in message


def _parse_delivery(delivery: Delivery) -> DeliveredCommand:
    return DeliveredCommand(
        delivery.partition, delivery.id, delivery.fields.get(b"c", b""), delivery.delivery_count
    )
