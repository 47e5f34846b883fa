"""The entries that one follower is sent, by a WebSocket or in lines: late for a spectator, and the latest with what the
follower's seat may do and what has changed on the table, if it asked for that."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator

from services.gateway.following.entry_encoding import EncodedEntry
from services.gateway.following.subscriptions import DirectSend
from services.gateway.games.service import GatewayService
from services.gateway.sockets.websocket_opening import FollowRequest, Opening
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
