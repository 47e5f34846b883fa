"""Views and heads of many games in one round trip, and the names that people are shown in them. See `queries`.

The damage of one game is that game's result: it never fails the others. Names lie beside the log and are read, in a
second round trip, only with the few entries that hold a commitment to one.

Names are a hash by commitment beside the log; each value is the salt and the name. append_entry.lua writes the names
that an entry commits to, with that entry. What was erased here is shown to nobody any more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from redis.exceptions import RedisError

from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from schemas.stored.player_names import (
    SALT_BYTES,
    SaltedName,
    SaltedNames,
    by_commitment,
    committed_names,
    with_names,
)
from services.ledger.engine import keys
from services.ledger.engine.queries import (
    Query,
    RedisCommand,
    Reply,
    command,
    require_game_reply,
    require_reply,
)
from services.ledger.ports import LogRewoundError, MissingEntryError
from services.ledger.scripts.stored_entries import (
    HEAD_INTERVAL,
    NumberedEntry,
    PublicEntry,
    StoredEntry,
    index_parts,
    last_headed,
    merge_view,
    parse_head,
    parse_stored,
    require_contiguous,
    require_same_head,
    with_heads,
)


def try_read_names(
    partitions: int, games: Sequence[str]
) -> Query[dict[str, SaltedNames | CorruptDataError | RedisError]]:
    """The names of each of these games, or what is wrong with the game. What isn't as it was written stands for no
    name."""
    if not games:
        return {}
    replies = yield [
        command("HGETALL", keys.player_names(keys.partition_of(game, partitions), game)) for game in games
    ]
    return {game: parse_names(game, reply) for game, reply in zip(games, replies, strict=True)}


def read_names(partitions: int, game: str) -> Query[SaltedNames]:
    """The names of one game. Raises CorruptDataError: the key isn't one of ours."""
    [names] = (yield from try_read_names(partitions, [game])).values()
    if isinstance(names, Exception):
        raise names
    return names


def erase_names(partitions: int, game: str, commitments: Collection[str]) -> Query[int]:
    """Erase names; returns how many there were."""
    if not commitments:
        return 0
    key = keys.player_names(keys.partition_of(game, partitions), game)
    [reply] = yield [command("HDEL", key, *(bytes.fromhex(commitment) for commitment in commitments))]
    return int(require_reply(reply))


def parse_names(game: str, reply: Reply) -> SaltedNames | CorruptDataError | RedisError:
    """The names in a reply with all fields of the hash, or what is wrong with it."""
    try:
        fields: Mapping[bytes, bytes] = require_game_reply(game, reply)
    except (CorruptDataError, RedisError) as error:
        return error
    names = by_commitment(
        [
            SaltedName(value[:SALT_BYTES], value[SALT_BYTES:].decode(errors="replace"))
            for value in fields.values()
        ]
    )
    return {commitment: salted for commitment, salted in names.items() if bytes.fromhex(commitment) in fields}


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
    public = [(entry.number, entry.public, entry.head) for entry in stored]
    require_contiguous("public view", first_of_page(request) - 1, public)
    if not request.head or not request.after:
        return with_heads(request.game, public, request.head or b"")
    try:
        following = with_heads(request.game, public[1:], request.head)
    except CorruptDataError as error:
        raise LogRewoundError(f"entry {request.after} isn't the one that was read: {error}") from None
    return [(*public[0][:2], stored[0].head or request.head), *following]


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


def read_length(partitions: int, game: str) -> Query[int]:
    """How many entries the game has."""
    [reply] = yield [command("XLEN", keys.public_view(keys.partition_of(game, partitions), game))]
    length: int = require_reply(reply)
    return length


def read_heads(partitions: int, games: Sequence[str]) -> Query[list[LogHead | CorruptDataError | RedisError]]:
    """The last entry of each of these games, or what is wrong with the game."""
    if not games:
        return []
    at = {game: keys.partition_of(game, partitions) for game in games}
    replies = yield [command("GET", keys.chain_head(at[game], game)) for game in games]
    heads = dict(zip(games, replies, strict=True))
    if lost := [game for game in games if heads[game] is None]:  # or there is no such game
        ends = [command("XREVRANGE", keys.public_view(at[game], game), "+", "-", "COUNT", 1) for game in lost]
        heads |= dict(zip(lost, (yield ends), strict=True))
    return [_parse_head(game, heads[game]) for game in games]


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
    """From the chain head, or, in a game that lost it, from the last public entry."""
    try:
        if isinstance(require_game_reply(game, reply), bytes):
            return LogHead(*(parse_head(reply) or (0, b"")))
        return LogHead(int(reply[0][0].partition(b"-")[0]) if reply else 0, b"")
    except (CorruptDataError, RedisError) as error:
        return error


def read_named_views(
    partitions: int, requests: Sequence[ViewRequest], limit: int = PAGE_SIZE
) -> Query[list[ViewPageOrError]]:
    """A page for each request, of at most `limit` entries, with names, in one round trip. The damage of one game, or the
    RedisError of a node that is away, is that game's result alone."""
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
