"""The log and the broker. `port.Ledger` says what they promise, `RedisLedger` is how."""

from services.ledger.ports import (
    Answer,
    Full,
    Gap,
    History,
    Ledger,
    Outcome,
    Seen,
    Taken,
    TakenTurn,
    Turn,
    Verdict,
    whole_view,
)
from services.ledger.redis_ledger import RedisLedger

__all__ = [
    "Answer", "Full", "Gap", "History", "Ledger", "Outcome", "RedisLedger", "Seen", "Taken", "TakenTurn", "Turn",
    "Verdict", "whole_view",
]  # fmt: skip
