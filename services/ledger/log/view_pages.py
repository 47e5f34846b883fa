"""A page of a game's views, from the entries that were read for it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from services.ledger.ports.protocols import MissingEntryError
from services.ledger.scripts.stored_entries import HEAD_INTERVAL, StoredEntry, last_headed, with_heads
from services.ledger.scripts.view_merge import (
    LogRewoundError,
    NumberedEntry,
    PublicEntry,
    index_parts,
    merge_view,
    require_contiguous,
    require_same_head,
)


class ViewRequest(NamedTuple):
    """Which viewers want a game's entries after a number. With `head`, the entry of that number is
    read again and must have that head; where it is empty, the entry must be there. `parts` asks for private parts
    alone, of each of these seats after a number of its own."""

    game: str
    after: int
    viewers: Sequence[Seat | None]
    head: bytes | None = None
    parts: Sequence[tuple[Seat, int]] = ()


class ViewPage(NamedTuple):
    """The entries of each viewer, the head after the last entry, and the head before the first; empty
    where it isn't known. Private parts that were asked for alone are by seat and number."""

    views: Mapping[Seat | None, list[ViewEntry]]
    head: bytes
    previous_head: bytes
    parts: Mapping[Seat, PartsOrError] = {}
    is_last: bool = False  # of a game that is over: nothing follows


# The private parts of one seat by number, or what is wrong with them: the damage of one seat's is no other's.
PartsOrError = Mapping[int, bytes] | MissingEntryError | CorruptDataError


def first_of_page(request: ViewRequest) -> int:
    """The first public entry of the page: that of the head that is known, else the last before it that has its head."""
    return max(1, request.after if request.head else last_headed(request.after))


def first_read(request: ViewRequest) -> int:
    """The first public entry to read: those before the page have private parts that are asked for."""
    return min((first_of_page(request), *(after + 1 for _, after in request.parts)))


def last_read(request: ViewRequest, limit: int) -> int:
    """The last one to read: the head of the page's last entry is compared with one that is stored."""
    return last_headed(request.after + limit + HEAD_INTERVAL - 1)


def build_page(
    request: ViewRequest,
    limit: int,
    chain_head: tuple[int, bytes] | None,
    stored: Sequence[StoredEntry],
) -> ViewPage:
    """The page of a request: `stored` are the public entries from `first_read` to `last_read`.

    Raises MissingEntryError, CorruptDataError or LogRewoundError."""
    after, first = request.after, first_of_page(request)
    entries = _with_heads(request, [entry for entry in stored if entry.number >= first])
    if chain_head is not None:
        _require_end(request, limit, chain_head, entries)
    page: Sequence[PublicEntry] = [entry for entry in entries if after <= entry[0] <= after + limit]
    if request.head is None or not after:
        page = [entry for entry in page if entry[0] > after]
    head, previous_head = page[-1][2] if page else b"", request.head or b""
    if after and request.head is not None:
        previous_head = page[0][2] if page else b""
        page = require_same_head(after, request.head, page)
    views = {viewer: merge_view(after, page, _parts_of(viewer, after, stored)) for viewer in request.viewers}
    parts = {
        seat: _index_parts(seat, own, page[-1][0] if page else after, stored) for seat, own in request.parts
    }
    return ViewPage(views, head, previous_head, parts)


def _index_parts(seat: Seat, after: int, last: int, stored: Sequence[StoredEntry]) -> PartsOrError:
    try:
        return index_parts(after, last, _parts_of(seat, after, stored))
    except (MissingEntryError, CorruptDataError) as error:
        return error


def _parts_of(viewer: Seat | None, after: int, stored: Sequence[StoredEntry]) -> list[NumberedEntry]:
    """A seat's private parts among public entries, after a number."""
    if viewer is None:
        return []
    return [
        (entry.number, part)
        for entry in stored
        if entry.number > after and (part := entry.private_parts.get(viewer)) is not None
    ]


def _with_heads(request: ViewRequest, stored: Sequence[StoredEntry]) -> list[PublicEntry]:
    """The entries that were read, each with the head after it."""
    if not stored:
        return []
    numbered = [(entry.number, entry.public) for entry in stored]
    require_contiguous("public view", first_of_page(request) - 1, numbered)
    if not request.head:
        return with_heads(request.game, stored)
    if not request.after:
        return with_heads(request.game, stored, request.head)
    try:
        following = with_heads(request.game, stored[1:], request.head)
    except CorruptDataError as error:
        raise LogRewoundError(f"entry {request.after} isn't the one that was read: {error}") from None
    return [(*numbered[0], stored[0].head or request.head), *following]


def _require_end(
    request: ViewRequest, limit: int, chain_head: tuple[int, bytes], entries: Sequence[PublicEntry]
) -> None:
    """Compare the end of the log, as the chain head has it, with what was read."""
    end, head = chain_head
    last = entries[-1][0] if entries else first_of_page(request) - 1
    if min(end, last_read(request, limit)) > last:
        raise MissingEntryError(f"public view: entry {last + 1} is missing")
    read_head = next((entry[2] for entry in entries if entry[0] == end), head)
    if read_head != head and request.head and request.after:
        raise LogRewoundError(f"entry {request.after} isn't the one that was read")
    if read_head != head:
        raise CorruptDataError(
            f"entry {end} of {request.game} has another head than follows from the entries"
        )
