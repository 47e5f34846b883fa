"""Reading views and heads of many games in one round trip. See `queries`.

The damage of one game is that game's result: it never fails the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from redis.exceptions import RedisError

from schemas.entries import ViewEntry
from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from services.ledger import keys
from services.ledger.ports import MissingEntryError
from services.ledger.queries import Query, RedisCommand, Reply, command
from services.ledger.replies import parse_entries, parse_public_entries, require_game_reply
from services.ledger.view_merge import (
    LogRewoundError,
    PublicEntry,
    index_parts,
    merge_view,
    require_same_head,
)

PAGE_SIZE: Final = 500


class ViewRequest(NamedTuple):
    """Which viewers want a game's entries after a number. With `head`, the entry of that number is
    read again and must have that head; where it is empty, the entry must be there. `parts` asks for private parts
    alone, of each of these seats after a number of its own."""

    game: str
    after: int
    viewers: Sequence[Seat | None]
    head: bytes | None = None
    parts: Sequence[tuple[Seat, int]] = ()

    @property
    def first_sequence(self) -> int:
        """The first public entry to read."""
        return self.after + (self.head is None or not self.after)


class ViewPage(NamedTuple):
    """The entries of each viewer, the head after the last entry, and the head before the first; empty
    where it isn't known. Private parts that were asked for alone are by seat and number."""

    views: Mapping[Seat | None, list[ViewEntry]]
    head: bytes
    previous_head: bytes
    parts: Mapping[Seat, PartsOrError] = {}


# The private parts of one seat by number, or what is wrong with them: the damage of one seat's is no other's.
PartsOrError = Mapping[int, bytes] | MissingEntryError | CorruptDataError | RedisError
# A page of one game, its damage, or the error of its node.
ViewPageOrError = ViewPage | MissingEntryError | CorruptDataError | LogRewoundError | RedisError


class LogHead(NamedTuple):
    """The last entry of a game (0: it has none) and the head after it (empty: it has none)."""

    sequence: int
    head: bytes


def read_views(
    partitions: int, requests: Sequence[ViewRequest], limit: int = PAGE_SIZE
) -> Query[list[ViewPageOrError]]:
    """A page for each request, of at most `limit` entries."""
    replies = iter((yield [each for request in requests for each in _commands(partitions, request, limit)]))
    pages: list[ViewPageOrError] = []
    for request in requests:
        # All of a game's replies are taken before one of them can be found damaged.
        public_reply = next(replies)
        private_replies = {viewer: next(replies) if viewer is not None else () for viewer in request.viewers}
        part_replies = [next(replies) for _ in request.parts]
        page = _page_or_error(request, public_reply, private_replies)
        if part_replies and isinstance(page, ViewPage):
            page = page._replace(parts=_index_parts(request, page, part_replies))
        pages.append(page)
    return pages


def read_view(partitions: int, request: ViewRequest, limit: int) -> Query[ViewPage]:
    """The page of one request. Raises its error."""
    [page] = yield from read_views(partitions, [request], limit)
    if not isinstance(page, ViewPage):
        raise page
    return page


def read_heads(partitions: int, games: Sequence[str]) -> Query[list[LogHead | CorruptDataError | RedisError]]:
    """The last entry of each of these games, or what is wrong with the game."""
    if not games:
        return []
    replies = yield [
        command(
            "XREVRANGE", keys.public_view(keys.partition_of(game, partitions), game), "+", "-", "COUNT", 1
        )
        for game in games
    ]
    return [_parse_head(game, reply) for game, reply in zip(games, replies, strict=True)]


def _commands(partitions: int, request: ViewRequest, limit: int) -> list[RedisCommand]:
    """The public stream comes before the private ones, so that no private part is older than its entry."""
    game, partition = request.game, keys.partition_of(request.game, partitions)
    last = f"{request.after + limit}-0"
    return [
        command("XRANGE", keys.public_view(partition, game), f"{request.first_sequence}-0", last),
        *(
            command("XRANGE", keys.private_view(partition, game, seat), f"{request.after + 1}-0", last)
            for seat in request.viewers
            if seat is not None
        ),
        *(
            command("XRANGE", keys.private_view(partition, game, seat), f"{after + 1}-0", last)
            for seat, after in request.parts
        ),
    ]


def _page_or_error(
    request: ViewRequest, public_reply: Reply, private_replies: Mapping[Seat | None, Reply]
) -> ViewPageOrError:
    """A game's replies as its page. One error makes the whole game's result that error: a view without
    a seat's private parts would be another view."""
    try:
        for reply in (public_reply, *private_replies.values()):
            require_game_reply(request.game, reply)
        return _build_page(request, public_reply, private_replies)
    except (MissingEntryError, CorruptDataError, LogRewoundError, RedisError) as error:
        return error


def _build_page(
    request: ViewRequest, public_reply: Reply, private_replies: Mapping[Seat | None, Reply]
) -> ViewPage:
    """Raises MissingEntryError, CorruptDataError or LogRewoundError."""
    entries = parse_public_entries(public_reply)
    public: Sequence[PublicEntry] = entries
    previous_head = request.head or b""
    if request.first_sequence == request.after:
        public = require_same_head(request.after, previous_head, entries)
        previous_head = entries[0][2]
    views = {
        viewer: merge_view(request.after, public, parse_entries(private_reply))
        for viewer, private_reply in private_replies.items()
    }
    return ViewPage(views, entries[-1][2] if entries else b"", previous_head)


def _index_parts(
    request: ViewRequest, page: ViewPage, part_replies: Sequence[Reply]
) -> dict[Seat, PartsOrError]:
    """The private parts of each seat, up to the page's last entry."""
    last = max([request.after, *(entries[-1].number for entries in page.views.values() if entries)])
    parts = dict[Seat, PartsOrError]()
    for (seat, after), reply in zip(request.parts, part_replies, strict=True):
        try:
            entries = parse_entries(require_game_reply(request.game, reply))
            parts[seat] = index_parts(after, last, entries)
        except (MissingEntryError, CorruptDataError, RedisError) as error:
            parts[seat] = error
    return parts


def _parse_head(game: str, reply: Reply) -> LogHead | CorruptDataError | RedisError:
    try:
        entries = parse_public_entries(require_game_reply(game, reply))
    except (CorruptDataError, RedisError) as error:
        return error
    return LogHead(entries[-1][0], entries[-1][2]) if entries else LogHead(0, b"")
