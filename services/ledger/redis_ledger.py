"""The ledger on Redis or Valkey: one module for each group of ports, put together here."""

from __future__ import annotations

from redis.exceptions import RedisError

from schemas.field_types import Seat
from services.ledger.engine.queries import blocking, run
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
from services.ledger.stores.webhook_store import WebhookStore


class RedisLedger(RedisEventStore, RedisCommandQueue, RedisBotTaskQueue, RedisGameFiles):
    """Implements all of `ports`, and gives the stores beside them, on the same connection."""

    load_scripts = blocking(load_forgotten)
    read_token_generations = blocking(token_generations.read_generations)
    record_freed_seat = blocking(token_generations.record_freed_seat)
    read_creators = blocking(read_creators)
    record_late_bots = blocking(record_late_bots)
    erase_names = blocking(views.erase_names)

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

    def withdraw_tokens(self, game: str, seat: Seat | None) -> int:
        """Withdraw all tokens of a seat, or of the host; returns the generation that is valid from now on."""
        generation = run(self._client, token_generations.withdraw(self.partitions, game, seat))
        assert generation is not None, "no token asks that could be void"
        return generation

    def rewrite_aof(self) -> bool:
        """Start an AOF rewrite, so that deleted data leaves the disk too. False if the engine refuses it now."""
        try:
            self._client.bgrewriteaof()
        except RedisError:
            return False
        return True
