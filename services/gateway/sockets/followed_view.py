"""The entries that one follower is sent, by a WebSocket or in lines: late for a spectator, and the latest with what the
follower's seat may do and what has changed on the table, if it asked for that.

As lines of JSON (NDJSON) a view ends when the game does: for curl, and for programs without a WebSocket. The first
line says where the log is (`attached`), then comes an entry a line. While nothing happens a line `alive` comes every
KEEP_ALIVE_S, with the last entry's number and head. The last line is `closed`, with a code and a reason as a
WebSocket's closing has them: after 4001 come back and go on, after 4002 begin anew.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import Final

from pydantic_core import to_json

from services.gateway.following.entry_encoding import EncodedEntry, encode_entry
from services.gateway.following.subscriptions import DirectSend
from services.gateway.games.service import GatewayService
from services.gateway.sockets.websocket_opening import (
    ENDING_ERRORS,
    OVER,
    FollowRequest,
    Opening,
    describe_ending,
    require_known_entry,
)
from services.gateway.tables.table_folds import FoldKey, TableFolds


class FollowedTable:
    """The table as one follower was sent it last: an entry brings what has changed since then."""

    def __init__(self, folds: TableFolds, key: FoldKey, since: int, client: str) -> None:
        self.folds, self.key, self.since, self.client = folds, key, since, client
        self._sent: dict[str, int] = {}  # hashes of the fields

    async def with_state(self, entry: EncodedEntry, text: str) -> str:
        """The latest entry's text with the fields of the table that have changed, at first all of them, and the moves since
        then. Raises as `TableFolds.table_after`."""
        found = await self.folds.table_after(
            self.key, entry, self.since, self.client, is_first=not self._sent
        )
        if found is None:
            return text
        (fields, hashes, since_ms), moves = found
        age_ms = max(0, time.time_ns() // 1_000_000 - since_ms)
        changed = [
            f',"{name}":{json.decode()}'
            for name, json in fields.items()
            if self._sent.get(name) != hashes[name]
        ]
        self._sent, self.since = hashes, entry.number
        return f'{text[:-1]},"state":{{"age_ms":{age_ms},"moves":{moves.decode()}{"".join(changed)}}}}}'


async def follow_view(
    service: GatewayService, request: FollowRequest, opening: Opening, direct_send: DirectSend | None = None
) -> AsyncGenerator[tuple[EncodedEntry, str], None]:
    """Each entry after the one that the follower has, and its text, endlessly. Entries that need no delay and nothing more
    go to `direct_send` instead, once none waits.

    Raises as `Hub.follow`, `TableFolds.legal_after` and `table_after`. Close it where it isn't read to its end."""
    game, viewer, known, folds = request.game, opening.viewer, request.known_entry(), request.legal_folds
    subscription = service.hub.subscribe(game, viewer, known.sequence, request.proofs)
    try:
        delay = await service.views.spectator_delay(game, viewer)
        table = None
        if (showing := request.state_folds) is not None:
            table = FollowedTable(showing, (game, viewer), known.sequence, opening.client)
        if delay or folds or table:
            direct_send = None
        followed = service.hub.follow(game, subscription, known.sequence, direct_send, known.head)
        async for entry in delay_entries(followed, delay) if delay else followed:
            text = entry.text
            start = opening.log_head.sequence if delay else subscription.start
            if entry.number >= start and subscription.queue.empty():
                if folds and viewer is not None:
                    text = await folds.with_legal(game, viewer, entry)
                if table:
                    text = await table.with_state(entry, text)
            yield entry, text
    finally:
        service.hub.unsubscribe(game, subscription)


async def delay_entries(entries: AsyncIterator[EncodedEntry], delay: int) -> AsyncIterator[EncodedEntry]:
    """The entries of a view, each when so many more have followed it (`Access.visible_length`), and all of them once the
    game is over: a game's first one at once."""
    held: deque[EncodedEntry] = deque()
    async for entry in entries:
        held.append(entry)
        kept = 0 if entry.ends_game else delay
        while len(held) > kept or (held and held[0].number == 1):
            yield held.popleft()


MEDIA_TYPE: Final = "application/x-ndjson"
KEEP_ALIVE_S: Final = 15.0
Followed = tuple[EncodedEntry, str]  # and its text


class EntryLines:
    """The lines of one follower, and the last entry that it was sent."""

    def __init__(self, service: GatewayService, request: FollowRequest, opening: Opening) -> None:
        self.service, self.request, self.opening = service, request, opening
        self.game, (self.number, self.head) = request.game, request.known_entry()

    async def lines(self) -> AsyncIterator[bytes]:
        """All lines, until the game is over or something ends them."""
        number, head = self.opening.log_head
        yield _line("attached", number=number, head=head.hex() or None)
        ending = OVER
        try:
            async for line in self._entries():
                yield line
        except ENDING_ERRORS as error:
            ending = describe_ending(error, game=self.game, seat=self.opening.viewer, sequence=self.number)
        yield _line("closed", code=int(ending.code), reason=ending.reason)

    async def _entries(self) -> AsyncIterator[bytes]:
        await require_known_entry(self.service, self.request, self.opening)
        if self.opening.archived_view is not None:
            for archived in self.opening.archived_view[self.request.after :]:
                yield encode_entry(archived, self.request.proofs).text.encode() + b"\n"
            return
        if self.request.after == self.opening.log_head.sequence and await self.service.finished_games.is_over(
            self.game
        ):
            return
        async with (
            aclosing(follow_view(self.service, self.request, self.opening)) as followed,
            aclosing(self._watched(followed)) as watched,
        ):
            async for found in watched:
                if found is None:
                    yield _line("alive", number=self.number, head=self.head.hex() or None)
                    continue
                entry, text = found
                self.number, self.head = entry.number, entry.head
                yield text.encode() + b"\n"
                if entry.ends_game:
                    return

    async def _watched(self, entries: AsyncIterator[Followed]) -> AsyncGenerator[Followed | None, None]:
        """The entries, and None where none came for a while. Raises RequestError once the token is void, GatewayStopsError
        once the gateway stops."""
        with self.service.stopping.follower() as leaves:
            watch = self.service.authorization.watch(self.game, self.opening.bearer, leaves)
            ending, following = asyncio.ensure_future(watch), None
            try:
                while True:
                    following = following or asyncio.ensure_future(anext(entries))
                    waiting = {following, ending}
                    done, _ = await asyncio.wait(
                        waiting, timeout=KEEP_ALIVE_S, return_when=asyncio.FIRST_COMPLETED
                    )
                    if ending in done:
                        ending.result()
                    if following in done:
                        entry, following = following.result(), None
                        yield entry
                    elif not done:
                        yield None
            finally:
                for task in (ending, following):
                    if task is not None:
                        task.cancel()
                        with suppress(asyncio.CancelledError, Exception):
                            await task


def _line(type_: str, **fields: object) -> bytes:
    return to_json({"type": type_, **fields}) + b"\n"
