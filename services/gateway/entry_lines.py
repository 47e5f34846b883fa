"""A view as lines of JSON (NDJSON) that end when the game does: for curl, and for programs without a WebSocket.

The first line says where the log is (`attached`), then comes an entry a line. While nothing happens a line `alive` comes
every KEEP_ALIVE_S, with the last entry's number and head. The last line is `closed`, with a code and a reason as a
WebSocket's closing has them: after 4001 come back and go on, after 4002 begin anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Final

from pydantic_core import to_json

from schemas.errors import CorruptDataError
from services.gateway.legal_folds import LegalFolds, add_legal
from services.gateway.problem_details import HttpProblemError
from services.gateway.service import GatewayService
from services.gateway.spectator_delay import delay_entries
from services.gateway.subscriptions import (
    EncodedEntry,
    SlowConsumerError,
    Subscription,
    ViewDamagedError,
    encode_entry,
)
from services.gateway.websocket_opening import BeyondEndError, KnownEntry, Opening, require_known_entry
from services.gateway.websocket_protocol import CloseCode
from services.ledger import MissingEntryError
from services.ledger.errors import ENGINE_ERRORS
from services.ledger.view_merge import LogRewoundError
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
MEDIA_TYPE: Final = "application/x-ndjson"
KEEP_ALIVE_S: Final = 15.0
OVER: Final = "the game is over"
REWOUND: Final = "the engine lost the last entries: come back from 0"
DAMAGED: Final = "this game's view is damaged"


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
        keep_alive_s: Callable[[], float] = lambda: KEEP_ALIVE_S,
    ) -> None:
        self.service, self.game, self.opening, self.known = service, game, opening, known
        self.proofs, self.legal_folds, self.keep_alive_s = proofs, legal_folds, keep_alive_s
        self.number, self.head = known

    async def lines(self) -> AsyncIterator[bytes]:
        """All lines, until the game is over or something ends them."""
        number, head = self.opening.log_head
        yield _line("attached", number=number, head=head.hex() or None)
        try:
            async for line in self._entries():
                yield line
            code, reason = CloseCode.NORMAL, OVER
        except BeyondEndError as beyond:
            code, reason = CloseCode.BEGIN_ANEW, f"{beyond}: come back from 0"
        except HttpProblemError as invalid:
            code, reason = CloseCode.POLICY_VIOLATION, str(invalid)
        except SlowConsumerError as slow:
            code, reason = CloseCode.GO_ON, f"{slow}: come back and go on"
        except LogRewoundError:
            code, reason = CloseCode.BEGIN_ANEW, REWOUND
        except (ViewDamagedError, MissingEntryError, CorruptDataError) as damaged:
            log.error("stream ended", game=self.game, seat=self.opening.viewer, error=str(damaged))
            code, reason = CloseCode.INTERNAL_ERROR, DAMAGED
        except ENGINE_ERRORS as unreachable:
            log.error("stream ended", game=self.game, seat=self.opening.viewer, error=str(unreachable))
            code, reason = CloseCode.GO_ON, "the engine doesn't answer: come back and go on"
        yield _line("closed", code=int(code), reason=reason)

    async def _entries(self) -> AsyncIterator[bytes]:
        await require_known_entry(self.service, self.game, self.opening, self.known)
        if self.opening.archived_view is not None:
            for entry in self.opening.archived_view[self.known.sequence :]:
                yield encode_entry(entry, self.proofs).text.encode() + b"\n"
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
        """The entries, and None where none came for a while. Raises HttpProblemError once the token is void."""
        token = asyncio.ensure_future(self.service.authorization.watch(self.game, self.opening.bearer))
        following = None
        try:
            while True:
                following = following or asyncio.ensure_future(anext(entries))
                waiting = {following} if token.done() and not token.exception() else {following, token}
                done, _ = await asyncio.wait(
                    waiting, timeout=self.keep_alive_s(), return_when=asyncio.FIRST_COMPLETED
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
