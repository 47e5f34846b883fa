"""A disputed move: who doubts which entry of a game, why, and the state of the dispute.

A dispute's id names where it is stored: the game, who raised it (a seat, or the operator), and twelve
hex digits derived from the caller's idempotency key, so that raising it again creates nothing new.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Final, NamedTuple

from pydantic import AfterValidator, Field

from schemas.contract import Json, Schema, contract
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.field_types import Int, Seat, Text
from schemas.stored.rows import pack, unpack

OPERATOR: Final = "operator"
MAX_OPEN_PER_SEAT: Final = 20  # unanswered, of a seat in a game
MAX_PER_SEAT: Final = 40  # of a seat in a game, in any state
MAX_WAITING_PER_PARTITION: Final = 1_000  # unanswered
MAX_REASON_LENGTH: Final = 500  # characters
DISPUTE_FORMAT: Final = 1


class DisputeState(StrEnum):
    """The stored state of a dispute."""

    UNANSWERED = ""
    IN_PROGRESS = "in_progress"  # a job works on it
    FAILED = "failed"  # the job failed, and is tried again
    ANSWERED_PARTLY = "answered_partly"  # answered, as far as the seat may know while the game runs
    ANSWERED_FULLY = "answered_fully"  # answered by the whole audit
    GAME_LOST = "game_lost"  # the game is gone: nothing more of it can be checked


FINAL_STATES: Final = (DisputeState.ANSWERED_FULLY, DisputeState.GAME_LOST)
STATE_LABELS: Final[dict[str, str]] = {  # for people; a later version may store another state
    DisputeState.UNANSWERED: "waiting",
    DisputeState.IN_PROGRESS: "being looked at",
    DisputeState.FAILED: "failed",
    DisputeState.ANSWERED_PARTLY: "answered",
    DisputeState.ANSWERED_FULLY: "answered",
    DisputeState.GAME_LOST: "failed",
}

_ID: Final = re.compile(
    rf"([a-z0-9][a-z0-9-]{{2,39}})_(?:{OPERATOR}|([0-7])(?:-([1-9][0-9]?))?)_([0-9a-f]{{12}})"
)


def _require_readable(reason: str) -> str:
    """No character without a glyph: it could reverse a line, or control an operator's terminal. Raises
    ValueError."""
    if not reason.isprintable():
        raise ValueError("must hold only letters that can be seen, on one line")
    if not reason.strip():
        raise ValueError("must say something")
    return reason


Reason = Annotated[Text, Field(min_length=1, max_length=MAX_REASON_LENGTH), AfterValidator(_require_readable)]


@contract()
class DisputeMove:
    """Doubt an entry of the game, and say why."""

    number: Annotated[Int, Field(ge=1, le=2**53)]
    reason: Reason


DISPUTE_SCHEMA: Final[Schema[DisputeMove]] = Schema(DisputeMove, "dispute")


class DisputeId(NamedTuple):
    """The parts of a dispute's id."""

    game: str
    seat: Seat | None  # who raised it; None is the operator
    digest: str
    times_freed: int = 0  # how often the seat had been freed before who raised it sat down

    @property
    def sender(self) -> str:
        """Who raised it, among all of the game: the operator, or a seat's first holder (`1`) or a later one (`1-2`)."""
        if self.seat is None:
            return OPERATOR
        return f"{self.seat}-{self.times_freed}" if self.times_freed else str(self.seat)

    @property
    def id(self) -> str:
        return f"{self.game}_{self.sender}_{self.digest}"


def derive_dispute_id(game: str, seat: Seat | None, idempotency_key: str, times_freed: int = 0) -> DisputeId:
    """The dispute that this caller raises in this game under an id of its own."""
    digest = sha256(f"ledgerline/dispute/1 {game} {seat} {idempotency_key}".encode()).hexdigest()[:12]
    return DisputeId(game, seat, digest, times_freed)


def parse_dispute_id(id_: str) -> DisputeId:
    """The parts of a dispute's id. Raises InvalidInputError for text that is no such id."""
    match = _ID.fullmatch(id_)
    if match is None:
        raise InvalidInputError(
            "dispute", "is named as `ledgerline disputes` shows it: 3f9a1c0b77e2_0_5e1d09a77b12"
        )
    return DisputeId(match[1], None if match[2] is None else int(match[2]), match[4], int(match[3] or 0))


def pack_dispute(dispute: DisputeMove) -> bytes:
    """A dispute as the bytes that are stored: its format, the entry's number, the reason."""
    return pack((DISPUTE_FORMAT, dispute.number, dispute.reason))


def unpack_dispute(data: bytes) -> DisputeMove:
    """The dispute in stored bytes. Raises CorruptDataError."""
    try:
        dispute_format, number, reason = unpack(data)
        if dispute_format == DISPUTE_FORMAT:
            return DISPUTE_SCHEMA.read({"number": number, "reason": reason})
    except InvalidInputError as error:
        raise CorruptDataError(f"a dispute can't be read: {error}") from None
    except (TypeError, ValueError) as error:  # it isn't three values
        raise CorruptDataError(f"a dispute can't be read: {error}") from None
    raise CorruptDataError(f"a dispute of format {dispute_format} can't be read")


def pack_answer(answer: Mapping[str, object]) -> bytes:
    """An auditor's answer as it is stored: equal answers have equal bytes."""
    return zlib.compress(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode(), 6)


def unpack_answer(data: bytes) -> Json:
    """The answer in stored bytes. Raises CorruptDataError."""
    try:
        answer = json.loads(zlib.decompress(data))
    except (zlib.error, ValueError) as error:
        raise CorruptDataError(f"an answer to a dispute can't be read: {error}") from None
    if not isinstance(answer, dict):
        raise CorruptDataError("an answer to a dispute can't be read")
    return answer
