"""Merges the public stream and a seat's private stream into one view, by number. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schemas.errors import LedgerlineError
from schemas.stored.codec import build_view_entry, read_previous_part
from schemas.stored.entries import ViewEntry
from services.ledger.ports.protocols import MissingEntryError

NumberedEntry = tuple[int, bytes]
PublicEntry = tuple[int, bytes, bytes]  # number, public entry, the head after it


class LogRewoundError(LedgerlineError):
    """An entry that was read isn't there any more: the log lost its end, and may have grown again."""


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
    require_contiguous("public view", after, ((number, data) for number, data, _ in public))
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
        named_sequence = read_previous_part(private_part)
        if named_sequence != previous_sequence if previous_sequence is not None else named_sequence > after:
            raise MissingEntryError(
                f"view: the seat's part {named_sequence} is missing before its part {number}"
            )
        parts_by_sequence[number], previous_sequence = private_part, number
    return parts_by_sequence


def require_contiguous(label: str, after: int, entries: Iterable[NumberedEntry]) -> None:
    """Raises MissingEntryError unless the entries are numbered after+1, after+2, and so on."""
    for expected, (sequence, _) in enumerate(entries, after + 1):
        if sequence != expected:
            raise MissingEntryError(
                f"{label}: entry {expected} is missing, {sequence} follows {expected - 1}"
            )
