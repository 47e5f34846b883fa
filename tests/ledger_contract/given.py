"""Letters, verdicts and what a store holds: the vocabulary of the ledger's contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schemas.codec import pack_private_part, pack_public
from schemas.commands import CommandEnvelope, DrawBlind
from schemas.events import CardDrawn
from schemas.field_types import Seat
from schemas.rows import VisibilitySplit, event_to_row
from services.ledger import AppendRequest, BotTask, DeliveredCommand, RedisLedger, keys
from tests.conftest import ALL, PARTITIONS

GAME = "game-one"
PARTITION = keys.partition_of(GAME, PARTITIONS)
CLOCKS_OWN = DeliveredCommand(PARTITION, "", b"")
NOON = 1_800_000_000_000


def letter(id_: str, seat: Seat | None = 0, game: str = GAME) -> CommandEnvelope:
    return CommandEnvelope(id_, game, seat, DrawBlind())


def taken(ledger: RedisLedger, *letters: CommandEnvelope, consumer: str = "one") -> list[DeliveredCommand]:
    """These letters, submitted and in the hands of a consumer."""
    for each in letters:
        ledger.submit(each)
    return ledger.take(consumer, ALL, 100, 0)


def again(hands: Sequence[DeliveredCommand], deliveries: int) -> list[DeliveredCommand]:
    """The same letters, handed out so often."""
    return [hand._replace(delivery_count=deliveries) for hand in hands]


def verdict(
    hand: DeliveredCommand = CLOCKS_OWN, expected: int = 0, id_: str = "c1", **told: Any
) -> AppendRequest:
    """A verdict on a blind draw of seat 0, unless told otherwise: decided on the verdicts c1, c2
    and so on, as many as `expected`."""
    known = {
        "delivery": hand,
        "game": GAME,
        "expected_length": expected,
        "previous_head": f"head after c{expected}".encode() if expected > 0 else b"",
        "sender": 0,
        "command_id": id_,
        "at_ms": NOON + expected,
        "entry": f"entry of {id_}".encode(),
        "public": shown(expected),
        "head": f"head after {id_}".encode(),
        "private_parts": [],
        "tasks": [],
        "deadline_ms": None,
    }
    return AppendRequest(**{**known, **told})


def shown(at: int) -> bytes:
    return pack_public(at, VisibilitySplit((event_to_row(CardDrawn(0, None)),), {}, {}))


def own(before: int, answers: str | None = None, card: str = "red") -> bytes:
    return pack_private_part(before, answers, {0: event_to_row(CardDrawn(0, card))})


def note(seat: Seat, number: int) -> BotTask:
    return BotTask(GAME, seat, number, "random")


def whole(expected: int, hand: DeliveredCommand = CLOCKS_OWN, id_: str = "c1") -> AppendRequest:
    """A verdict with everything that a verdict can have."""
    parts, turns = [(0, own(0, id_)), (2, own(0))], [note(1, expected + 1), note(3, expected + 1)]
    return verdict(hand, expected, id_, private_parts=parts, tasks=turns, deadline_ms=NOON + 9000)


def holds(client: Any) -> dict[bytes, object]:
    """Everything that the store holds: every key with its contents, and who has what in hand."""
    call: Any = client
    found: dict[bytes, object] = {}
    for key in sorted(call.scan_iter()):  # of every node
        kind = call.type(key)
        if kind == b"stream":
            groups = [group["name"] for group in call.xinfo_groups(key)]
            found[key] = call.xrange(key), [in_hand(call, key, group) for group in groups]
        else:
            found[key] = READ[kind](call, key)
    return found


def in_hand(call: Any, key: bytes | str, group: bytes | str) -> list[tuple[bytes, bytes]]:
    """Which entries of a stream are pending, and with whom."""
    pending = call.xpending_range(key, group, "-", "+", 1000)
    return [(entry["message_id"], entry["consumer"]) for entry in pending]


READ: dict[bytes, Any] = {
    b"hash": lambda call, key: call.hgetall(key),
    b"zset": lambda call, key: call.zrange(key, 0, -1, withscores=True),
    b"string": lambda call, key: call.get(key),
}
