"""The ledger as a gateway uses it, without blocking its event loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

import redis.asyncio
from redis.asyncio.cluster import RedisCluster
from redis.exceptions import ConnectionError, RedisError

from schemas.commands import CommandEnvelope
from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from schemas.stored.player_names import SaltedNames
from services.ledger.acknowledgements.ack_confirmation import ConfirmationBatcher
from services.ledger.acknowledgements.ack_levels import AckLevel
from services.ledger.acknowledgements.confirmation_connection import find_node
from services.ledger.engine import keys
from services.ledger.engine.async_cluster import AsyncCluster
from services.ledger.engine.mistyped_keys import MistypedKeyLog
from services.ledger.engine.queries import Client
from services.ledger.engine.round_trips import run_async
from services.ledger.engine.silent_nodes import NodeAwayError
from services.ledger.log import player_names
from services.ledger.log.game_list import GameIds, list_games
from services.ledger.log.game_schedules import read_stored_game
from services.ledger.log.views import (
    PAGE_SIZE,
    LogHead,
    ViewPageOrError,
    ViewRequest,
    read_heads,
    read_named_entry,
    read_named_views,
)
from services.ledger.notifications.entry_notifications import EntryNotification
from services.ledger.notifications.game_channels import GameChannels
from services.ledger.operations import backlog_queries
from services.ledger.operations.backlog_queries import BacklogOrError
from services.ledger.ports.records import MAX_WAITING_COMMANDS, CommandResult, StoredGame
from services.ledger.queues.command_queue import read_result
from services.ledger.queues.command_submission import Submitted, submission_to
from services.ledger.stores import token_generations
from services.ledger.stores.disputes import AsyncDisputeStore
from services.ledger.stores.token_generations import Generations
from services.ledger.stores.webhook_store import AsyncWebhookStore


class AsyncLedger:
    """Submits commands and reads views, with the names of their players. It can't read the log of a game that has
    streams."""

    def __init__(
        self, client: redis.asyncio.Redis, partitions: int, max_waiting: int = MAX_WAITING_COMMANDS
    ) -> None:
        self._client: Client = client
        self.partitions, self.max_waiting = partitions, max_waiting
        self._submission = submission_to(client, partitions, max_waiting)
        self._channels = GameChannels(client, partitions)
        self._mistyped_keys = MistypedKeyLog()
        self._confirmation_batchers: dict[tuple[str, AckLevel], ConfirmationBatcher] = {}

    def submit(self, envelope: CommandEnvelope) -> Submitted:
        """Queue a command at once. The future has the verdict on its id if there is one already. Submitting it again
        under the same id is harmless.

        It raises QueueFullError: too many commands wait; InvalidInputError: the envelope is too large."""
        return self._submission.submit(envelope)

    async def read_result(self, game: str, sender: Seat | None, command_id: str) -> CommandResult | None:
        """The result of a command; None while it isn't known. Raises CorruptDataError."""
        query = read_result(self.partitions, game, sender, command_id)
        return await run_async(self._client, query)

    async def unavailable_reason(self, game: str, level: AckLevel) -> str:
        """Why the game's engine can't give this level, and what to do about it; '' where it can."""
        if not level.needs_confirmation:
            return ""
        batcher = await self._confirmation_batcher_of(game, level)
        try:
            return await batcher.unavailable_reason()
        except NodeAwayError:  # the node that took over is asked
            successor = await self._confirmation_batcher_of(game, level)
            if successor is batcher:
                raise
        return await successor.unavailable_reason()

    async def confirm(
        self, game: str, sender: Seat | None, command_id: str, level: AckLevel
    ) -> ViewEntry | None:
        """The entry of a command as its sender sees it, once it is durable or replicated; None where
        that isn't known. Raises MissingEntryError or CorruptDataError."""
        partition = self._partition(game)
        script_keys = [
            keys.command_results(partition, game, sender),
            keys.public_view(partition, game),
            keys.confirmation_mark(partition),
            keys.chain_head(partition, game),
        ]
        batcher = await self._confirmation_batcher_of(game, level)
        entry = await batcher.confirm(game, script_keys, sender, command_id)
        return entry and await run_async(self._client, read_named_entry(self.partitions, game, entry))

    async def read_length(self, game: str) -> int:
        """How many entries the game has; 0 for a game that doesn't exist."""
        length: int = await self._client.xlen(keys.public_view(self._partition(game), game))
        return length

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
        """The same for many games and viewers in one round trip. The damage of one game, or the
        RedisError of a node that is away, is that game's result alone."""
        return await run_async(self._client, read_named_views(self.partitions, requests, limit))

    async def read_names(self, game: str) -> SaltedNames:
        """The names of the game's players that weren't erased. Raises CorruptDataError."""
        return await run_async(self._client, player_names.read_names(self.partitions, game))

    async def read_stored_game(self, game: str) -> StoredGame | None:
        """The file of a finished game, with names; None where the engine has no file of it. Raises CorruptDataError."""
        return await run_async(self._client, read_stored_game(self.partitions, game))

    async def read_heads(self, games: Sequence[str]) -> list[LogHead | CorruptDataError | RedisError]:
        """The last entry of each of these games, in one round trip, or what is wrong with the game."""
        return await run_async(self._client, read_heads(self.partitions, games))

    def want_notifications(self, game: str) -> bool:
        """Hear of a game while `listen` runs, until `release_notifications`: as `GameChannels.want`."""
        return self._channels.want(game)

    def release_notifications(self, game: str) -> None:
        """One fewer wants to hear of this game."""
        self._channels.release(game)

    async def listen(
        self,
        on_notification: Callable[[EntryNotification], object],
        on_subscribed: Callable[[str], object],
    ) -> None:
        """Call these with the notifications of the games that are wanted, of which one may be lost, and with each of these
        games when it is subscribed to. It ends with one of ENGINE_ERRORS, or with what they raised; others have their
        turn now and then."""
        await self._channels.listen(on_notification, on_subscribed)

    async def games(self, limit: int = 100) -> GameIds:
        """The public games that the engine holds, the latest first; of a cluster those of the nodes that answer."""
        query = list_games(self.partitions, limit, self._mistyped_keys, listed_only=True)
        return await run_async(self._client, query)

    async def partitions_by_node(self) -> dict[str, list[int]]:
        """The partitions of each node, by its name: '' for the one node of a single engine. Raises one of
        ENGINE_ERRORS; a partition that no node has is left out."""
        if not isinstance(self._client, RedisCluster):
            return {"": list(range(self.partitions))}
        by_node: dict[str, list[int]] = {}
        for partition in range(self.partitions):
            with suppress(ConnectionError):
                node = await find_node(self._client, keys.commands(partition))
                by_node.setdefault(node.name, []).append(partition)
        return by_node

    async def read_backlogs(self, partitions: Sequence[int]) -> dict[int, BacklogOrError]:
        """What waits in each of these partitions for a verdict."""
        return await run_async(self._client, backlog_queries.read_backlogs(partitions))

    async def read_heartbeats(self) -> Mapping[str, float] | None:
        """The engine's time of each referee's last heartbeat, in milliseconds; None where their key holds another
        type."""
        return await run_async(self._client, backlog_queries.read_heartbeats())

    async def try_write(self, partition: int) -> None:
        """Write something to the partition's node. Raises one of ENGINE_ERRORS, as the engine gives it."""
        await run_async(self._client, backlog_queries.try_write(partition))

    def disputes(self) -> AsyncDisputeStore:
        """Disputed moves, on the same connection."""
        return AsyncDisputeStore(self._client, self.partitions)

    def webhooks(self) -> AsyncWebhookStore:
        """The web addresses that are notified for seats, on the same connection."""
        return AsyncWebhookStore(self._client, self.partitions)

    async def read_token_generations(self, game: str) -> Generations:
        """How often the tokens of each seat of a game, and of its host (None), were withdrawn, and its seats freed."""
        return await run_async(self._client, token_generations.read_generations(self.partitions, game))

    async def read_many_token_generations(self, games: Sequence[str]) -> dict[str, Generations]:
        """The same of many games in one round trip, without those whose node is away."""
        return await run_async(self._client, token_generations.read_many(self.partitions, games))

    async def withdraw_tokens(self, game: str, seat: Seat | None) -> int:
        """Withdraw all tokens of a seat, or of the host; returns the generation that is valid from now on."""
        return await run_async(self._client, token_generations.withdraw(self.partitions, game, seat))

    async def ping(self) -> None:
        """Ask the engine for an answer. Raises redis.RedisError or OSError where it gives none."""
        await self._client.ping()

    async def close(self) -> None:
        """End the batchers, and then the connections."""
        await self._submission.close()
        for confirmation_batcher in self._confirmation_batchers.values():
            await confirmation_batcher.close()
        if isinstance(self._client, AsyncCluster):
            await self._client.close_for_good()
        else:
            await self._client.aclose()

    def _partition(self, game: str) -> int:
        return keys.partition_of(game, self.partitions)

    async def _confirmation_batcher_of(self, game: str, level: AckLevel) -> ConfirmationBatcher:
        partition = self._partition(game)
        mark = keys.confirmation_mark(partition)
        node = await find_node(self._client, mark)
        if (node.name, level) not in self._confirmation_batchers:
            is_replaced = partial(self._is_replaced, node.name, partition) if node.name else None
            self._confirmation_batchers[node.name, level] = ConfirmationBatcher(
                node, level, mark, is_replaced
            )
        return self._confirmation_batchers[node.name, level]

    async def _is_replaced(self, name: str, partition: int) -> bool:
        """Whether this node of a cluster is no primary any more; one that hangs is noticed by being asked."""
        with suppress(RedisError):
            await self._client.xlen(keys.commands(partition))
        return all(node.name != name for node in self._client.get_primaries())
