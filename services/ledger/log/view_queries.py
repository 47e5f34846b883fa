"""Reading views and heads of many games in one round trip. See `queries`.

The damage of one game is that game's result: it never fails the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from redis.exceptions import RedisError

from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from services.ledger.engine import keys
from services.ledger.engine.queries import Query, RedisCommand, Reply, command
from services.ledger.log.view_pages import (
    PartsOrError,
    ViewPage,
    ViewRequest,
    build_page,
    first_read,
    last_read,
    parts_of,
)
from services.ledger.ports.protocols import MissingEntryError
from services.ledger.scripts.replies import parse_entries, require_game_reply
from services.ledger.scripts.stored_entries import StoredEntry, parse_head, parse_stored
from services.ledger.scripts.view_merge import LogRewoundError, index_parts

PAGE_SIZE: Final = 500


# A page of one game, its damage, or the error of its node.
ViewPageOrError = ViewPage | MissingEntryError | CorruptDataError | LogRewoundError | RedisError


class LogHead(NamedTuple):
    """The last entry of a game (0: it has none) and the head after it (empty: it has none)."""

    sequence: int
    head: bytes


def read_views(
    partitions: int, requests: Sequence[ViewRequest], limit: int = PAGE_SIZE, *, may_end: bool = True
) -> Query[list[ViewPageOrError]]:
    """A page for each request, of at most `limit` entries. Where a game may be over (`may_end`), its streams may go
    meanwhile: then it has an empty page, rather than one that lacks private parts."""
    commands = [each for request in requests for each in _commands(partitions, request, limit, may_end)]
    replies = iter((yield commands))
    pages: list[ViewPageOrError] = []
    for request in requests:
        # All of a game's replies are taken before one of them can be found damaged.
        public_replies = next(replies), next(replies)
        own = iter(()) if request.is_lean else replies
        private_replies = {viewer: next(own, ()) if viewer is not None else () for viewer in request.viewers}
        part_replies = [next(own, ()) for _ in request.parts]
        if may_end and not next(replies):
            public_replies = None, ()
            private_replies, part_replies = dict.fromkeys(private_replies, ()), [() for _ in part_replies]
        pages.append(_page_or_error(request, limit, public_replies, private_replies, part_replies))
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
    at = {game: keys.partition_of(game, partitions) for game in games}
    heads = dict(
        zip(games, (yield [command("GET", keys.chain_head(at[game], game)) for game in games]), strict=True)
    )
    if without := [game for game in games if heads[game] is None]:  # of the first edition
        commands = [
            command("XREVRANGE", keys.public_view(at[game], game), "+", "-", "COUNT", 1) for game in without
        ]
        heads |= dict(zip(without, (yield commands), strict=True))
    return [_parse_head(game, heads[game]) for game in games]


def _commands(partitions: int, request: ViewRequest, limit: int, may_end: bool) -> list[RedisCommand]:
    """The chain head comes before the public stream, and that before the private ones, so that the stream reaches
    that head, and no private part is older than its entry; and the first public entry after them, which shows that all
    of them were there."""
    game, partition = request.game, keys.partition_of(request.game, partitions)
    public, last = keys.public_view(partition, game), f"{last_read(request, limit)}-0"
    commands = [
        command("GET", keys.chain_head(partition, game)),
        command("XRANGE", public, f"{first_read(request)}-0", last),
    ]
    if not request.is_lean:
        viewers = [(viewer, request.after) for viewer in request.viewers if viewer is not None]
        commands += [
            command("XRANGE", keys.private_view(partition, game, seat), f"{after + 1}-0", last)
            for seat, after in (*viewers, *request.parts)
        ]
    if may_end:
        commands.append(command("XRANGE", public, "-", "+", "COUNT", 1))
    return commands


def _page_or_error(
    request: ViewRequest,
    limit: int,
    public_replies: Sequence[Reply],
    private_replies: Mapping[Seat | None, Reply],
    part_replies: Sequence[Reply],
) -> ViewPageOrError:
    """A game's replies as its page. One error makes the whole game's result that error: a view without
    a seat's private parts would be another view."""
    try:
        for reply in (*public_replies, *private_replies.values()):
            require_game_reply(request.game, reply)
        head_reply, entries_reply = public_replies
        stored = parse_stored(entries_reply)
        private_parts = {viewer: parse_entries(reply) for viewer, reply in private_replies.items()}
        page = build_page(request, limit, parse_head(head_reply), stored, private_parts)
    except (MissingEntryError, CorruptDataError, LogRewoundError, RedisError) as error:
        return error
    return page._replace(parts=_index_parts(request, page, stored, part_replies)) if part_replies else page


def _index_parts(
    request: ViewRequest, page: ViewPage, stored: Sequence[StoredEntry], part_replies: Sequence[Reply]
) -> dict[Seat, PartsOrError]:
    """The private parts of each seat, up to the page's last entry: those of streams of their own, or those in the public
    entries."""
    last = max([request.after, *(entries[-1].number for entries in page.views.values() if entries)])
    seats_with_parts = {seat for entry in stored for seat in entry.private_parts}
    parts = dict[Seat, PartsOrError]()
    for (seat, after), reply in zip(request.parts, part_replies, strict=True):
        if not reply and seat not in seats_with_parts:  # as it is for most seats and entries
            parts[seat] = {}
            continue
        try:
            entries = parse_entries(require_game_reply(request.game, reply)) or parts_of(seat, after, stored)
            parts[seat] = index_parts(after, last, entries)
        except (MissingEntryError, CorruptDataError, RedisError) as error:
            parts[seat] = error
    return parts


def _parse_head(game: str, reply: Reply) -> LogHead | CorruptDataError | RedisError:
    """From the chain head, or from the last public entry."""
    try:
        if isinstance(require_game_reply(game, reply), bytes):
            return LogHead(*(parse_head(reply) or (0, b"")))
        entries = parse_stored(reply)
    except (CorruptDataError, RedisError) as error:
        return error
    return LogHead(entries[-1].number, entries[-1].head) if entries else LogHead(0, b"")
