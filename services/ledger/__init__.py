"""The log and the broker. `port.Ledger` says what they promise, `RedisLedger` is how."""

from services.ledger.ports import (
    AppendRequest,
    AppendResult,
    BotTask,
    CommandResult,
    DeliveredBotTask,
    DeliveredCommand,
    GameLog,
    Ledger,
    MissingEntryError,
    QueueFullError,
    ViewReader,
    iter_view,
)
from services.ledger.redis_ledger import RedisLedger

__all__ = [
    "CommandResult", "QueueFullError", "MissingEntryError", "GameLog", "Ledger", "AppendResult", "RedisLedger", "ViewReader", "DeliveredCommand", "DeliveredBotTask", "BotTask",
    "AppendRequest", "iter_view",
]  # fmt: skip
