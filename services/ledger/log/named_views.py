"""Views as people are shown them: with the names of the players, which lie beside the log and its views.

Names are read only with the few entries that hold a commitment to one, in a second round trip. See `queries`.
"""

from __future__ import annotations

from collections.abc import Sequence

from redis.exceptions import RedisError

from schemas.errors import CorruptDataError
from schemas.stored.entries import ViewEntry
from schemas.stored.player_names import SaltedNames, committed_names, with_names
from services.ledger.engine.queries import Query
from services.ledger.log.view_pages import ViewPage, ViewRequest
from services.ledger.log.view_queries import PAGE_SIZE, ViewPageOrError, read_views
from services.ledger.scripts.player_names import read_names, try_read_names


def read_named_views(
    partitions: int, requests: Sequence[ViewRequest], limit: int = PAGE_SIZE
) -> Query[list[ViewPageOrError]]:
    """A page for each request, of at most `limit` entries, with names."""
    pages = yield from read_views(partitions, requests, limit)
    games = {
        request.game
        for request, page in zip(requests, pages, strict=True)
        if isinstance(page, ViewPage) and any(map(holds_commitment, page.views.values()))
    }
    names = yield from try_read_names(partitions, sorted(games))
    return [
        _with_names(page, names[request.game]) if request.game in games else page
        for request, page in zip(requests, pages, strict=True)
    ]


def read_named_entry(partitions: int, game: str, entry: ViewEntry) -> Query[ViewEntry]:
    """An entry of a view with names."""
    return (
        with_names(entry, (yield from read_names(partitions, game))) if holds_commitment([entry]) else entry
    )


def holds_commitment(entries: Sequence[ViewEntry]) -> bool:
    """Whether any of these entries commits to a name."""
    return any(committed_names(entry.events) for entry in entries)


def _with_names(page: ViewPageOrError, names: SaltedNames | CorruptDataError | RedisError) -> ViewPageOrError:
    """Names that are damaged are none: they stop no game."""
    if isinstance(names, RedisError) or not isinstance(page, ViewPage):
        return names if isinstance(names, RedisError) else page
    known = {} if isinstance(names, CorruptDataError) else names
    views = {viewer: [with_names(entry, known) for entry in view] for viewer, view in page.views.items()}
    return page._replace(views=views)
