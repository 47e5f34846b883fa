"""Contracts to msgpack and back. Strict about what comes from outside, fast on the log.

On the wire an event is a row, `[code, field, field, ..]`, its fields in the order of its
contract; a type's next version gets a code of its own, so a row says which it is, and one
of a former version is read as today's. A log entry has the three parts of each event in one value:

    [2, at, id, seat, command, public, private, secret]

`public` is the row of every event as everybody may see it, or nil for an event that only
its seat may know of; `private` maps a seat to {place: row} with what it alone sees, and
`secret` maps places to rows that nobody sees before the end. The public view's entry is
`[2, at, public, commitments, leaves, openings]`, and a seat's own part is
`[2, before, id, {place: row}, openings]`, where `before` is the number of that seat's previous
part: that is how a lost one shows. docs/proof.md tells what the last ones prove. Entries of games
that began under version 2 of their rules or before have format 1, and none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from reprlib import repr as short_repr  # of a value nested ever so deep
from typing import Any, Final, NamedTuple

import msgpack

from schemas.commands import BY_CODE as COMMAND_BY_CODE
from schemas.commands import FIELDS as COMMAND_FIELDS
from schemas.commands import ClaimRoute, Command, CommandEnvelope, read_command, write_command
from schemas.contract import Schema, contract, holds_contracts
from schemas.entries import Entry, ShownBytes, ViewEntry
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import (
    BY_CODE,
    EVENTS,
    FIELDS,
    SCHEMAS,
    Event,
    RouteClaimed,
)  # fmt: skip
from schemas.events.upcasting import upcast
from schemas.field_types import CommandId, GameId, Seat

ENTRY_FORMAT: Final = 2  # of entries and parts
UNSEALED_FORMAT: Final = 1  # of those that prove nothing
ENVELOPE_FORMAT: Final = 1
MAX_ENVELOPE_BYTES: Final = 65_536  # bytes of a command on its way: a board written in place fits
Row = Sequence[Any]


pack: Final[Callable[[object], bytes]] = msgpack.packb


def unpack(data: bytes) -> Any:
    """The value that trusted bytes spell; rows come as tuples."""
    return msgpack.unpackb(data, use_list=False, strict_map_key=False)


# -- events as rows ------------------------------------------------------------------

_NESTED_EVENTS: Final = frozenset(cls for cls in EVENTS if holds_contracts(cls))  # they need their schema


def _make_field_getter(cls: type[Event]) -> Callable[[Any], tuple[Any, ...]]:
    field_names = FIELDS[cls]
    if len(field_names) > 1:
        return attrgetter(*field_names)
    return lambda event: tuple(getattr(event, name) for name in field_names)


_FIELD_GETTERS: Final = {cls: _make_field_getter(cls) for cls in EVENTS}


def event_to_row(event: Event) -> Row:
    cls = type(event)
    if cls in _NESTED_EVENTS:
        dumped = SCHEMAS[cls.type].write(event, exclude_defaults=True)
        return (cls.code, *(dumped[name] for name in FIELDS[cls]))
    return (cls.code, *_FIELD_GETTERS[cls](event))


def row_to_event(row: Row) -> Event:
    """The event of a row that a referee wrote. Unchecked but for its code and count."""
    try:
        cls = BY_CODE.get(row[0])
        if cls is None:  # of a former version, or of none
            return row_to_event(upcast(row))
        if cls in _NESTED_EVENTS:
            return SCHEMAS[cls.type].read(dict(zip(FIELDS[cls], row[1:], strict=True)))
        return cls(*row[1:])
    except LookupError:  # said without the key: a deep one breaks its own message
        raise CorruptDataError(f"no event has the code of {short_repr(row)}") from None
    except (TypeError, ValueError, InvalidInputError) as error:
        raise CorruptDataError(f"no event can be read from {short_repr(row)}: {error}") from None


# -- letters -------------------------------------------------------------------------


def pack_envelope(envelope: CommandEnvelope) -> bytes:
    """The letter's bytes. Raises Malformed if no referee would read so many."""
    data = pack((ENVELOPE_FORMAT, envelope.id, envelope.game, envelope.seat, write_command(envelope.command)))
    _require_size(data)
    return data


def _require_size(data: bytes) -> None:
    if len(data) > MAX_ENVELOPE_BYTES:
        raise InvalidInputError(
            "letter", f"has {len(data)} bytes, {MAX_ENVELOPE_BYTES} are allowed", "SIZE-1"
        )


def unpack_envelope(data: bytes) -> CommandEnvelope:
    """The letter that bytes from the commands stream spell. Raises Malformed."""
    _require_size(data)
    try:
        envelope_format, id_, game, seat, command = msgpack.unpackb(data)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise InvalidInputError("letter", f"isn't [format, id, game, seat, command]: {error}") from None
    if envelope_format != ENVELOPE_FORMAT or envelope_format.__class__ is not int:
        raise InvalidInputError(
            "letter", f"is of format {short_repr(envelope_format)}, this referee reads {ENVELOPE_FORMAT}"
        )
    header = _ENVELOPE_HEADER.read({"id": id_, "game": game, "seat": seat})
    return CommandEnvelope(header.id, header.game, header.seat, read_command(command))


# -- log entries and views -----------------------------------------------------------


class VisibilitySplit(NamedTuple):
    """An entry's events, each turned to whom it concerns: see the top of this module."""

    public: tuple[Row | None, ...]
    private: dict[int, dict[int, Row]]
    secret: dict[int, Row]


def command_to_row(command: Command) -> Row:
    """A command as a row, like an event's; trailing fields that hold nothing are left off."""
    dumped = write_command(command)
    row = [command.code, *(dumped.get(name) for name in COMMAND_FIELDS[type(command)])]
    while row[-1] is None:
        row.pop()
    return row


def row_to_command(row: Row) -> Command:
    """The command of a row from a log. Raises Malformed or Corrupt."""
    cls = COMMAND_BY_CODE.get(row[0])
    if cls is None:
        raise CorruptDataError(f"no command has the code of {short_repr(row)}")
    return read_command({"type": cls.type, **dict(zip(COMMAND_FIELDS[cls], row[1:], strict=False))})


class Proofs(NamedTuple):
    """What a public entry says of what is hidden in it: see docs/proof.md."""

    commitments: bytes
    leaves: bytes = b""
    openings: bytes = b""


def pack_entry(entry: Entry, split: VisibilitySplit, entry_format: int = ENTRY_FORMAT) -> bytes:
    return pack((entry_format, entry.at, entry.id, entry.seat, _logged_command(entry), *split))


def pack_sealed_entry(entry: Entry, split: VisibilitySplit) -> tuple[bytes, bytes]:
    """The entry, and of it what nobody but the speaker knows before the game is over."""
    row = _logged_command(entry)
    secret = pack((entry.id, entry.seat, row, split.secret))
    return pack((ENTRY_FORMAT, entry.at, entry.id, entry.seat, row, *split)), secret


def _logged_command(entry: Entry) -> Row:
    """The command as the log has it."""
    command = entry.command
    return (command.code,) if command == _claim_from_events(entry.events) else command_to_row(command)


def _claim_from_events(events: Sequence[Event]) -> Command | None:
    """The claim that its own event tells whole: in the log its code alone stands for it."""
    first = events[0] if events else None
    return ClaimRoute(first.route, first.cards) if isinstance(first, RouteClaimed) else None


def unpack_entry(data: bytes) -> Entry:
    """The whole entry, its command read as strictly as when it came."""
    try:
        _, at, id_, seat, command, public, private, secret = _unpack_formatted(data)
        events = _merge_rows(public, (*private.values(), secret))
        claim = _claim_from_events(events) if command == (ClaimRoute.code,) else None
        return Entry(at, id_, seat, claim or row_to_command(command), events)
    except (LookupError, TypeError, ValueError, AttributeError, InvalidInputError) as error:
        raise CorruptDataError(f"no log entry can be read from {data[:60]!r}: {error}") from None


def unpack_for_fold(data: bytes) -> tuple[int, str, int | None, tuple[int, ...], list[Event]]:
    """What a fold needs of an entry: time, command id, speaker, seats with a part, events."""
    try:
        _, at, id_, seat, _, public, private, secret = _unpack_formatted(data)
        if not private and not secret:  # most entries hide nothing; this is the hot path
            return at, id_, seat, (), [_trusted_row_to_event(row) for row in public]
        return at, id_, seat, tuple(private), list(_merge_rows(public, (*private.values(), secret)))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise CorruptDataError(f"no log entry can be read from {data[:60]!r}: {error}") from None


def pack_public(at_ms: int, split: VisibilitySplit, proofs: Proofs | None = None) -> bytes:
    if proofs is None:
        return pack((UNSEALED_FORMAT, at_ms, split.public))
    proof_fields = proofs if proofs.openings else proofs[:2] if proofs.leaves else proofs[:1]
    return pack((ENTRY_FORMAT, at_ms, split.public, *proof_fields))


def pack_private_part(
    previous: int,
    answers: str | None,
    rows: dict[int, Row],
    openings: bytes = b"",
    entry_format: int = ENTRY_FORMAT,
) -> bytes:
    """One seat's own part of an entry; `before` is the number of its previous part."""
    return pack(
        (entry_format, previous, answers, rows, openings)
        if openings
        else (entry_format, previous, answers, rows)
    )


def read_proofs(public: bytes) -> tuple[Sequence[Row | None], Proofs] | None:
    """The rows of a public entry and what it proves of them; None if that is nothing. Raises Corrupt."""
    try:
        entry_format, _, rows, *proofs = _unpack_formatted(public)
        if entry_format == UNSEALED_FORMAT:
            return None
        return rows, Proofs(*(bytes(memoryview(proof)) for proof in proofs))
    except (TypeError, ValueError) as error:
        raise CorruptDataError(f"no proofs can be read from {public[:60]!r}: {error}") from None


def read_private_rows(private_part: bytes) -> tuple[Mapping[int, Row], bytes]:
    """The rows of a seat's part, and the salts that it tells. Raises Corrupt."""
    try:
        _, _, _, rows, *openings = _unpack_formatted(private_part)
        return rows, bytes(memoryview(openings[0])) if openings else b""
    except (TypeError, ValueError) as error:
        raise CorruptDataError(f"no part can be read from {private_part[:60]!r}: {error}") from None


def read_previous_part(private_part: bytes) -> int:
    try:
        _, previous, *_ = _unpack_formatted(private_part)
        return int(previous)
    except (TypeError, ValueError) as error:
        raise CorruptDataError(f"no part can be read from {private_part[:60]!r}: {error}") from None


def build_view_entry(
    sequence: int, public: bytes, private_part: bytes | None, head: bytes = b""
) -> ViewEntry:
    """The entry that a viewer gets: the public one, with its own part laid over it."""
    try:
        _, at, rows, *_ = _unpack_formatted(public)
        _, _, answers, private_rows, *_ = (
            _unpack_formatted(private_part) if private_part else (ENTRY_FORMAT, 0, None, {})
        )
        return ViewEntry(
            sequence, at, answers, _merge_rows(rows, (private_rows,)), ShownBytes(public, private_part, head)
        )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise CorruptDataError(f"no view entry can be read from {public[:60]!r}: {error}") from None


def _unpack_formatted(data: bytes) -> Any:
    try:
        value = unpack(data)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise CorruptDataError(f"no msgpack in {data[:60]!r}: {error}") from None
    if not isinstance(value, tuple) or not value or value[0] not in (ENTRY_FORMAT, UNSEALED_FORMAT):
        raise CorruptDataError(f"{data[:60]!r} isn't of format {ENTRY_FORMAT}, nor of {UNSEALED_FORMAT}")
    return value


def _merge_rows(public: Row, private_rows: Iterable[dict[int, Row]]) -> tuple[Event, ...]:
    """Public rows with the rows laid over them that know more; what stays nil is left out."""
    rows = list(public)
    for rows_by_index in private_rows:
        for index, row in rows_by_index.items():
            rows[index] = row
    return tuple(row_to_event(row) for row in rows if row is not None)


def _trusted_row_to_event(row: Row) -> Event:
    cls = BY_CODE.get(row[0])
    if cls is None or cls in _NESTED_EVENTS:
        return row_to_event(row)
    return cls(*row[1:])


@contract()
class _EnvelopeHeader:
    id: CommandId
    game: GameId
    seat: Seat | None


_ENVELOPE_HEADER: Final[Schema[_EnvelopeHeader]] = Schema(_EnvelopeHeader, "letter")
