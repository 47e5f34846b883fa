"""Commands, append requests and the contents of a store: the vocabulary of the ledger's contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

from schemas.commands import CommandEnvelope
from schemas.field_types import Seat
from schemas.stored.codec import (
    Proofs,
    digest_command,
    join_entry,
    pack_entry,
    pack_private_part,
    pack_public,
)
from schemas.stored.entries import Entry
from schemas.stored.hash_chain import initial_head, next_head
from schemas.stored.rows import VisibilitySplit, event_to_row
from schemas.trains.commands import DrawBlind
from schemas.trains.events import CardDrawn
from services.ledger import AppendRequest, BotTask, Delivery, RedisLedger
from services.ledger.engine import keys
from tests.conftest import ALL, PARTITIONS

GAME = "game-one"
PARTITION = keys.partition_of(GAME, PARTITIONS)
SERVER_DELIVERY = Delivery(PARTITION, "", b"")
NOON = 1_800_000_000_000
DIGEST = digest_command(DrawBlind())


def envelope_of(id_: str, seat: Seat | None = 0, game: str = GAME) -> CommandEnvelope:
    return CommandEnvelope(id_, game, seat, DrawBlind())


def submit_and_take(
    ledger: RedisLedger, *envelopes: CommandEnvelope, consumer: str = "one"
) -> list[Delivery]:
    """These commands, submitted and delivered to a consumer."""
    for each in envelopes:
        ledger.submit(each)
    return ledger.commands.take(consumer, ALL, 100, 0)


def redelivered_as(deliveries: Sequence[Delivery], delivery_count: int) -> list[Delivery]:
    """The same commands, delivered so often."""
    return [delivery._replace(delivery_count=delivery_count) for delivery in deliveries]


def append_request(
    delivery: Delivery = SERVER_DELIVERY, expected: int = 0, id_: str = "c1", **given: Any
) -> AppendRequest:
    """An append for a blind draw of seat 0, where nothing else is given: decided on the entries of c1, c2
    and so on, as many as `expected`."""
    known = {
        "delivery": delivery,
        "game": GAME,
        "expected_length": expected,
        "previous_head": head_after(*(f"c{n}" for n in range(1, expected + 1))) if expected > 0 else b"",
        "sender": 0,
        "command_id": id_,
        "command_digest": DIGEST,
        "at_ms": NOON + expected,
        "secret": secret_of(id_),
        "public": public_of(id_),
        "head": head_after(*(f"c{n}" for n in range(1, expected + 1)), id_),
        "private_parts": [],
        "tasks": [],
        "deadline_ms": None,
    }
    return AppendRequest(**{**known, **given})


def public_entry(at: int) -> bytes:
    return pack_public(at, VisibilitySplit((event_to_row(CardDrawn(0, None)),), {}, {}), Proofs(b""))


def public_of(id_: str) -> bytes:
    """The public entry of a command, another for each id."""
    return public_entry(crc32(id_.encode()))


def secret_of(id_: str) -> bytes:
    """What the log alone has of the entry of a command."""
    return pack_entry(Entry(0, id_, 0, DrawBlind(), ()), VisibilitySplit((), {}, {}))[1]


def entry_of(id_: str) -> bytes:
    """The log entry of a command that hides nothing."""
    return logged(append_request(id_=id_))


def logged(request: AppendRequest) -> bytes:
    """The log entry that this request appends."""
    return join_entry(request.public, request.private_parts, request.secret)


def head_after(*ids: str) -> bytes:
    """The head of the game whose entries are those of these commands."""
    head = initial_head(GAME)
    for number, id_ in enumerate(ids, 1):
        head = next_head(head, number, public_of(id_))
    return head


def private_part(before: int, answers: str | None = None, card: str = "red") -> bytes:
    return pack_private_part(before, answers, {0: event_to_row(CardDrawn(0, card))})


def bot_task(seat: Seat, number: int) -> BotTask:
    return BotTask(GAME, seat, number, "random")


def full_request(expected: int, delivery: Delivery = SERVER_DELIVERY, id_: str = "c1") -> AppendRequest:
    """An append with everything that an append can have."""
    parts, tasks = (
        [(0, private_part(0, id_)), (2, private_part(0))],
        [bot_task(1, expected + 1), bot_task(3, expected + 1)],
    )
    return append_request(delivery, expected, id_, private_parts=parts, tasks=tasks, deadline_ms=NOON + 9000)


def contents(client: Any) -> dict[bytes, object]:
    """Everything in the store: every key with its contents, and the pending entries."""
    call: Any = client
    found: dict[bytes, object] = {}
    for key in sorted(call.scan_iter()):  # of every node
        kind = call.type(key)
        if kind == b"stream":
            groups = [group["name"] for group in call.xinfo_groups(key)]
            found[key] = call.xrange(key), [pending_entries(call, key, group) for group in groups]
        else:
            found[key] = READ[kind](call, key)
    return found


def pending_entries(call: Any, key: bytes | str, group: bytes | str) -> list[tuple[bytes, bytes]]:
    """Which entries of a stream are pending, and with whom."""
    pending = call.xpending_range(key, group, "-", "+", 1000)
    return [(entry["message_id"], entry["consumer"]) for entry in pending]


READ: dict[bytes, Any] = {
    b"hash": lambda call, key: call.hgetall(key),
    b"zset": lambda call, key: call.zrange(key, 0, -1, withscores=True),
    b"string": lambda call, key: call.get(key),
}
