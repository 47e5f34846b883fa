"""The scripts' keys and arguments, from what is to be done. Pure."""

from __future__ import annotations

from schemas.codec import pack, pack_envelope
from schemas.commands import CommandEnvelope
from services.ledger import keys
from services.ledger.ports import AppendRequest
from services.ledger.scripts import ScriptCall


def build_submit_call(
    envelope: CommandEnvelope, partitions: int, max_waiting: int, wakeup_channel: str = ""
) -> ScriptCall:
    """The keys and arguments of submit_command.lua. Raises Malformed: the letter is too large."""
    partition = keys.partition_of(envelope.game, partitions)
    rejection_key = keys.rejection(partition, envelope.game, envelope.seat, envelope.id)
    return [keys.commands(partition), rejection_key], [max_waiting, pack_envelope(envelope), wakeup_channel]


def build_append_call(request: AppendRequest, wakeup_channel: str) -> ScriptCall:
    """The keys and arguments of append_entry.lua."""
    game, partition, evict_at_ms = request.game, request.delivery.partition, request.evict_at_ms
    script_keys = [
        keys.commands(partition),
        keys.log(partition, game),
        keys.public_view(partition, game),
        keys.command_results(partition, game, request.sender),
        keys.bot_tasks(partition),
        keys.deadlines(partition),
        keys.games(partition),
        keys.evictions(partition),
        *(keys.private_view(partition, game, seat) for seat, _ in request.private_parts),
    ]
    arguments = [
        keys.REFEREE_GROUP,
        request.delivery.id,
        request.expected_length,
        request.previous_head,
        request.command_id,
        request.at_ms,
        request.entry,
        request.public,
        request.head,
        "" if request.deadline_ms is None else request.deadline_ms,
        "=" if evict_at_ms == "as before" else "" if evict_at_ms is None else evict_at_ms,
        game,
        keys.notification_channel(partition),
        wakeup_channel,
        len(request.tasks),
        *(pack(tuple(task)) for task in request.tasks),
        *(private_part for _, private_part in request.private_parts),
    ]
    return script_keys, arguments


def build_evict_call(game: str, partition: int, seats: int, length: int) -> ScriptCall:
    """The keys and arguments of evict_game.lua."""
    script_keys = [
        keys.log(partition, game),
        keys.deadlines(partition),
        keys.games(partition),
        keys.evictions(partition),
        keys.archived_lengths(partition),
        keys.public_view(partition, game),
        keys.command_results(partition, game, None),
        *(keys.private_view(partition, game, seat) for seat in range(seats)),
        *(keys.command_results(partition, game, seat) for seat in range(seats)),
    ]
    return script_keys, [game, length]
