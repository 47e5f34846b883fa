"""The ledger as a gateway uses it, without blocking its event loop."""

from __future__ import annotations

import redis.asyncio

from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from services.ledger.acknowledgements import AckLevel, Confirmations
from services.ledger.engine.cluster import AsyncCluster
from services.ledger.engine.partitions import MistypedKeyLog
from services.ledger.engine.queries import QueryClient, awaited, run_async
from services.ledger.log.game_indexes import GameIds, GamePlace, list_games, read_stored_game
from services.ledger.log.views import (
    PAGE_SIZE,
    ViewRequest,
    read_heads,
    read_length,
    read_named_entry,
    read_named_views,
    read_names,
)
from services.ledger.notifications import GameChannels
from services.ledger.operations.backlog_queries import (
    GATEWAY,
    AsyncBacklogs,
    read_memory,
    read_stored_bytes,
)
from services.ledger.ports import MAX_WAITING_COMMANDS
from services.ledger.queues import membership
from services.ledger.queues.command_submission import submission_to
from services.ledger.queues.task_queues import has_late_bots, read_result, record_creator
from services.ledger.stores.disputes import AsyncDisputeStore
from services.ledger.stores.token_generations import AsyncTokenGenerations
from services.ledger.stores.webhook_store import AsyncWebhookStore


class AsyncLedger(QueryClient):
    """Submits commands and reads views, with the names of their players. It can't read the log of a game that has
    streams."""

    read_result = awaited(read_result)
    read_length = awaited(read_length)
    read_views = awaited(read_named_views)
    read_names = awaited(read_names)
    read_heads = awaited(read_heads)
    read_memory = awaited(read_memory)
    read_stored_bytes = awaited(read_stored_bytes)
    read_stored_game = awaited(read_stored_game)
    record_creator = awaited(record_creator)
    has_late_bots = awaited(has_late_bots)

    def __init__(
        self,
        client: redis.asyncio.Redis,
        partitions: int,
        max_waiting: int = MAX_WAITING_COMMANDS,
        name: str = "gateway",
    ) -> None:
        super().__init__(client, partitions)
        self.name = name  # of the gateway, among the members
        self.max_waiting = max_waiting
        self.submission = submission_to(client, partitions, max_waiting)
        self.channels: GameChannels = GameChannels(client, partitions)
        self._mistyped_keys = MistypedKeyLog()
        self.confirmations = Confirmations(client, partitions)

    async def confirm(
        self, game: str, sender: Seat | None, command_id: str, level: AckLevel
    ) -> ViewEntry | None:
        """The entry of a command as its sender sees it, once it is durable or replicated; None where
        that isn't known. Raises MissingEntryError or CorruptDataError."""
        entry = await self.confirmations.confirm(game, sender, command_id, level)
        return entry and await run_async(self._client, read_named_entry(self.partitions, game, entry))

    async def read_view(
        self, game: str, viewer: Seat | None, after: int, limit: int = PAGE_SIZE, head: bytes | None = None
    ) -> list[ViewEntry]:
        """A viewer's entries after a number; with `head`, that entry's own head must still be this one.

        Raises MissingEntryError, CorruptDataError, or LogRewoundError: the entry is another one now."""
        [page] = await self.read_views([ViewRequest(game, after, (viewer,), head)], limit)
        if isinstance(page, Exception):
            raise page
        return page.views[viewer]

    async def games(self, limit: int = 100, after: GamePlace | None = None) -> GameIds:
        """The public games that the engine holds, the latest first, after a place; of a cluster those of the nodes that answer."""
        query = list_games(self.partitions, limit, self._mistyped_keys, listed_only=True, after=after)
        return await run_async(self._client, query)

    def backlogs(self) -> AsyncBacklogs:
        """What waits, and which services are there, on the same connection."""
        return AsyncBacklogs(self._client, self.partitions)

    def disputes(self) -> AsyncDisputeStore:
        """Disputed moves, on the same connection."""
        return AsyncDisputeStore(self._client, self.partitions)

    def webhooks(self) -> AsyncWebhookStore:
        """The web addresses that are notified for seats, on the same connection."""
        return AsyncWebhookStore(self._client, self.partitions)

    def token_generations(self) -> AsyncTokenGenerations:
        """How often tokens were withdrawn, and seats freed, on the same connection."""
        return AsyncTokenGenerations(self._client, self.partitions)

    async def beat(self) -> None:
        """Send this gateway's heartbeat. Raises one of ENGINE_ERRORS: then no other service can send one either."""
        await run_async(self._client, membership.beat(GATEWAY, self.name))

    async def leave(self) -> None:
        """End this gateway's membership. Raises one of ENGINE_ERRORS."""
        await run_async(self._client, membership.leave(GATEWAY, self.name))

    async def ping(self) -> None:
        """Ask the engine for an answer. Raises redis.RedisError or OSError where it gives none."""
        await self._client.ping()

    async def close(self) -> None:
        """End the batchers, and then the connections."""
        await self.submission.close()
        await self.confirmations.close()
        if isinstance(self._client, AsyncCluster):
            await self._client.close_for_good()
        else:
            await self._client.aclose()
