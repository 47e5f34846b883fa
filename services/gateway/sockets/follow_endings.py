"""Why following a game ends, as a WebSocket's closing and a stream's last line have it: a code and a reason."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from schemas.errors import CorruptDataError, MissingGameError
from services.gateway.errors import RefusedError, RequestError
from services.gateway.following.subscriptions import SlowConsumerError, ViewDamagedError
from services.ledger import MissingEntryError
from services.ledger.engine.errors import ENGINE_ERRORS
from services.ledger.ports.protocols import LogRewoundError
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
DAMAGED_ERRORS: Final = (ViewDamagedError, MissingEntryError, CorruptDataError)
ENDING_ERRORS: Final = (
    RequestError,
    SlowConsumerError,
    LogRewoundError,
    *DAMAGED_ERRORS,
    *ENGINE_ERRORS,
)
LOG_REWOUND_REASON: Final = (
    "the engine lost the last entries, and the game went on before them: come back from 0"
)
ENGINE_UNREACHABLE_REASON: Final = "the engine doesn't answer: come back and go on"


class BeyondEndError(RefusedError):
    """The client has an entry that is beyond the end of the log: a fail-over lost it."""

    def __init__(self, sequence: int, last_sequence: int) -> None:
        super().__init__("SHAPE-1", f"after: {sequence} isn't between 0 and {last_sequence}", field="after")


class CloseCode(IntEnum):
    """Why the gateway closes a WebSocket (RFC 6455, 7.4; those from 4000 on are ours: docs/acknowledgements.md)."""

    NORMAL = 1000  # the game is over
    GOING_AWAY = 1001
    POLICY_VIOLATION = 1008  # the opening was wrong, or there were too many messages
    INTERNAL_ERROR = 1011  # the game's view is damaged, or the client was silent
    GO_ON = 4001  # the client reads too slowly, or the engine is away: come back after the last entry
    BEGIN_ANEW = 4002  # the log hasn't the client's last entry any more: come back from 0


class Ending(NamedTuple):
    code: CloseCode
    reason: str


OVER: Final = Ending(CloseCode.NORMAL, "the game is over")


def describe_ending(error: BaseException, **fields: object) -> Ending:
    """How to end for one of ENDING_ERRORS. It is logged with these fields where a client isn't to blame."""
    match error:
        case BeyondEndError():
            return Ending(CloseCode.BEGIN_ANEW, f"{error}: come back from 0")
        case RequestError():
            return Ending(CloseCode.POLICY_VIOLATION, str(error))
        case SlowConsumerError():
            log.info("viewer dropped", **fields, why=str(error))
            return Ending(CloseCode.GO_ON, f"{error}: come back and go on")
    log.error("socket ended", **fields, error=str(error))
    if isinstance(error, LogRewoundError):
        return Ending(CloseCode.BEGIN_ANEW, LOG_REWOUND_REASON)
    if isinstance(error, MissingGameError):
        return Ending(CloseCode.INTERNAL_ERROR, str(error))
    if isinstance(error, DAMAGED_ERRORS):
        return Ending(CloseCode.INTERNAL_ERROR, "this game's view is damaged")
    return Ending(CloseCode.GO_ON, ENGINE_UNREACHABLE_REASON)
