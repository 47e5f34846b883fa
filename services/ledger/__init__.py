"""The log and the broker. `port.Ledger` says what they promise, `RedisLedger` is how."""

from services.ledger.port import (
    Answer,
    Full,
    Gap,
    History,
    Ledger,
    Outcome,
    Taken,
    TakenTurn,
    Turn,
    Verdict,
)
from services.ledger.redis_ledger import RedisLedger

__all__ = [
    "Answer", "Full", "Gap", "History", "Ledger", "Outcome", "RedisLedger", "Taken", "TakenTurn", "Turn", "Verdict",
]  # fmt: skip
