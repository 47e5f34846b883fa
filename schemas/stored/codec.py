"""Envelopes, log entries and views as msgpack. Strict about what comes from outside, fast on the log.

A log entry has its events as rows (schemas/stored/rows.py), split by who may know them:

    [1, at, id, seat, command, public, private, secret]

`public` is the row of every event as everybody may see it, or null for an event that only
its seat may know of; `private` maps a seat to {index: row} with what it alone sees, and
`secret` maps indexes to rows that nobody sees before the end. The public view's entry is
`[1, at, public, commitments, leaves, openings]`, and a seat's private part is
`[1, before, id, {index: row}, openings]`, where `before` is the sequence number of that seat's previous
part, so that a lost one shows. docs/reference/proof.md explains the commitments, leaves and openings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from reprlib import repr as short_repr  # a value may be nested too deep to show
from typing import Any, Final, NamedTuple

import msgpack

from schemas.commands import (
    FIELDS,
    Command,
    CommandEnvelope,
    CreateGame,
    TakeSeat,
    read_command,
    write_command,
)
from schemas.contract import COMMAND_REGISTRY
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import FIELDS as EVENT_FIELDS
from schemas.events import Event, Row
from schemas.field_types import CommandId, Seat
from schemas.stored.entries import (
    ENTRY_HEADER,
    ENVELOPE_HEADER,
    Entry,
    ForeignCommandError,
    ShownBytes,
    ViewEntry,
)
from schemas.stored.rows import (
    VisibilitySplit,
    command_to_row,
    foreign_row_to_event,
    pack,
    row_to_command,
    row_to_event,
    trusted_row_to_event,
    unpack,
)

ENTRY_FORMAT: Final = 1  # of entries and parts
ENVELOPE_FORMAT: Final = 1
MAX_ENVELOPE_BYTES: Final = 65_536  # a command with a board written in place fits

# What taking apart a value of another form raises. It stands for damaged bytes: nothing else runs in
# these clauses, so a bug elsewhere isn't taken for damage.
_FORM_ERRORS: Final = (LookupError, TypeError, ValueError, AttributeError, OverflowError)

# -- envelopes -----------------------------------------------------------------------


def pack_envelope(envelope: CommandEnvelope) -> bytes:
    """The envelope's bytes. Raises InvalidInputError if no referee would read so many."""
    data = pack((ENVELOPE_FORMAT, envelope.id, envelope.game, envelope.seat, write_command(envelope.command)))
    _require_size(data)
    return data


def _require_size(data: bytes) -> None:
    if len(data) > MAX_ENVELOPE_BYTES:
        raise InvalidInputError(
            "envelope", f"has {len(data)} bytes, {MAX_ENVELOPE_BYTES} are allowed", "SIZE-1"
        )


def unpack_envelope(data: bytes) -> CommandEnvelope:
    """The envelope in bytes from a commands stream. Raises InvalidInputError, naming its field; ForeignCommandError for a
    command of a game that isn't installed here."""
    _require_size(data)
    try:
        envelope_format, id_, game, seat, command = msgpack.unpackb(data)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise InvalidInputError("envelope", f"isn't [format, id, game, seat, command]: {error}") from None
    if envelope_format != ENVELOPE_FORMAT or envelope_format.__class__ is not int:
        raise InvalidInputError(
            "envelope", f"is of format {short_repr(envelope_format)}, this referee reads {ENVELOPE_FORMAT}"
        )
    header = ENVELOPE_HEADER.read({"id": id_, "game": game, "seat": seat})
    if isinstance(command, dict) and (kind := str(command.get("type"))) not in COMMAND_REGISTRY.schemas:
        raise ForeignCommandError(header, kind)
    return CommandEnvelope(header.id, header.game, header.seat, read_command(command))


# -- log entries and views -----------------------------------------------------------


class Proofs(NamedTuple):
    """The proofs that a public entry has for all that is hidden in it (docs/reference/proof.md)."""

    commitments: bytes
    leaves: bytes = b""
    openings: bytes = b""


def pack_entry(entry: Entry, split: VisibilitySplit) -> tuple[bytes, bytes]:
    """A log entry's bytes, and the bytes of what nobody but its sender knows before the game is over. `split` holds the
    rows of its events."""
    row = _logged_command(entry)
    secret = pack((entry.id, entry.seat, row, split.secret))
    return pack((ENTRY_FORMAT, entry.at, entry.id, entry.seat, row, *split)), secret


def _logged_command(entry: Entry) -> Row:
    """The command as the log has it."""
    command, repeated = entry.command, _repeated_command(entry.events)
    return (command.code,) if repeated is not None and command == repeated else command_to_row(command)


def _repeated_command(events: Sequence[Event]) -> Command | None:
    """The command that its own event repeats in full: in the log its code alone stands for it."""
    command = events[0].repeats if events else None
    if command is None:
        return None
    event_fields = EVENT_FIELDS[type(events[0])]  # in a damaged entry they may be of any type
    return command(**{name: getattr(events[0], name) for name in FIELDS[command] if name in event_fields})


def unpack_entry(data: bytes) -> Entry:
    """A log entry, its command read as strictly as from a client. Raises CorruptDataError."""
    return _unpack_entry(data, row_to_event)


def unpack_foreign_entry(data: bytes) -> Entry:
    """A log entry that anybody may have written: each of its fields is checked as strictly as a client's.

    Raises CorruptDataError, naming the field."""
    return _unpack_entry(data, foreign_row_to_event, ENTRY_HEADER.read)


def _unpack_entry(
    data: bytes,
    read_row: Callable[[Row], Event],
    check_header: Callable[[object], object] = lambda _: None,
) -> Entry:
    try:
        _, at, id_, seat, command, public, private, secret = _unpack_formatted(data)
        check_header({"at": at, "id": id_, "seat": seat})
        events = tuple(read_row(row) for row in _merge_rows(public, (*private.values(), secret)))
        repeated = _repeated_command(events)
        if repeated is None or command != (repeated.code,):
            repeated = row_to_command(command)
        return Entry(at, id_, seat, repeated, events)
    except InvalidInputError as error:
        raise CorruptDataError(f"no log entry can be read from {data[:60]!r}: {error}") from None
    except _FORM_ERRORS as error:
        raise CorruptDataError(f"no log entry can be read from {data[:60]!r}: {error}") from None


def unpack_for_fold(data: bytes) -> tuple[int, str, int | None, tuple[int, ...], list[Event]]:
    """Read from an entry all that a fold needs: time, command id, sender, seats with a private part, events.

    Raises CorruptDataError."""
    try:
        _, at, id_, seat, _, public, private, secret = _unpack_formatted(data)
        if at.__class__ is not int or id_.__class__ is not str or seat.__class__ not in (int, type(None)):
            raise TypeError("its time, command id or seat is of another type")
        if not private and not secret:  # most entries hide nothing; this is the hot path
            return at, id_, seat, (), [trusted_row_to_event(row) for row in public]
        rows = _merge_rows(public, (*private.values(), secret))
        return at, id_, seat, tuple(private), [row_to_event(row) for row in rows]
    except _FORM_ERRORS as error:
        raise CorruptDataError(f"no log entry can be read from {data[:60]!r}: {error}") from None


def pack_public(at_ms: int, split: VisibilitySplit, proofs: Proofs) -> bytes:
    """The public view's entry."""
    proof_fields = proofs if proofs.openings else proofs[:2] if proofs.leaves else proofs[:1]
    return pack((ENTRY_FORMAT, at_ms, split.public, *proof_fields))


def pack_private_part(
    previous: int, answers: str | None, rows: dict[int, Row], openings: bytes = b""
) -> bytes:
    """One seat's private part of an entry: rows by index. `previous` is the sequence number of that seat's
    previous part, `answers` the id of the seat's command that the entry decides."""
    return pack((ENTRY_FORMAT, previous, answers, rows, *((openings,) if openings else ())))


class PrivatePart(NamedTuple):
    """One seat's private part of an entry, read."""

    previous: int  # the sequence number of the seat's previous part, or 0
    answers: CommandId | None  # the seat's command that the entry decides
    rows: Mapping[int, Row]
    openings: bytes


NO_PART: Final = PrivatePart(0, None, {}, b"")


def read_public_rows(public: bytes) -> tuple[Sequence[Row | None], Proofs]:
    """The rows of a public entry and what it proves of them. Raises CorruptDataError."""
    try:
        _, _, rows, *proofs = _unpack_formatted(public)
        return rows, Proofs(*(bytes(memoryview(proof)) for proof in proofs))
    except (TypeError, ValueError) as error:
        raise CorruptDataError(f"no proofs can be read from {public[:60]!r}: {error}") from None


def read_private_part(private_part: bytes | None) -> PrivatePart:
    """A seat's private part, with its rows by index, and the salts in it. Raises CorruptDataError."""
    if not private_part:
        return NO_PART
    try:
        _, previous, answers, rows, *openings = _unpack_formatted(private_part)
        if answers is not None and not isinstance(answers, str):
            raise TypeError("what it answers isn't the id of a command")
        if not isinstance(rows, dict):
            raise TypeError("its events aren't by their indexes")
        return PrivatePart(int(previous), answers, rows, bytes(memoryview(openings[0])) if openings else b"")
    except _FORM_ERRORS as error:
        raise CorruptDataError(f"no part can be read from {private_part[:60]!r}: {error}") from None


def build_view_entry(
    sequence: int, public: bytes, private_part: bytes | None, head: bytes = b""
) -> ViewEntry:
    """The entry that a viewer gets: the public rows, with those of its private part in their places.
    `head` is the chain head after the entry, where it is known. Raises CorruptDataError."""
    at, rows = read_shown_rows(public)
    part = read_private_part(private_part)
    try:
        events = tuple(row_to_event(row) for row in _merge_rows(rows, (part.rows,)))
    except _FORM_ERRORS as error:
        raise CorruptDataError(f"no view entry can be read from {public[:60]!r}: {error}") from None
    return ViewEntry(sequence, at, part.answers, events, ShownBytes(public, private_part, head))


def read_shown_rows(public: bytes) -> tuple[int, tuple[Row | None, ...]]:
    """The time of a view's entry, and the rows of its events as everybody sees them: null for one that only its seat may
    know of. Raises CorruptDataError."""
    try:
        _, at, rows, *_ = _unpack_formatted(public)
        if at.__class__ is not int:  # a truth value is none
            raise TypeError("its time isn't a whole number")
        if not isinstance(rows, tuple):
            raise TypeError("its events aren't a list")
    except _FORM_ERRORS as error:
        raise CorruptDataError(f"no view entry can be read from {public[:60]!r}: {error}") from None
    return at, rows


def _unpack_formatted(data: bytes) -> Any:  # a tuple; the caller takes its parts by position
    value = unpack(data)
    if not isinstance(value, tuple) or not value or value[0] != ENTRY_FORMAT:
        raise CorruptDataError(f"{data[:60]!r} isn't of format {ENTRY_FORMAT}")
    return value


def _merge_rows(public: Row, private_rows: Iterable[Mapping[int, Row]]) -> list[Row]:
    """The public rows, each replaced by a fuller row where there is one; null rows are left out."""
    rows = list(public)
    for rows_by_index in private_rows:
        for index, row in rows_by_index.items():
            rows[index] = row
    return [row for row in rows if row is not None]


def join_entry(public: bytes, private_parts: Iterable[tuple[Seat, bytes]], secret: bytes) -> bytes:
    """The bytes of a sealed log entry, of its public entry P(n), its private parts S(n, i) in the order in which they
    were sealed, and what only the sender knows X(n) (docs/reference/proof.md). Raises CorruptDataError."""
    try:
        entry_format, at, public_rows, *_ = unpack(public)
        id_, seat, command, secret_rows = unpack(secret)
        private_rows = {owner: rows for owner, part in private_parts if (rows := unpack(part)[3])}
        return pack((entry_format, at, id_, seat, command, public_rows, private_rows, secret_rows))
    except (LookupError, TypeError, ValueError) as error:
        raise CorruptDataError(f"no log entry follows from {public[:60]!r}: {error}") from None


DIGEST_BYTES: Final = 6  # a collision would only hide a sender's own mistake
_PLAIN: Final = frozenset((str, int, bool, type(None)))  # types of values without an order of their own


def digest_command(command: Command) -> str:
    """Twelve hex digits: the same for the same command, in whatever order its fields and cards were named.

    Names of players are left out: a digest is stored, and who guessed a name could try it (`has_same_names` compares
    them)."""
    if isinstance(command, CreateGame):  # it holds other contracts
        plans = tuple(replace(plan, name=None) for plan in command.seats)
        return _digest(_in_order(write_command(replace(command, seats=plans))))
    if isinstance(command, TakeSeat):
        command = replace(command, name="")
    values = [getattr(command, name) for name in FIELDS[command.__class__]]
    if command.sender == "player" and all(value.__class__ in _PLAIN for value in values):
        return _digest_plain(command.code, *values)
    return _digest([command.code, *map(_in_order, values)])


@lru_cache(256, typed=True)
def _digest_plain(code: int | str, *values: object) -> str:
    """Most commands of a seat are one of few, like the draw of a card."""
    return _digest([code, *values])


def _digest(content: object) -> str:
    return blake2b(pack(content), digest_size=DIGEST_BYTES).hexdigest()


def _in_order(value: object) -> object:
    """The value with the pairs of each mapping in the order of its keys."""
    if isinstance(value, dict):
        return [(key, _in_order(inner)) for key, inner in sorted(value.items())]
    if isinstance(value, list | tuple):
        return [*map(_in_order, value)]
    return value
