"""The chain, checked from outside: by every viewer for itself, and against what the gateways handed out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from services.referee.rules.proof.view_verifier import VerificationFailedError
from services.referee.rules.proof.view_verifier import ViewVerifier as Believer

if TYPE_CHECKING:
    from tests.simulator.recorder import Record
    from tests.simulator.world import World


class Handed(NamedTuple):
    """A head that a gateway sent to a client."""

    who: str
    game: str
    number: int
    head: bytes


def chained(world: World, record: Record) -> Iterator[str]:
    """Each viewer can believe all that it is shown, and all of them end at the log's own head."""
    for viewer in (*range(len(record.table.seats)), None):
        head, why = believed(world, record, viewer)
        if why:
            yield f"P6 {record.game}: {viewer} can't believe {why}"
        elif head != record.heads[-1]:
            yield f"P6 {record.game}: {viewer} comes to the head {head.hex()}, not {record.heads[-1].hex()}"
    if world.ledger.read_log(record.game) != (record.stored, record.heads[-1]):
        yield f"P6 {record.game}: a referee that reads its log finds another head"


def believed(world: World, record: Record, viewer: Seat | None) -> tuple[bytes, str]:
    """The head that a viewer comes to that follows the whole game, or what it can't believe."""
    believer = Believer(record.game, viewer)
    try:
        for entry in world.ledger.read_view(record.game, viewer, 0, len(record.entries) + 1):
            believer.verify(entry)
            if not entry.shown.head:
                return b"", f"entry {entry.number}, which has no head"
    except (VerificationFailedError, CorruptDataError) as error:
        return b"", str(error)
    return believer.head, ""


def handed_out(world: World) -> Iterator[str]:
    """Every head that a client was given was that of its entry, here or on a branch that the engine lost."""
    for handed in world.recorder.handed:
        if (handed.game, handed.number, handed.head) not in world.recorder.heads:
            yield f"P6 {handed.who} was told {handed.head.hex()} after entry {handed.number}: no log had it"
