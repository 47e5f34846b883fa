"""A disputed move: who doubts which entry of a game, and why, and what has become of it.

A dispute's id says where it is kept: the game, who raised it (a seat, or the operator), and twelve
hex digits that follow from the caller's own id, so that raising it again raises nothing new.
"""

from __future__ import annotations

import json
import re
import zlib
from hashlib import sha256
from typing import Annotated, Any, Final, NamedTuple

from pydantic import AfterValidator, Field

from schemas.codec import Corrupt, pack, unpack
from schemas.contract import Malformed, Shape, contract
from schemas.field_types import Int, Seat, Text

OPERATOR: Final = "operator"
OPEN_MOST: Final = 20  # of a seat in a game, that wait for their answer
MOST: Final = 40  # of a seat in a game, whatever became of them
WAITING_MOST: Final = 1_000  # in a partition
REASON_MOST: Final = 500  # characters
FORMAT: Final = 1

# What becomes of one. The last two are for good.
LOOKING: Final = "looking"  # a job has it in hand
FAILED: Final = "failed"  # the job broke, and is tried again
TOLD: Final = "told"  # answered, as far as may be told while the game runs
WHOLE: Final = "whole"  # answered by the whole audit
LOST: Final = "lost"  # the game is gone: nothing more of it can be checked
FINAL: Final = (WHOLE, LOST)
PLAINLY: Final = {
    "": "waiting",
    LOOKING: "being looked at",
    FAILED: "failed",
    TOLD: "answered",
    WHOLE: "answered",
    LOST: "failed",
}

_ID: Final = re.compile(rf"([a-z0-9][a-z0-9-]{{2,39}})_({OPERATOR}|[0-7])_([0-9a-f]{{12}})")


def _readable(reason: str) -> str:
    """No letter without a shape: it could turn a line around, or an operator's terminal."""
    if not reason.isprintable():
        raise ValueError("must hold only letters that can be seen, on one line")
    if not reason.strip():
        raise ValueError("must say something")
    return reason


Reason = Annotated[Text, Field(min_length=1, max_length=REASON_MOST), AfterValidator(_readable)]


@contract()
class DisputeMove:
    """Doubt an entry of the game, and say why."""

    number: Annotated[Int, Field(ge=1, le=2**53)]
    reason: Reason


DISPUTE: Final[Shape[DisputeMove]] = Shape(DisputeMove, "dispute")


class Name(NamedTuple):
    """The parts of a dispute's id."""

    game: str
    seat: Seat | None  # who raised it; None is the operator
    mark: str

    @property
    def id(self) -> str:
        return f"{self.game}_{OPERATOR if self.seat is None else self.seat}_{self.mark}"


def named(game: str, seat: Seat | None, key: str) -> Name:
    """The dispute that this caller raises in this game under an id of its own."""
    mark = sha256(f"ledgerline/dispute/1 {game} {seat} {key}".encode()).hexdigest()[:12]
    return Name(game, seat, mark)


def read_name(id_: str) -> Name:
    """The parts of an id. Raises Malformed: no dispute has such a one."""
    found = _ID.fullmatch(id_)
    if found is None:
        raise Malformed("dispute", "is named as `ledgerline disputes` shows it: 3f9a1c0b77e2_0_5e1d09a77b12")
    return Name(found[1], None if found[2] == OPERATOR else int(found[2]), found[3])


def pack_dispute(dispute: DisputeMove) -> bytes:
    return pack((FORMAT, dispute.number, dispute.reason))


def unpack_dispute(data: bytes) -> DisputeMove:
    """Raises Corrupt."""
    try:
        form, number, reason = unpack(data)
        if form == FORMAT:
            return DISPUTE.read({"number": number, "reason": reason})
    except (TypeError, ValueError, Malformed) as error:
        raise Corrupt(f"a dispute can't be read: {error}") from None
    raise Corrupt(f"a dispute of format {form} can't be read")


def pack_answer(told: dict[str, Any]) -> bytes:
    """What an auditor says, as it is kept: the same always in the same bytes."""
    return zlib.compress(json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode(), 6)


def unpack_answer(data: bytes) -> dict[str, Any]:
    """Raises Corrupt."""
    try:
        told = json.loads(zlib.decompress(data))
    except (zlib.error, ValueError) as error:
        raise Corrupt(f"an answer to a dispute can't be read: {error}") from None
    if not isinstance(told, dict):
        raise Corrupt("an answer to a dispute can't be read")
    return told
