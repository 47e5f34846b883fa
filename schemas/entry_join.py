"""The log entry that follows from what is seen of it, and the secret rest."""

from __future__ import annotations

from collections.abc import Iterable

from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from schemas.rows import pack, unpack


def join_entry(public: bytes, private_parts: Iterable[tuple[Seat, bytes]], secret: bytes) -> bytes:
    """The bytes of a sealed log entry, of its public entry P(n), its private parts S(n, i) in the order in which they
    were sealed, and what only the sender knows X(n) (docs/proof.md). Raises CorruptDataError."""
    try:
        entry_format, at, public_rows, *_ = unpack(public)
        id_, seat, command, secret_rows = unpack(secret)
        private_rows = {owner: rows for owner, part in private_parts if (rows := unpack(part)[3])}
        return pack((entry_format, at, id_, seat, command, public_rows, private_rows, secret_rows))
    except (LookupError, TypeError, ValueError) as error:
        raise CorruptDataError(f"no log entry follows from {public[:60]!r}: {error}") from None
