"""Commands and bot tasks as streams with consumer groups: implements `ports.CommandQueue` and `ports.BotTaskQueue`.

A command that broke a referee again and again is a dead letter, kept for an operator.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from redis.exceptions import TryAgainError

from schemas.commands import CommandEnvelope
from schemas.contract import Schema
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.field_types import Seat
from schemas.stored.codec import pack_envelope, unpack_envelope
from schemas.stored.entries import ForeignCommandError, SentBy
from schemas.stored.rows import pack, unpack
from schemas.web.tokens import DAY_S
from services.ledger.engine import keys
from services.ledger.engine.cluster_pipeline import available_replies
from services.ledger.engine.queries import (
    Argument,
    Query,
    QueryClient,
    Reply,
    blocking,
    command,
    require_game_reply,
    require_reply,
    run,
)
from services.ledger.ports import (
    MAX_WAITING_TASKS,
    BotTask,
    CommandResult,
    DeliveredBotTask,
    Delivery,
    QueueFullError,
    RejectedCommand,
)
from services.ledger.queues.consumer_groups import RedisRole
from services.ledger.scripts.lua_scripts import (
    MAX_KNOWN_SENDERS,
    REJECT_COMMAND,
    RETRY_DEAD_LETTER,
    SUBMIT_COMMAND,
    ScriptCall,
    call_script,
    run_script,
)
from services.runtime.logging_setup import get_logger

MAX_DEAD_LETTERS: Final = 1_000  # of a partition; further ones are rejected and logged, and not kept
REFERENCE_PATTERN: Final = re.compile(r"p([0-9a-f]{2,3})/(\d+-\d+)")


class DeadLetter(NamedTuple):
    """One dead letter. `reference` names it: p07/1700000000000-0."""

    reference: str
    reason: str
    delivery_count: int
    at_ms: int  # milliseconds since 1970, by the engine's clock
    data: bytes
    envelope: (
        SentBy | None
    )  # without its command where its game isn't installed here; None where it can't be read


class DeadLetterStore(QueryClient):
    """Lists, retries and drops dead letters."""

    def list_all(self, limit: int = 1000, after: str = "") -> list[DeadLetter]:
        """The oldest of every partition, the oldest first, at most so many; those that follow the one named `after`, which
        may be gone. Raises InvalidInputError: it can't be a name."""
        last_partition, last_id = self._parse_reference(after) if after else (-1, "0")
        last_ms = int(last_id.partition("-")[0])
        pipe = self._client.pipeline(transaction=False)
        for partition in range(self.partitions):
            first = last_ms if partition > last_partition else last_ms + 1  # of one moment, by partition
            pipe.xrange(
                keys.dead_letters(partition),
                f"({last_id}" if partition == last_partition else first,
                count=limit,
            )
        dead_letters = [
            _parse_dead_letter(partition, id_.decode(), fields)
            for partition, entries in enumerate(pipe.execute())
            for id_, fields in entries
        ]
        return sorted(dead_letters, key=lambda dead_letter: dead_letter.at_ms)[:limit]

    def find(self, reference: str) -> DeadLetter | None:
        """The dead letter of that name, if there is one. Raises InvalidInputError: it can't be a name."""
        partition, id_ = self._parse_reference(reference)
        for entry_id, fields in self._client.xrange(keys.dead_letters(partition), id_, id_):
            return _parse_dead_letter(partition, entry_id.decode(), fields)
        return None

    def retry(self, dead_letter: DeadLetter) -> bool:
        """Queue its command again. False if it is gone."""
        partition, id_ = self._parse_reference(dead_letter.reference)
        script_keys = [keys.dead_letters(partition), keys.commands(partition)]
        if (envelope := dead_letter.envelope) is not None:
            script_keys.append(keys.rejection(partition, envelope.game, envelope.seat, envelope.id))
        return bool(
            run_script(
                self._client,
                RETRY_DEAD_LETTER,
                [(script_keys, [id_, keys.WAKEUP_CHANNELS[keys.REFEREE_GROUP]])],
            )[0]
        )

    def drop(self, dead_letter: DeadLetter) -> bool:
        """Delete it. False if it is gone."""
        partition, id_ = self._parse_reference(dead_letter.reference)
        return bool(self._client.xdel(keys.dead_letters(partition), id_))

    def _parse_reference(self, reference: str) -> tuple[int, str]:
        matched = REFERENCE_PATTERN.fullmatch(reference)
        if matched is None or int(matched[1], 16) >= self.partitions:
            raise InvalidInputError(
                "dead letter", "is named as `ledgerline dead list` shows it: p07/1700000000000-0"
            )
        return int(matched[1], 16), matched[2]


def dead_letter_fields(reason: str, data: bytes, delivery_count: int) -> Iterator[Argument]:
    """A dead letter's stream fields, as reject_command.lua takes them."""
    yield from ("reason", reason)
    yield from ("c", data)
    yield from ("deliveries", delivery_count)


def _parse_dead_letter(partition: int, id_: str, fields: Mapping[bytes, bytes]) -> DeadLetter:
    data = fields.get(b"c", b"")
    envelope: SentBy | None = None
    try:
        envelope = unpack_envelope(data)
    except ForeignCommandError as error:
        envelope = error.header
    except InvalidInputError:
        pass
    return DeadLetter(
        reference=f"{keys.hash_tag(partition)[1:-1]}/{id_}",
        reason=fields.get(b"reason", b"").decode(errors="replace"),
        delivery_count=int(fields.get(b"deliveries", 0)),
        at_ms=int(id_.partition("-")[0]),
        data=data,
        envelope=envelope,
    )


log = get_logger("bots")
_BOT_TASK: Final[Schema[BotTask]] = Schema(BotTask, "note")


class RedisBotTaskQueue(RedisRole):
    """Delivers the tasks that append_entry.lua wrote."""

    def take_tasks(self, consumer: str, count: int, block_ms: int) -> list[DeliveredBotTask]:
        """The next tasks, at most `count` of each partition; waits up to `block_ms` for one."""
        return list(self._parse_tasks(self._task_group.take(consumer, self._all_partitions, count, block_ms)))

    def reclaim_tasks(self, consumer: str, idle_ms: int) -> list[DeliveredBotTask]:
        """Tasks that were delivered once, to another worker, and are pending for `idle_ms`."""
        return list(self._parse_tasks(self._task_group.reclaim(consumer, self._all_partitions, idle_ms)))

    def redelivered_tasks(self, consumer: str, idle_ms: int) -> Iterator[DeliveredBotTask]:
        """Tasks that were delivered more than once, one at a time."""
        return self._parse_tasks(self._task_group.redelivered(consumer, self._all_partitions, idle_ms))

    def requeue_tasks(self, tasks: Sequence[DeliveredBotTask]) -> None:
        """Leave these tasks for later; this delivery of them isn't counted."""
        self._task_group.requeue(tasks)

    def renew_tasks(self, consumer: str, tasks: Sequence[DeliveredBotTask]) -> None:
        """Restart the idle time of all tasks that the consumer holds; not counted as a delivery."""
        self._task_group.renew(consumer, tasks)

    def acknowledge_tasks(self, tasks: Sequence[DeliveredBotTask]) -> None:
        """Remove these tasks: they are done."""
        self._task_group.acknowledge(tasks)

    def redispatch(self, tasks: Sequence[BotTask]) -> None:
        """Send tasks again, unless so many wait that the bots must be away."""
        for task in tasks:
            stream = keys.bot_tasks(self.partition_of(task.game))
            if self._client.xlen(stream) < MAX_WAITING_TASKS:
                self._client.xadd(stream, {"t": pack(tuple(task))})

    def _parse_tasks(self, delivered: Iterable[Delivery]) -> Iterator[DeliveredBotTask]:
        for delivery in delivered:
            partition, id_, data, delivery_count = delivery
            try:
                task = _BOT_TASK.read(unpack(data))
            except (InvalidInputError, CorruptDataError) as error:
                log.error("bot task can't be read", partition=partition, id=id_, error=str(error))
                self._task_group.acknowledge([delivery])
            else:
                yield DeliveredBotTask(partition, id_, task, delivery_count)


REJECTION_TTL_S: Final = 60
POISONED_REASON: Final = "it broke the referee and was put aside; the game goes on, and an operator sees it"
NOT_KEPT_REASON: Final = (
    "it broke the referee, as too many did before it: it isn't kept, so send it again later"
)


def build_submit_call(
    envelope: CommandEnvelope,
    partitions: int,
    max_waiting: int,
    wakeup_channel: str = "",
    *,
    ask_verdict: bool,
) -> ScriptCall:
    """The keys and arguments of submit_command.lua; with `ask_verdict` it returns an earlier verdict on this id.

    Raises InvalidInputError: the envelope is too large."""
    commands, rejection_prefix, results = _submit_keys(envelope.game, envelope.seat, partitions)
    script_keys = [commands, rejection_prefix + envelope.id]
    if ask_verdict:
        script_keys.append(results)
    return script_keys, [max_waiting, pack_envelope(envelope), wakeup_channel, envelope.id]


@lru_cache(MAX_KNOWN_SENDERS)
def _submit_keys(game: str, sender: Seat | None, partitions: int) -> tuple[str, str, str]:
    """The commands of a game's partition, how the key of a sender's rejection begins, and the sender's results."""
    partition = keys.partition_of(game, partitions)
    return (
        keys.commands(partition),
        keys.rejection(partition, game, sender, ""),
        keys.command_results(partition, game, sender),
    )


def submit_command(
    envelope: CommandEnvelope, partitions: int, max_waiting: int, wakeup_channel: str
) -> Query[CommandResult | None]:
    """Queue a command. Returns an earlier verdict on its id, if there is one.

    Raises QueueFullError; InvalidInputError: the envelope is too large."""
    call = build_submit_call(envelope, partitions, max_waiting, wakeup_channel, ask_verdict=True)
    [reply] = yield from _submit([call])
    outcome = submission_outcome(envelope, reply, max_waiting)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def submission_outcome(
    envelope: CommandEnvelope, reply: Reply, max_waiting: int
) -> CommandResult | Exception | None:
    """What submit_command.lua's reply says: an earlier verdict, if there is one, or why the command isn't queued."""
    if reply.__class__ is int and reply:
        return None
    if error := _submission_error(envelope, reply, max_waiting):
        return error
    return parse_result(reply, None)


def submit_commands(
    envelopes: Sequence[CommandEnvelope], partitions: int, max_waiting: int, wakeup_channel: str
) -> Query[list[Exception | None]]:
    """Queue many commands in one round trip: for each, why it isn't queued, or None where it is.

    Raises InvalidInputError where one of them is too large."""
    replies = yield from _submit(
        [
            build_submit_call(envelope, partitions, max_waiting, wakeup_channel, ask_verdict=False)
            for envelope in envelopes
        ]
    )
    return [
        _submission_error(envelope, reply, max_waiting)
        for envelope, reply in zip(envelopes, replies, strict=True)
    ]


def _submit(calls: Sequence[ScriptCall]) -> Query[list[Reply]]:
    """What submit_command.lua returned for each call, where an error is a reply too."""
    replies = yield from call_script(SUBMIT_COMMAND, calls)
    # Of those whose slot is moving: a single key is always on one of its two nodes.
    if moving := [index for index, reply in enumerate(replies) if isinstance(reply, TryAgainError)]:
        deleted = yield [command("DEL", calls[index][0][1]) for index in moving]
        single_key_calls = [(calls[index][0][:1], calls[index][1]) for index in moving]
        retried = yield from call_script(SUBMIT_COMMAND, single_key_calls)
        for index, deletion, reply in zip(moving, deleted, retried, strict=True):
            replies[index] = deletion if isinstance(deletion, Exception) else reply
    return replies


def _submission_error(envelope: CommandEnvelope, reply: Reply, max_waiting: int) -> Exception | None:
    if isinstance(reply, Exception):
        return reply
    if not reply:
        return QueueFullError(f"{max_waiting} commands wait in the partition of game {envelope.game}")
    return None


def read_result(
    partitions: int, game: str, sender: Seat | None, command_id: str
) -> Query[CommandResult | None]:
    """The result of a command; None while it isn't known. Raises CorruptDataError."""
    partition = keys.partition_of(game, partitions)
    replies = yield [
        command("HGET", keys.command_results(partition, game, sender), command_id),
        command("GET", keys.rejection(partition, game, sender, command_id)),
    ]
    return parse_result(*(require_game_reply(game, reply) for reply in replies))


def parse_result(verdict: bytes | None, rejection: bytes | None) -> CommandResult | None:
    """The result of a command, from its verdict (its entry's number and the command's digest) and its
    packed rejection."""
    if verdict is not None:
        sequence, _, digest = verdict.partition(b" ")
        return CommandResult(int(sequence), command_digest=digest.decode())
    if rejection is not None:
        rule, reason = unpack(rejection)
        return CommandResult(0, rule, reason)
    return None


class RedisCommandQueue(RedisRole):
    """Submits commands with submit_command.lua and delivers them to the referees."""

    read_result = blocking(read_result)

    def submit(self, envelope: CommandEnvelope) -> None:
        """Queue a command. Submitting it again under the same id is harmless.

        Raises QueueFullError: too many commands wait; InvalidInputError: the envelope is too large."""
        [error] = self.submit_all([envelope])
        if error is not None:
            raise error

    def submit_all(self, envelopes: Sequence[CommandEnvelope]) -> list[Exception | None]:
        """Queue many commands in one round trip: for each, why it isn't queued, or None where it is."""
        channel = self._wakeup_channels[keys.REFEREE_GROUP]
        query = submit_commands(envelopes, self.partitions, self.max_waiting, channel)
        return run(self._client, query)

    def reject_without_entry(self, rejected: Sequence[RejectedCommand]) -> None:
        """Acknowledge commands without log entries, in one round trip; each sender can read the reason for a minute.
        Those on a node that is away stay pending."""
        calls = [
            self._rejection_call(each.delivery, each.envelope, each.rule, each.reason, ())
            for each in rejected
        ]
        available_replies(run(self._client, call_script(REJECT_COMMAND, calls)))

    def move_to_dead_letters(self, delivery: Delivery, envelope: SentBy | None, reason: str) -> None:
        """Move a command that can't be decided to the dead letters. Its sender, where the envelope says who
        it is, finds a rejection for a minute."""
        dead_fields = tuple(dead_letter_fields(reason, delivery.data, delivery.delivery_count))
        call = self._rejection_call(delivery, envelope, "POISON-1", POISONED_REASON, dead_fields)
        run_script(self._client, REJECT_COMMAND, [call])

    def prune_consumers(self, partitions: Iterable[int], idle_ms: int) -> int:
        """Remove consumers, of bot tasks too, with nothing pending that were silent for so long; how many."""
        partition_list = list(partitions)
        groups = self.commands, self._task_group
        return sum(group.prune_consumers(partition_list, idle_ms) for group in groups)

    def _rejection_call(
        self,
        delivery: Delivery,
        envelope: SentBy | None,
        rule: str,
        reason: str,
        dead_fields: Sequence[Argument],
    ) -> ScriptCall:
        partition = delivery.partition
        commands, dead_letters = keys.commands(partition), keys.dead_letters(partition)
        if envelope is None:  # its sender isn't known
            rejection_key, kept_reason, not_kept_reason, channel, game = commands, b"", b"", "", ""
        else:
            game = envelope.game
            rejection_key = keys.rejection(partition, game, envelope.seat, envelope.id)
            kept_reason, not_kept_reason = pack((rule, reason)), pack((rule, NOT_KEPT_REASON))
            channel = keys.notification_channel(partition, game)
        arguments = [
            keys.REFEREE_GROUP,
            delivery.id,
            kept_reason,
            REJECTION_TTL_S,
            channel,
            game,
            MAX_DEAD_LETTERS,
            not_kept_reason,
            self._publish_command,
            *dead_fields,
        ]
        return [commands, rejection_key, dead_letters], arguments


CREATOR_S: Final = 30 * DAY_S  # then a game's bots share with those of all games whose creators aren't known
LATE_S: Final = 60


def record_creator(partitions: int, game: str, creator: str) -> Query[None]:
    """Record who created a game."""
    key = keys.creator(keys.partition_of(game, partitions), game)
    [reply] = yield [command("SET", key, creator, "EX", CREATOR_S)]
    require_reply(reply)


def read_creators(partitions: int, games: Sequence[str]) -> Query[list[str]]:
    """The creator of each game; the same, empty word for all whose creator can't be known."""
    replies = yield [
        command("GET", keys.creator(keys.partition_of(game, partitions), game)) for game in games
    ]
    return [reply.decode() if isinstance(reply, bytes) else "" for reply in replies]


def record_late_bots(partitions: int, games: Collection[str]) -> Query[None]:
    """Record for a minute that bots of these games wait, where the nodes that have them answer."""
    yield [
        command("SET", keys.late_bots(keys.partition_of(game, partitions), game), "1", "EX", LATE_S)
        for game in games
    ]


def has_late_bots(partitions: int, game: str) -> Query[bool]:
    """Whether bots of a game had to wait within the last minute."""
    [reply] = yield [command("GET", keys.late_bots(keys.partition_of(game, partitions), game))]
    return bool(require_reply(reply))
