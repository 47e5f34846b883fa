"""Builds the scripts' keys and arguments. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from schemas.commands import CommandEnvelope
from schemas.field_types import Seat
from schemas.stored.codec import pack_envelope
from schemas.stored.player_names import SaltedName
from schemas.stored.rows import pack
from services.ledger.engine import keys
from services.ledger.engine.queries import Argument
from services.ledger.ports import AppendRequest, DuplicateCommand, EvictAt, GameLog
from services.ledger.scripts.lua_scripts import ScriptCall

# No log has this length: the script acknowledges a known command id, and else reports a conflict.
NO_LENGTH: Final = -1

MAX_KNOWN_SENDERS: Final = 16_384  # whose keys are kept ready, of those that sent last; see MAX_KNOWN_STARTS


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


def build_append_call(
    request: AppendRequest | DuplicateCommand, wakeup_channel: str, publish_command: str
) -> ScriptCall:
    """The keys and arguments of append_entry.lua; `publish_command` sends the entry's notification."""
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
    return script_keys, arguments


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


def build_evict_call(game: str, partition: int, seats: int, length: int) -> ScriptCall:
    """The keys and arguments of evict_game.lua."""
    script_keys = [
        keys.log(partition, game),
        keys.deadlines(partition),
        keys.games(partition),
        keys.evictions(partition),
        keys.unlisted_games(partition),
        keys.archived_lengths(partition),
        keys.stream_removals(partition),
        keys.webhook_games(partition),
        keys.player_names(partition, game),
        keys.webhooks(partition, game),
        keys.creator(partition, game),
        keys.late_bots(partition, game),
        keys.game_file(partition, game),
        *_stream_keys(game, partition, seats),
    ]
    return script_keys, [game, length]


def build_removal_call(game: str, partition: int, seats: int, game_log: GameLog, data: bytes) -> ScriptCall:
    """The keys and arguments of remove_streams.lua: `data` is the game's file, made of this log."""
    script_keys = [
        keys.log(partition, game),
        keys.public_view(partition, game),
        keys.game_file(partition, game),
        keys.stream_removals(partition),
        *_stream_keys(game, partition, seats),
    ]
    return script_keys, [game, len(game_log.entries), game_log.head, data]


def _stream_keys(game: str, partition: int, seats: int) -> list[str]:
    """What a game of so many seats has besides its log while it has streams: its view, and results of commands."""
    return [
        keys.chain_head(partition, game),
        keys.public_view(partition, game),
        keys.command_results(partition, game, None),
        *(keys.command_results(partition, game, seat) for seat in range(seats)),
    ]


def _name_fields(names: Sequence[SaltedName], left: Sequence[str]) -> Iterator[Argument]:
    """The fields of the hash of names, each with its value; a name that leaves has none."""
    for salted in names:
        yield bytes.fromhex(salted.commitment)
        yield salted.salt + salted.name.encode()
    for commitment in left:
        yield bytes.fromhex(commitment)
        yield b""
