"""Logs and views as streams: implements `ports.EventStore` and the readers of views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import tee
from typing import Final

from redis.exceptions import AskError, ResponseError, TryAgainError

from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from schemas.stored.hash_chain import initial_head
from schemas.stored.player_names import SaltedName
from schemas.stored.rows import pack
from services.ledger.engine import keys
from services.ledger.engine.cluster import Cluster
from services.ledger.engine.cluster_pipeline import available_replies
from services.ledger.engine.partitions import is_mistyped
from services.ledger.engine.queries import (
    Argument,
    Client,
    RedisCommand,
    Reply,
    blocking,
    require_game_reply,
    run,
)
from services.ledger.log.game_indexes import list_games
from services.ledger.log.views import (
    PAGE_SIZE,
    ViewPageOrError,
    ViewRequest,
    read_heads,
    read_names,
    read_view,
    read_views,
)
from services.ledger.ports import (
    AppendRequest,
    AppendResult,
    AppendStatus,
    Delivery,
    DuplicateCommand,
    EvictAt,
    GameLog,
    NodeAwayError,
)
from services.ledger.queues.consumer_groups import RedisRole
from services.ledger.scripts.lua_scripts import APPEND_ENTRY, MAX_KNOWN_SENDERS, call_forgotten
from services.ledger.scripts.stored_entries import head_after, join_log, parse_stored


def read_game_logs(client: Client, partitions: int, games: Sequence[str]) -> list[GameLog | Exception]:
    """Each log and the head after its last entry, or what is wrong with it. Where there are entries
    but no head (the view is damaged), the head is empty. A game that is stored has no log here."""
    pipe = client.pipeline(transaction=False)
    for game in games:  # the log comes first: the view may have grown meanwhile
        partition = keys.partition_of(game, partitions)
        pipe.xrange(keys.log(partition, game))
        pipe.xrange(keys.public_view(partition, game))
        pipe.exists(keys.game_file(partition, game))  # last: a log that was removed before leaves no doubt
    replies = iter(pipe.execute(raise_on_error=False))
    logs: list[GameLog | Exception] = []
    for game in games:
        log_reply, view_reply, file_reply = next(replies), next(replies), next(replies)
        try:
            log_entries = require_game_reply(game, log_reply)
            if require_game_reply(game, file_reply) and not (log_entries and view_reply):
                logs.append(GameLog([], initial_head(game), is_stored=True))
                continue
            stored = parse_stored(require_game_reply(game, view_reply))
            entries = join_log(game, log_entries, stored)
            logs.append(GameLog(entries, head_after(game, len(entries), stored)))
        except Exception as error:
            logs.append(error)
    return logs


def read_entries(client: Client, partitions: int, game: str, after: int) -> list[bytes]:
    """The log's entries after a number. Raises MissingEntryError or CorruptDataError."""
    partition, first = keys.partition_of(game, partitions), f"{after + 1}-0"
    pipe = client.pipeline(transaction=False)
    pipe.xrange(keys.log(partition, game), first)
    pipe.xrange(keys.public_view(partition, game), first)
    log_reply, view_reply = pipe.execute(raise_on_error=False)
    log_entries = require_game_reply(game, log_reply)
    if not view_reply and not client.xlen(keys.log(partition, game)):  # the streams were removed meanwhile
        return []
    return join_log(game, log_entries, parse_stored(require_game_reply(game, view_reply)), after)


MAX_CLUSTER_BLOCK_MS: Final = 200  # well below the time in which a node of a cluster has to answer
# No log has this length: the script acknowledges a known command id, and else reports a conflict.
NO_LENGTH: Final = -1
UNKNOWN_RESULT: Final = AppendResult(AppendStatus.UNKNOWN, 0)
DAMAGED_CODE: Final = -2
NO_RIGHTS: Final = ("ACL failure", "The user executing")  # of Valkey and Redis, for a command in a script
STATUS_BY_CODE: Final = {
    1: AppendStatus.APPENDED,
    0: AppendStatus.DUPLICATE,
    -1: AppendStatus.CONFLICT,
    DAMAGED_CODE: AppendStatus.DAMAGED,
}


class RedisEventStore(RedisRole):
    """Writes entries with append_entry.lua, and reads logs and views."""

    read_names = blocking(read_names)
    read_heads = blocking(read_heads)

    def append(self, decided: Iterable[AppendRequest | DuplicateCommand]) -> list[AppendResult]:
        """Write each decision, all of it or nothing, in order, in one round trip: the first may be written while the
        next are decided. Raises what deciding them raises; then those before may have been written."""
        channel, (to_append, appended) = self._wakeup_channels[keys.BOT_GROUP], tee(decided)
        commands = (_append_command(request, channel, self._publish_command) for request in to_append)
        replies, requests = self._send_and_wait(self._client, commands), [*appended]
        if any(isinstance(reply, Exception) for reply in replies):
            replies = self._judge_errors(requests, replies)
        return [
            AppendResult(STATUS_BY_CODE[reply[0]], reply[1]) if reply else UNKNOWN_RESULT for reply in replies
        ]

    def _judge_errors(
        self, requests: Sequence[AppendRequest | DuplicateCommand], replies: list[Reply]
    ) -> list[Reply]:
        """The replies, with what an error means for its command: the script is sent along, its game is damaged, or it
        waits, which isn't counted as a delivery. Raises an error of the engine."""
        channel = self._wakeup_channels[keys.BOT_GROUP]
        commands = [_append_command(request, channel, self._publish_command) for request in requests]
        replies = run(self._client, call_forgotten(APPEND_ENTRY, commands, replies))
        self._set_partitions_aside(requests, replies)
        waiting: list[Delivery] = []
        for index, (request, reply) in enumerate(zip(requests, replies, strict=True)):
            if not isinstance(reply, ResponseError):
                continue
            if _is_script_damage(reply):
                replies[index] = (DAMAGED_CODE, _expected_length(request))
                continue
            if request.delivery.id:
                waiting.append(request.delivery)
            if isinstance(reply, TryAgainError | AskError):  # moving: other games don't wait
                replies[index] = ()
        self.commands.requeue(waiting)
        return available_replies(replies)

    def _set_partitions_aside(
        self, requests: Sequence[AppendRequest | DuplicateCommand], replies: list[Reply]
    ) -> None:
        """Where a partition's own key holds another type, and not only a key of one game, its commands wait as if
        its slot were moving: those too that conflict now, as one before them wasn't written."""
        mistyped = {
            request.delivery.partition
            for request, reply in zip(requests, replies, strict=True)
            if is_mistyped(reply)
        }
        if not mistyped or not self._usable.probe(sorted(mistyped)):
            return
        left_out = mistyped - {*self._usable.among(mistyped)}
        for index, request in enumerate(requests):
            is_written = not isinstance(replies[index], Exception) and replies[index][0] >= 0
            if request.delivery.partition in left_out and not is_written:
                replies[index] = TryAgainError("a key of the partition holds another type")

    def read_entries(self, game: str, after: int = 0) -> list[bytes]:
        """The log's entries after this number. Raises MissingEntryError or CorruptDataError."""
        return read_entries(self._client, self.partitions, game, after)

    def read_log(self, game: str) -> GameLog:
        """The log from its first entry on, and its head. Raises MissingEntryError or CorruptDataError."""
        [game_log] = read_game_logs(self._client, self.partitions, [game])
        if isinstance(game_log, Exception):
            raise game_log
        return game_log

    def read_logs(self, games: Sequence[str]) -> dict[str, GameLog]:
        """Many whole logs in one round trip. A log that `read_log` would raise for is left out."""
        logs = zip(games, read_game_logs(self._client, self.partitions, games), strict=True)
        return {game: game_log for game, game_log in logs if isinstance(game_log, GameLog)}

    def head(self, game: str) -> tuple[int, bytes]:
        """The number of the log's last entry (0 for none) and the head after it."""
        [head] = self.read_heads([game])
        if isinstance(head, Exception):
            raise head
        return head

    def heads(self, games: Sequence[str]) -> dict[str, tuple[int, bytes]]:
        """The heads of many logs, in one round trip, without those on a node that is away. Raises the first other error."""
        found: dict[str, tuple[int, bytes]] = {}
        for game, head in zip(games, self.read_heads(games), strict=True):
            if isinstance(head, NodeAwayError):
                continue
            if isinstance(head, Exception):
                raise head
            found[game] = head
        return found

    def games(self, limit: int = 1000) -> list[str]:
        """The games that the engine holds, public or not, the latest first. Raises NodeAwayError: a list that lacks
        games would do for nobody who looks for all of them."""
        found = run(self._client, list_games(self.partitions, limit, self._usable.log, listed_only=False))
        for error in found.unread.values():
            if isinstance(error, NodeAwayError):
                raise error
        return found.games

    def read_view(self, game: str, viewer: Seat | None, after: int = 0, limit: int = 1000) -> list[ViewEntry]:
        """A viewer's entries after this number. Raises MissingEntryError or CorruptDataError."""
        query = read_view(self.partitions, ViewRequest(game, after, (viewer,)), limit)
        return run(self._client, query).views[viewer]

    def read_views(self, requests: Sequence[ViewRequest], limit: int = PAGE_SIZE) -> list[ViewPageOrError]:
        """A page for each request, in one round trip, of games that are played. The damage of one game, or the error of
        a node that is away, is that game's result alone."""
        return run(self._client, read_views(self.partitions, requests, limit, may_end=False))

    def follow_view(self, game: str, viewer: Seat | None, after: int, block_ms: int) -> list[ViewEntry]:
        """Read the entries that follow, waiting up to `block_ms` for the first."""
        stream = keys.public_view(self.partition_of(game), game)
        if isinstance(self._client, Cluster):
            block_ms = min(block_ms, MAX_CLUSTER_BLOCK_MS)
        block = block_ms if block_ms > 0 else None  # 0 would block for ever
        new_entries = self._client.xread({stream: f"{after}-0"}, count=1, block=block)
        return self.read_view(game, viewer, after) if new_entries else []


def _append_command(
    request: AppendRequest | DuplicateCommand, wakeup_channel: str, publish_command: str
) -> RedisCommand:
    """The call of append_entry.lua; `publish_command` sends the entry's notification."""
    if isinstance(request, DuplicateCommand):
        request = _as_append_request(request)
    game, eviction = request.game, request.eviction
    script_keys, channel = _append_keys(request.delivery.partition, game, request.sender, request.is_listed)
    arguments: list[Argument] = [
        keys.REFEREE_GROUP,
        request.delivery.id,
        request.expected_length,
        request.previous_head,
        request.command_id,
        request.at_ms,
        request.secret,
        request.public,
        request.head,
        "" if request.deadline_ms is None else request.deadline_ms,
        eviction.at_ms if isinstance(eviction, EvictAt) else eviction.value,
        game,
        channel,
        wakeup_channel,
        request.command_digest,
        publish_command,
        len(request.tasks),
        len(request.private_parts),
    ]
    if request.tasks:
        arguments += [pack(tuple(task)) for task in request.tasks]
    for seat_and_part in request.private_parts:
        arguments += seat_and_part
    if request.names or request.names_left:
        arguments += _name_fields(request.names, request.names_left)
    return RedisCommand(("EVALSHA", APPEND_ENTRY.sha, len(script_keys), *script_keys, *arguments))


@lru_cache(MAX_KNOWN_SENDERS)
def _append_keys(
    partition: int, game: str, sender: Seat | None, is_listed: bool
) -> tuple[tuple[str, ...], str]:
    """The keys that append_entry.lua gets for an entry of this sender, and the channel of the game's notifications."""
    script_keys = (
        keys.commands(partition),
        keys.log(partition, game),
        keys.public_view(partition, game),
        keys.command_results(partition, game, sender),
        keys.bot_tasks(partition),
        keys.deadlines(partition),
        keys.games(partition) if is_listed else keys.unlisted_games(partition),
        keys.evictions(partition),
        keys.player_names(partition, game),
        keys.game_file(partition, game),
        keys.chain_head(partition, game),
    )
    return script_keys, keys.notification_channel(partition, game)


def _as_append_request(duplicate: DuplicateCommand) -> AppendRequest:
    """A request that writes nothing, whatever the log's length is."""
    return AppendRequest(
        delivery=duplicate.delivery,
        game=duplicate.game,
        expected_length=NO_LENGTH,
        previous_head=b"",
        sender=duplicate.sender,
        command_id=duplicate.command_id,
        command_digest="",
        at_ms=0,
        secret=b"",
        public=b"",
        head=b"",
        private_parts=(),
        tasks=(),
        deadline_ms=None,
    )


def _name_fields(names: Sequence[SaltedName], left: Sequence[str]) -> Iterator[Argument]:
    """The fields of the hash of names, each with its value; a name that leaves has none."""
    for salted in names:
        yield bytes.fromhex(salted.commitment)
        yield salted.salt + salted.name.encode()
    for commitment in left:
        yield bytes.fromhex(commitment)
        yield b""


def _expected_length(request: AppendRequest | DuplicateCommand) -> int:
    """The log's length when the command was decided; 0 where that isn't known."""
    return 0 if isinstance(request, DuplicateCommand) else max(0, request.expected_length)


def _is_script_damage(error: ResponseError) -> bool:
    """Whether the script itself met a key that isn't as we write it. Any other error is the
    engine's: it can't write now, or not here, and did nothing."""
    message = str(error)
    if type(error) is not ResponseError or message.startswith(("MISCONF", "NOREPLICAS", "BUSY", *NO_RIGHTS)):
        return False
    return "WRONGTYPE" in message or "script" in message
