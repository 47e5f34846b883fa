"""A view as lines of JSON (NDJSON) that end when the game does: for curl, and for programs without a WebSocket.

The first line says where the log is (`attached`), then comes an entry a line. While nothing happens a line `alive` comes
every KEEP_ALIVE_S, with the last entry's number and head. The last line is `closed`, with a code and a reason as a
WebSocket's closing has them: after 4001 come back and go on, after 4002 begin anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

from pydantic_core import to_json

from services.gateway.following.entry_encoding import EncodedEntry, encode_entry
from services.gateway.following.spectator_delay import delay_entries
from services.gateway.following.subscriptions import Subscription
from services.gateway.games.service import GatewayService
from services.gateway.sockets.follow_endings import ENDING_ERRORS, OVER, describe_ending
from services.gateway.sockets.websocket_opening import KnownEntry, Opening, require_known_entry
from services.gateway.tables.legal_folds import LegalFolds, add_legal

MEDIA_TYPE: Final = "application/x-ndjson"
KEEP_ALIVE_S: Final = 15.0


class EntryLines:
    """The lines of one follower, who has the entries up to `known`."""

    def __init__(
        self,
        service: GatewayService,
        game: str,
        opening: Opening,
        known: KnownEntry,
        proofs: bool,
        legal_folds: LegalFolds | None,
    ) -> None:
        self.service, self.game, self.opening, self.known = service, game, opening, known
        self.proofs, self.legal_folds = proofs, legal_folds
        self.number, self.head = known

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
        await require_known_entry(self.service, self.game, self.opening, self.known)
        if self.opening.archived_view is not None:
            for archived in self.opening.archived_view[self.known.sequence :]:
                yield encode_entry(archived, self.proofs).text.encode() + b"\n"
            return
        if (
            self.known.sequence == self.opening.log_head.sequence
            and await self.service.finished_games.is_over(self.game)
        ):
            return
        hub, viewer = self.service.hub, self.opening.viewer
        subscription = hub.subscribe(self.game, viewer, self.known.sequence, self.proofs)
        try:
            delay = await self.service.views.spectator_delay(self.game, viewer)
            followed = hub.follow(self.game, subscription, self.known.sequence, head=self.known.head)
            async for entry in self._watched(delay_entries(followed, delay) if delay else followed):
                if entry is None:
                    yield _line("alive", number=self.number, head=self.head.hex() or None)
                    continue
                self.number, self.head = entry.number, entry.head
                yield (await self._text(entry, subscription)).encode() + b"\n"
                if entry.ends_game:
                    return
        finally:
            hub.unsubscribe(self.game, subscription)

    async def _watched(self, entries: AsyncIterator[EncodedEntry]) -> AsyncIterator[EncodedEntry | None]:
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

    async def _text(self, entry: EncodedEntry, subscription: Subscription) -> str:
        is_latest = entry.number >= subscription.start and subscription.queue.empty()
        if self.legal_folds is None or self.opening.viewer is None or not is_latest:
            return entry.text
        return await add_legal(self.legal_folds, self.game, self.opening.viewer, entry)


def _line(type_: str, **fields: object) -> bytes:
    return to_json({"type": type_, **fields}) + b"\n"
