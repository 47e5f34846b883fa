"""Public views as append_entry.lua stores them, for tests that write or change one from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from schemas.field_types import Seat
from schemas.stored.hash_chain import initial_head, next_head
from schemas.stored.rows import pack, unpack
from services.ledger.engine import keys
from services.ledger.scripts.stored_entries import HEAD_INTERVAL

Fields = dict[bytes, bytes]


def public_fields(number: int, public: bytes, head: bytes, parts: Mapping[Seat, bytes]) -> dict[str, bytes]:
    """The fields of a public entry."""
    heads = {"h": head} if number % HEAD_INTERVAL == 0 else {}
    return {"p": public, **{str(seat): part for seat, part in parts.items()}, **heads}


async def add_entry(
    store: Any, partition: int, game: str, number: int, public: bytes, parts: Mapping[Seat, bytes]
) -> None:
    """Add an entry to a game's view, and move its chain head on."""
    before = await store.get(keys.chain_head(partition, game)) or b"0 " + initial_head(game)
    head = next_head(before.partition(b" ")[2], number, public)
    await store.xadd(
        keys.public_view(partition, game), public_fields(number, public, head, parts), f"{number}-0"
    )
    await store.set(keys.chain_head(partition, game), b"%d " % number + head)


def change_entry(
    client: Any, partition: int, game: str, number: int, change: Callable[[Fields], Fields]
) -> bytes:
    """Change the fields of one public entry, with all heads after it: another branch. Returns the last head."""
    stream, head = keys.public_view(partition, game), initial_head(game)
    entries = client.xrange(stream)
    client.delete(stream)
    for at, (id_, fields) in enumerate(entries, 1):
        changed = change(fields) if at == number else fields
        head = next_head(head, at, changed[b"p"])
        client.xadd(stream, changed | ({b"h": head} if b"h" in changed else {}), id_)
    client.set(keys.chain_head(partition, game), b"%d " % len(entries) + head)
    return head


def without_part(seat: Seat) -> Callable[[Fields], Fields]:
    """The change that takes a seat's private part away."""
    return lambda fields: {name: value for name, value in fields.items() if name != b"%d" % seat}


def with_part(seat: Seat, change: Callable[[bytes], bytes]) -> Callable[[Fields], Fields]:
    """The change of a seat's private part; an entry without one stays."""
    name = b"%d" % seat
    return lambda fields: fields | ({name: change(fields[name])} if name in fields else {})


def a_millisecond_later(fields: Fields) -> Fields:
    """The change of an entry's time."""
    form, at, *more = unpack(fields[b"p"])
    return fields | {b"p": pack((form, at + 1, *more))}
