"""The ledger on Redis or Valkey: one module for each group of ports, put together here."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from redis.exceptions import RedisError

from schemas.field_types import Seat
from services.ledger.engine.queries import run
from services.ledger.log import views
from services.ledger.log.event_store import RedisEventStore
from services.ledger.log.game_indexes import ArchiveIndex, RedisGameFiles
from services.ledger.operations.system_status import SystemStatus
from services.ledger.queues.membership import Membership
from services.ledger.queues.task_queues import (
    DeadLetterStore,
    RedisBotTaskQueue,
    RedisCommandQueue,
    read_creators,
    record_late_bots,
)
from services.ledger.scripts.lua_scripts import load_forgotten
from services.ledger.stores import token_generations
from services.ledger.stores.disputes import DisputeStore
from services.ledger.stores.token_generations import Generations
from services.ledger.stores.webhook_store import WebhookStore


class RedisLedger(RedisEventStore, RedisCommandQueue, RedisBotTaskQueue, RedisGameFiles):
    """Implements all of `ports`, and gives the stores beside them, on the same connection."""

    def membership(self) -> Membership:
        """The referees' heartbeats and the game clock."""
        return Membership(self._client)

    def dead_letters(self) -> DeadLetterStore:
        """Commands that broke a referee, for an operator."""
        return DeadLetterStore(self._client, self.partitions)

    def system_status(self) -> SystemStatus:
        """The engine, who is connected to it, and what waits there, for an operator."""
        return SystemStatus(self._client, self.partitions)

    def archive_index(self) -> ArchiveIndex:
        """Which games are in the archive."""
        return ArchiveIndex(self._client, self.partitions)

    def disputes(self) -> DisputeStore:
        """Disputed moves."""
        return DisputeStore(self._client, self.partitions)

    def webhooks(self) -> WebhookStore:
        """The web addresses that are notified for seats."""
        return WebhookStore(self._client, self.partitions)

    def load_scripts(self) -> None:
        """Load the scripts that gateways and bots call, which may not do it, wherever a node has forgotten them."""
        run(self._client, load_forgotten(self.partitions))

    def withdraw_tokens(self, game: str, seat: Seat | None) -> int:
        """Withdraw all tokens of a seat, or of the host; returns the generation that is valid from now on."""
        generation = run(self._client, token_generations.withdraw(self.partitions, game, seat))
        assert generation is not None, "no token asks that could be void"
        return generation

    def read_token_generations(self, game: str) -> Generations:
        """How often the tokens of each seat of a game, and of its host (None), were withdrawn, and its seats freed."""
        return run(self._client, token_generations.read_generations(self.partitions, game))

    def record_freed_seat(self, game: str, seat: Seat, times: int) -> None:
        """Record how often a seat was freed: its earlier tokens open nothing any more. It may be recorded again."""
        run(self._client, token_generations.record_freed_seat(self.partitions, game, seat, times))

    def read_creators(self, games: Sequence[str]) -> list[str]:
        """Who created each of these games, as its bots share time to think; an empty word for all that aren't known."""
        return run(self._client, read_creators(self.partitions, games))

    def record_late_bots(self, games: Collection[str]) -> None:
        """Record for a minute that bots of these games wait for time to think."""
        run(self._client, record_late_bots(self.partitions, games))

    def erase_names(self, game: str, commitments: Collection[str]) -> int:
        """Erase these names of a game's players; returns how many there were."""
        return run(self._client, views.erase_names(self.partitions, game, commitments))

    def rewrite_aof(self) -> bool:
        """Start an AOF rewrite, so that deleted data leaves the disk too. False if the engine refuses it now."""
        try:
            self._client.bgrewriteaof()
        except RedisError:
            return False
        return True
