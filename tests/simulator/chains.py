"""The chain, checked from outside: by every viewer for itself, and against the heads that the gateways sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from services.ledger import GameLog
from services.referee.games.proof.public_verifier import VerificationFailedError
from services.referee.games.proof.view_verifier import ViewVerifier

if TYPE_CHECKING:
    from tests.simulator.recorder import Record
    from tests.simulator.world import World


class SentHead(NamedTuple):
    """A head that a gateway sent to a client."""

    client: str
    game: str
    number: int
    head: bytes


def chained(world: World, record: Record) -> Iterator[str]:
    """Each viewer can verify all that it is shown, and all of them end at the log's own head."""
    for viewer in (*range(len(record.state.seats)), None):
        head, why = verify_view(world, record, viewer)
        if why:
            yield f"P6 {record.game}: {viewer} can't verify {why}"
        elif head != record.heads[-1]:
            yield f"P6 {record.game}: {viewer} computes the head {head.hex()}, not {record.heads[-1].hex()}"
    if world.ledger.read_log(record.game) != GameLog(record.stored, record.heads[-1]):
        yield f"P6 {record.game}: reading its log gives another head"


def verify_view(world: World, record: Record, viewer: Seat | None) -> tuple[bytes, str]:
    """The head that a viewer computes from its whole view and '', or b'' and what fails to verify."""
    verifier = ViewVerifier(record.game, viewer)
    try:
        for entry in world.ledger.read_view(record.game, viewer, 0, len(record.entries) + 1):
            verifier.verify(entry)
            if not entry.shown.head:
                return b"", f"entry {entry.number}, which has no head"
    except (VerificationFailedError, CorruptDataError) as error:
        return b"", str(error)
    return verifier.head, ""


def sent_heads(world: World) -> Iterator[str]:
    """Every head that a client got was that of its entry, in the log or on a branch that the engine lost."""
    for sent in world.recorder.sent_heads:
        if (sent.game, sent.number, sent.head) not in world.recorder.heads:
            yield f"P6 {sent.client} got head {sent.head.hex()} after entry {sent.number}: no log had it"
