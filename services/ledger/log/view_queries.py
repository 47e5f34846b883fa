"""Reading views and heads of many games in one round trip. See `queries`.

The damage of one game is that game's result: it never fails the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from redis.exceptions import RedisError

from schemas.errors import CorruptDataError
from services.ledger.engine import keys
from services.ledger.engine.queries import Query, RedisCommand, Reply, command
from services.ledger.log.view_pages import (
    ViewPage,
    ViewRequest,
    build_page,
    first_read,
    last_read,
)
from services.ledger.ports.protocols import MissingEntryError
from services.ledger.scripts.replies import require_game_reply
from services.ledger.scripts.stored_entries import parse_head, parse_stored
from services.ledger.scripts.view_merge import LogRewoundError

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
    meanwhile: then it has an empty page."""
    commands = [each for request in requests for each in _commands(partitions, request, limit, may_end)]
    replies = iter((yield commands))
    pages: list[ViewPageOrError] = []
    for request in requests:
        # All of a game's replies are taken before one of them can be found damaged.
        own_replies = next(replies), next(replies)
        if may_end and not next(replies):
            own_replies = None, ()
        pages.append(_page_or_error(request, limit, *own_replies))
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
        command("GET", keys.chain_head(keys.partition_of(game, partitions), game)) for game in games
    ]
    return [_parse_head(game, reply) for game, reply in zip(games, replies, strict=True)]


def _commands(partitions: int, request: ViewRequest, limit: int, may_end: bool) -> list[RedisCommand]:
    """The chain head comes before the public stream, so that the stream reaches that head; and the first public entry
    after it, which shows that the stream was there."""
    game, partition = request.game, keys.partition_of(request.game, partitions)
    public = keys.public_view(partition, game)
    commands = [
        command("GET", keys.chain_head(partition, game)),
        command("XRANGE", public, f"{first_read(request)}-0", f"{last_read(request, limit)}-0"),
    ]
    if may_end:
        commands.append(command("XRANGE", public, "-", "+", "COUNT", 1))
    return commands


def _page_or_error(request: ViewRequest, limit: int, head: Reply, entries: Reply) -> ViewPageOrError:
    try:
        chain_head = parse_head(require_game_reply(request.game, head))
        stored = parse_stored(require_game_reply(request.game, entries))
        return build_page(request, limit, chain_head, stored)
    except (MissingEntryError, CorruptDataError, LogRewoundError, RedisError) as error:
        return error


def _parse_head(game: str, reply: Reply) -> LogHead | CorruptDataError | RedisError:
    try:
        return LogHead(*(parse_head(require_game_reply(game, reply)) or (0, b"")))
    except (CorruptDataError, RedisError) as error:
        return error
