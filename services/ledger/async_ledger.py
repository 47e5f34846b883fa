"""The ledger as a gateway uses it, without blocking its event loop."""

from __future__ import annotations

from collections.abc import Sequence

import redis.asyncio
from redis.exceptions import RedisError

from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from schemas.stored.player_names import SaltedNames
from services.ledger.acknowledgements import AckLevel, Confirmations
from services.ledger.engine import keys
from services.ledger.engine.cluster import AsyncCluster
from services.ledger.engine.partitions import MistypedKeyLog
from services.ledger.engine.queries import Client, run_async
from services.ledger.log.game_indexes import GameIds, GamePlace, list_games, read_stored_game
from services.ledger.log.views import (
    PAGE_SIZE,
    LogHead,
    ViewPageOrError,
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
    EngineMemory,
    read_memory,
    read_stored_bytes,
)
from services.ledger.ports import MAX_WAITING_COMMANDS, CommandResult, StoredGame
from services.ledger.queues import membership
from services.ledger.queues.command_submission import submission_to
from services.ledger.queues.task_queues import has_late_bots, read_result, record_creator
from services.ledger.stores.disputes import AsyncDisputeStore
from services.ledger.stores.token_generations import AsyncTokenGenerations
from services.ledger.stores.webhook_store import AsyncWebhookStore


class AsyncLedger:
    """Submits commands and reads views, with the names of their players. It can't read the log of a game that has
    streams."""

    def __init__(
        self,
        client: redis.asyncio.Redis,
        partitions: int,
        max_waiting: int = MAX_WAITING_COMMANDS,
        name: str = "gateway",
    ) -> None:
        self._client: Client = client
        self.name = name  # of the gateway, among the members
        self.partitions, self.max_waiting = partitions, max_waiting
        self.submission = submission_to(client, partitions, max_waiting)
        self.channels: GameChannels = GameChannels(client, partitions)
        self._mistyped_keys = MistypedKeyLog()
        self.confirmations = Confirmations(client, partitions)

    async def read_result(self, game: str, sender: Seat | None, command_id: str) -> CommandResult | None:
        """The result of a command; None while it isn't known. Raises CorruptDataError."""
        query = read_result(self.partitions, game, sender, command_id)
        return await run_async(self._client, query)

    async def confirm(
        self, game: str, sender: Seat | None, command_id: str, level: AckLevel
    ) -> ViewEntry | None:
        """The entry of a command as its sender sees it, once it is durable or replicated; None where
        that isn't known. Raises MissingEntryError or CorruptDataError."""
        entry = await self.confirmations.confirm(game, sender, command_id, level)
        return entry and await run_async(self._client, read_named_entry(self.partitions, game, entry))

    async def read_length(self, game: str) -> int:
        """How many entries the game has; 0 for a game that doesn't exist."""
        return await run_async(self._client, read_length(self.partitions, game))

    async def read_view(
        self, game: str, viewer: Seat | None, after: int, limit: int = PAGE_SIZE, head: bytes | None = None
    ) -> list[ViewEntry]:
        """A viewer's entries after a number; with `head`, that entry's own head must still be this one.

        Raises MissingEntryError, CorruptDataError, or LogRewoundError: the entry is another one now."""
        [page] = await self.read_views([ViewRequest(game, after, (viewer,), head)], limit)
        if isinstance(page, Exception):
            raise page
        return page.views[viewer]

    async def read_views(
        self, requests: Sequence[ViewRequest], limit: int = PAGE_SIZE
    ) -> list[ViewPageOrError]:
        """Read views of many games and viewers in one round trip. The damage of one game, or the
        RedisError of a node that is away, is that game's result alone."""
        return await run_async(self._client, read_named_views(self.partitions, requests, limit))

    async def read_names(self, game: str) -> SaltedNames:
        """The names of the game's players that weren't erased. Raises CorruptDataError."""
        return await run_async(self._client, read_names(self.partitions, game))

    async def record_creator(self, game: str, creator: str) -> None:
        """Record who created a game, as its bots share time to think."""
        await run_async(self._client, record_creator(self.partitions, game, creator))

    async def read_memory(self, game: str) -> EngineMemory:
        """How full the memory of the engine, or of a game's node, is."""
        return await run_async(self._client, read_memory(self.partitions, game))

    async def read_stored_bytes(self, games: Sequence[str]) -> list[int]:
        """The bytes of the engine that each game takes; 0 for one that has left."""
        return await run_async(self._client, read_stored_bytes(self.partitions, games))

    async def has_late_bots(self, game: str) -> bool:
        """Whether bots of a game had to wait for time to think within the last minute."""
        return await run_async(self._client, has_late_bots(self.partitions, game))

    async def read_stored_game(self, game: str) -> StoredGame | None:
        """The file of a finished game, with names; None where the engine has no file of it. Raises CorruptDataError."""
        return await run_async(self._client, read_stored_game(self.partitions, game))

    async def read_heads(self, games: Sequence[str]) -> list[LogHead | CorruptDataError | RedisError]:
        """The last entry of each of these games, in one round trip, or what is wrong with the game."""
        return await run_async(self._client, read_heads(self.partitions, games))

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

    def _partition(self, game: str) -> int:
        return keys.partition_of(game, self.partitions)
