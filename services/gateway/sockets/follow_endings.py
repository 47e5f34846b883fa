"""Why following a game ends, as a WebSocket's closing and a stream's last line have it: a code and a reason."""

from __future__ import annotations

from typing import Final, NamedTuple

from schemas.errors import CorruptDataError
from services.gateway.errors import RequestError
from services.gateway.following.subscriptions import SlowConsumerError, ViewDamagedError
from services.gateway.sockets.websocket_opening import BeyondEndError
from services.gateway.web.websocket_protocol import CloseCode
from services.ledger import MissingEntryError
from services.ledger.engine.errors import ENGINE_ERRORS
from services.ledger.scripts.view_merge import LogRewoundError
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
    if isinstance(error, DAMAGED_ERRORS):
        return Ending(CloseCode.INTERNAL_ERROR, "this game's view is damaged")
    return Ending(CloseCode.GO_ON, ENGINE_UNREACHABLE_REASON)
