"""Entries as streams hold them, and what follows from them. Pure.

The public view has the private parts too, the log holds only what the view doesn't, and each 16th public entry has its
head; the last head is in the key of the chain head. Readers compute the heads between, and compare where one is stored.
A seat's view is the public entries with its private parts in their places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from schemas.stored.codec import build_view_entry, join_entry, read_private_part
from schemas.stored.entries import ViewEntry
from schemas.stored.hash_chain import initial_head, next_head
from services.ledger.engine.queries import Reply
from services.ledger.ports import LogRewoundError, MissingEntryError

NumberedEntry = tuple[int, bytes]
PublicEntry = tuple[int, bytes, bytes]  # number, public entry, the head after it; empty where it isn't known


def require_same_head(after: int, head: bytes, public: Sequence[PublicEntry]) -> Sequence[PublicEntry]:
    """What follows entry `after` in a public view that was read from that entry on.

    Raises LogRewoundError unless the entry is there and has this head, where both are known."""
    if not public or public[0][0] != after:
        raise LogRewoundError(f"entry {after} isn't there any more")
    if head and public[0][2] and public[0][2] != head:
        raise LogRewoundError(f"entry {after} isn't the one that was read")
    return public[1:]


def merge_view(
    after: int, public: Sequence[PublicEntry], private_parts: Iterable[NumberedEntry]
) -> list[ViewEntry]:
    """The view after a number. Private parts that are ahead of `public` are left for later.

    Public numbers must be contiguous. Raises MissingEntryError."""
    require_contiguous("public view", after, public)
    parts_by_sequence = index_parts(after, after + len(public), private_parts)
    return [
        build_view_entry(number, data, parts_by_sequence.get(number), head) for number, data, head in public
    ]


def index_parts(after: int, last: int, private_parts: Iterable[NumberedEntry]) -> dict[int, bytes]:
    """A seat's parts after a number, up to the last public entry, by their numbers. Each names the number of the one
    before it, so a lost one shows as soon as a later one is read. Raises MissingEntryError."""
    parts_by_sequence: dict[int, bytes] = {}
    previous_sequence = None
    for number, private_part in private_parts:
        if number > last:
            break
        named_sequence = read_private_part(private_part).previous
        if named_sequence != previous_sequence if previous_sequence is not None else named_sequence > after:
            raise MissingEntryError(
                f"view: the seat's part {named_sequence} is missing before its part {number}"
            )
        parts_by_sequence[number], previous_sequence = private_part, number
    return parts_by_sequence


def require_contiguous(label: str, after: int, entries: Iterable[NumberedEntry | PublicEntry]) -> None:
    """Raises MissingEntryError unless the entries are numbered after+1, after+2, and so on."""
    for expected, entry in enumerate(entries, after + 1):
        if entry[0] != expected:
            raise MissingEntryError(
                f"{label}: entry {expected} is missing, {entry[0]} follows {expected - 1}"
            )


HEAD_INTERVAL: Final = 16  # append_entry.lua has it too


class StoredEntry(NamedTuple):
    """An entry of a game's public stream."""

    number: int
    public: bytes
    head: bytes  # after it; empty where it isn't stored
    private_parts: Mapping[Seat, bytes]  # in the order in which they were sealed


def last_headed(number: int) -> int:
    """The last entry up to this one that has its head; 0 for none."""
    return number // HEAD_INTERVAL * HEAD_INTERVAL


def parse_stored(entries: Iterable[Reply]) -> list[StoredEntry]:
    """The entries of a public stream. Raises CorruptDataError: a field is missing."""
    stored = []
    try:
        for id_, fields in entries:
            number = int(id_.partition(b"-")[0])
            parts = {int(name): part for name, part in fields.items() if name.isdigit()}
            stored.append(StoredEntry(number, fields[b"p"], fields.get(b"h", b""), parts))
    except KeyError:
        raise CorruptDataError("an entry has no field b'p'") from None
    return stored


def parse_head(reply: Reply) -> tuple[int, bytes] | None:
    """The last entry's number and the head after it, from the key of the chain head; None where there is no such key.

    Raises CorruptDataError."""
    if reply is None:
        return None
    number, _, head = reply.partition(b" ")
    if not number.isdigit():
        raise CorruptDataError(f"no chain head is in {reply[:60]!r}")
    return int(number), head


def with_heads(game: str, entries: Sequence[PublicEntry], head_before: bytes = b"") -> list[PublicEntry]:
    """The entries, each with the head after it, compared with those that are known.

    `head_before` is the head before the first; where it isn't given, these begin with the game's first entry or one
    that has its head. Raises CorruptDataError: a stored head isn't the one that follows."""
    head = head_before or (initial_head(game) if entries and entries[0][0] == 1 else b"")
    result: list[PublicEntry] = []
    for number, public, stored_head in entries:
        if head:
            head = next_head(head, number, public)
            if stored_head and stored_head != head:
                raise CorruptDataError(
                    f"entry {number} of {game} has another head than follows from the entries"
                )
        else:
            head = stored_head
        result.append((number, public, head))
    return result


def join_log(
    game: str, log_entries: Iterable[Reply], stored: Sequence[StoredEntry], after: int = 0
) -> list[bytes]:
    """The entries of a log after a number; `stored` are the public entries after that number.

    Raises MissingEntryError or CorruptDataError."""
    by_number = {entry.number: entry for entry in stored}
    entries: list[tuple[int, bytes]] = []
    for id_, fields in log_entries:
        number, secret = int(id_.partition(b"-")[0]), fields.get(b"s")
        if secret is None:
            raise CorruptDataError("an entry has no field b's'")
        if (public := by_number.get(number)) is None:
            raise MissingEntryError(f"public view of {game}: entry {number} is missing")
        entries.append((number, join_entry(public.public, public.private_parts.items(), secret)))
    require_contiguous(f"log of {game}", after, entries)
    return [entry for _, entry in entries]


def head_after(game: str, length: int, stored: Sequence[StoredEntry]) -> bytes:
    """The head after entry `length`, from all public entries of the game; empty where that entry isn't there."""
    stored = [entry for entry in stored if entry.number <= length]
    if not stored or stored[-1].number != length:
        return b"" if length else initial_head(game)
    start = next((at for at in range(len(stored) - 1, -1, -1) if stored[at].head), None)
    head = initial_head(game) if start is None else stored[start].head
    for entry in stored[0 if start is None else start + 1 :]:
        head = next_head(head, entry.number, entry.public)
    return head


def head_of_last(game: str, number: int, last: Sequence[bytes]) -> bytes:
    """The head after an entry, from what confirm_entry.lua returns of the entries before it: the public bytes and the
    stored head of each, one after the other; empty where they don't show it. Raises CorruptDataError."""
    first = max(1, last_headed(number))
    entries = with_heads(game, [*zip(range(first, number + 1), last[::2], last[1::2], strict=False)])
    return entries[-1][2] if entries and entries[-1][0] == number else b""
