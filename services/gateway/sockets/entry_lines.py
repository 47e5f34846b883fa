"""A view as lines of JSON (NDJSON) that end when the game does: for curl, and for programs without a WebSocket.

The first line says where the log is (`attached`), then comes an entry a line. While nothing happens a line `alive` comes
every KEEP_ALIVE_S, with the last entry's number and head. The last line is `closed`, with a code and a reason as a
WebSocket's closing has them: after 4001 come back and go on, after 4002 begin anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import Final

from pydantic_core import to_json

from services.gateway.following.entry_encoding import EncodedEntry, encode_entry
from services.gateway.games.service import GatewayService
from services.gateway.sockets.follow_endings import ENDING_ERRORS, OVER, describe_ending
from services.gateway.sockets.followed_view import follow_view
from services.gateway.sockets.websocket_opening import FollowRequest, Opening, require_known_entry

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
        """The entries, and None where none came for a while. Raises RequestError once the token is void."""
        token = asyncio.ensure_future(self.service.authorization.watch(self.game, self.opening.bearer))
        following = None
        try:
            while True:
                following = following or asyncio.ensure_future(anext(entries))
                waiting = {following} if token.done() and not token.exception() else {following, token}
                done, _ = await asyncio.wait(
                    waiting, timeout=KEEP_ALIVE_S, return_when=asyncio.FIRST_COMPLETED
                )
                if token in done:
                    token.result()
                if following in done:
                    entry, following = following.result(), None
                    yield entry
                elif not done:
                    yield None
        finally:
            for task in (token, following):
                if task is not None:
                    task.cancel()
                    with suppress(asyncio.CancelledError, Exception):
                        await task


def _line(type_: str, **fields: object) -> bytes:
    return to_json({"type": type_, **fields}) + b"\n"
