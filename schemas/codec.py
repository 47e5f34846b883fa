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
from reprlib import repr as brief  # of a value nested ever so deep
from typing import Any, Final, NamedTuple

import msgpack

from schemas.commands import BY_CODE as COMMAND_BY_CODE
from schemas.commands import FIELDS as COMMAND_FIELDS
from schemas.commands import ClaimRoute, Command, Letter, read_command, write_command
from schemas.contract import Malformed, Shape, contract
from schemas.entries import Entry, Shown, ViewEntry
from schemas.events import (
    BY_CODE,
    EVENTS,
    FIELDS,
    SHAPES,
    Event,
    GameCreated,
    GameEnded,
    PlayOffCalled,
    PositionLaid,
    RouteClaimed,
)  # fmt: skip
from schemas.events.upcasting import upcast
from schemas.field_types import CommandId, GameId, Seat

FORMAT: Final = 2  # of entries and parts
UNSEALED: Final = 1  # of those that prove nothing
LETTER_FORMAT: Final = 1
LETTER_MOST: Final = 65_536  # bytes of a command on its way: a board written in place fits
Row = Sequence[Any]


class Corrupt(Exception):
    """A log or view holds what no referee writes: the store is damaged, not the game."""


pack: Final[Callable[[object], bytes]] = msgpack.packb


def unpack(data: bytes) -> Any:
    """The value that trusted bytes spell; rows come as tuples."""
    return msgpack.unpackb(data, use_list=False, strict_map_key=False)


# -- events as rows ------------------------------------------------------------------

# their fields hold contracts of their own
_NESTED: Final = (GameCreated, GameEnded, PositionLaid, PlayOffCalled)


def _getter(cls: type[Event]) -> Callable[[Any], tuple[Any, ...]]:
    names = FIELDS[cls]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda event: tuple(getattr(event, name) for name in names)


_GET: Final = {cls: _getter(cls) for cls in EVENTS}


def event_row(event: Event) -> Row:
    cls = type(event)
    if cls in _NESTED:
        written = SHAPES[cls.type].write(event, brief=True)
        return (cls.code, *(written[name] for name in FIELDS[cls]))
    return (cls.code, *_GET[cls](event))


def row_event(row: Row) -> Event:
    """The event of a row that a referee wrote. Unchecked but for its code and count."""
    try:
        cls = BY_CODE.get(row[0])
        if cls is None:  # of a former version, or of none
            return row_event(upcast(row))
        if cls in _NESTED:
            return SHAPES[cls.type].read(dict(zip(FIELDS[cls], row[1:], strict=True)))
        return cls(*row[1:])
    except LookupError:  # said without the key: a deep one breaks its own message
        raise Corrupt(f"no event has the code of {brief(row)}") from None
    except (TypeError, ValueError, Malformed) as error:
        raise Corrupt(f"no event can be read from {brief(row)}: {error}") from None


# -- letters -------------------------------------------------------------------------


def pack_letter(letter: Letter) -> bytes:
    """The letter's bytes. Raises Malformed if no referee would read so many."""
    data = pack((LETTER_FORMAT, letter.id, letter.game, letter.seat, write_command(letter.command)))
    _require_size(data)
    return data


def _require_size(data: bytes) -> None:
    if len(data) > LETTER_MOST:
        raise Malformed("letter", f"has {len(data)} bytes, {LETTER_MOST} are allowed", "SIZE-1")


def unpack_letter(data: bytes) -> Letter:
    """The letter that bytes from the commands stream spell. Raises Malformed."""
    _require_size(data)
    try:
        form, id_, game, seat, command = msgpack.unpackb(data)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise Malformed("letter", f"isn't [format, id, game, seat, command]: {error}") from None
    if form != LETTER_FORMAT or form.__class__ is not int:
        raise Malformed("letter", f"is of format {brief(form)}, this referee reads {LETTER_FORMAT}")
    address = _ADDRESS.read({"id": id_, "game": game, "seat": seat})
    return Letter(address.id, address.game, address.seat, read_command(command))


# -- log entries and views -----------------------------------------------------------


class Faces(NamedTuple):
    """An entry's events, each turned to whom it concerns: see the top of this module."""

    public: tuple[Row | None, ...]
    private: dict[int, dict[int, Row]]
    secret: dict[int, Row]


def command_row(command: Command) -> Row:
    """A command as a row, like an event's; trailing fields that hold nothing are left off."""
    written = write_command(command)
    row = [command.code, *(written.get(name) for name in COMMAND_FIELDS[type(command)])]
    while row[-1] is None:
        row.pop()
    return row


def row_command(row: Row) -> Command:
    """The command of a row from a log. Raises Malformed or Corrupt."""
    cls = COMMAND_BY_CODE.get(row[0])
    if cls is None:
        raise Corrupt(f"no command has the code of {brief(row)}")
    return read_command({"type": cls.type, **dict(zip(COMMAND_FIELDS[cls], row[1:], strict=False))})


class Proofs(NamedTuple):
    """What a public entry says of what is hidden in it: see docs/proof.md."""

    commitments: bytes
    leaves: bytes = b""
    openings: bytes = b""


def pack_entry(entry: Entry, faces: Faces, form: int = FORMAT) -> bytes:
    return pack((form, entry.at, entry.id, entry.seat, _spoken(entry), *faces))


def pack_sealed(entry: Entry, faces: Faces) -> tuple[bytes, bytes]:
    """The entry, and of it what nobody but the speaker knows before the game is over."""
    row = _spoken(entry)
    secret = pack((entry.id, entry.seat, row, faces.secret))
    return pack((FORMAT, entry.at, entry.id, entry.seat, row, *faces)), secret


def _spoken(entry: Entry) -> Row:
    """The command as the log has it."""
    command = entry.command
    return (command.code,) if command == _claim_told_by(entry.events) else command_row(command)


def _claim_told_by(events: Sequence[Event]) -> Command | None:
    """The claim that its own event tells whole: in the log its code alone stands for it."""
    first = events[0] if events else None
    return ClaimRoute(first.route, first.cards) if isinstance(first, RouteClaimed) else None


def unpack_entry(data: bytes) -> Entry:
    """The whole entry, its command read as strictly as when it came."""
    try:
        _, at, id_, seat, command, public, private, secret = _formatted(data)
        events = _whole(public, (*private.values(), secret))
        told = _claim_told_by(events) if command == (ClaimRoute.code,) else None
        return Entry(at, id_, seat, told or row_command(command), events)
    except (LookupError, TypeError, ValueError, AttributeError, Malformed) as error:
        raise Corrupt(f"no log entry can be read from {data[:60]!r}: {error}") from None


def unpack_facts(data: bytes) -> tuple[int, str, int | None, tuple[int, ...], list[Event]]:
    """What a fold needs of an entry: time, command id, speaker, seats with a part, events."""
    try:
        _, at, id_, seat, _, public, private, secret = _formatted(data)
        if not private and not secret:  # most entries hide nothing; this is the hot path
            return at, id_, seat, (), [_fact(row) for row in public]
        return at, id_, seat, tuple(private), list(_whole(public, (*private.values(), secret)))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise Corrupt(f"no log entry can be read from {data[:60]!r}: {error}") from None


def pack_public(at: int, faces: Faces, proofs: Proofs | None = None) -> bytes:
    if proofs is None:
        return pack((UNSEALED, at, faces.public))
    told = proofs if proofs.openings else proofs[:2] if proofs.leaves else proofs[:1]
    return pack((FORMAT, at, faces.public, *told))


def pack_part(
    before: int, answers: str | None, rows: dict[int, Row], openings: bytes = b"", form: int = FORMAT
) -> bytes:
    """One seat's own part of an entry; `before` is the number of its previous part."""
    return pack((form, before, answers, rows, openings) if openings else (form, before, answers, rows))


def proofs_of(public: bytes) -> tuple[Sequence[Row | None], Proofs] | None:
    """The rows of a public entry and what it proves of them; None if that is nothing. Raises Corrupt."""
    try:
        form, _, rows, *proofs = _formatted(public)
        if form == UNSEALED:
            return None
        return rows, Proofs(*(bytes(memoryview(run)) for run in proofs))
    except (TypeError, ValueError) as error:
        raise Corrupt(f"no proofs can be read from {public[:60]!r}: {error}") from None


def part_rows(part: bytes) -> tuple[Mapping[int, Row], bytes]:
    """The rows of a seat's part, and the salts that it tells. Raises Corrupt."""
    try:
        _, _, _, rows, *openings = _formatted(part)
        return rows, bytes(memoryview(openings[0])) if openings else b""
    except (TypeError, ValueError) as error:
        raise Corrupt(f"no part can be read from {part[:60]!r}: {error}") from None


def part_before(part: bytes) -> int:
    try:
        _, before, *_ = _formatted(part)
        return int(before)
    except (TypeError, ValueError) as error:
        raise Corrupt(f"no part can be read from {part[:60]!r}: {error}") from None


def join_view(number: int, public: bytes, part: bytes | None, head: bytes = b"") -> ViewEntry:
    """The entry that a viewer gets: the public one, with its own part laid over it."""
    try:
        _, at, rows, *_ = _formatted(public)
        _, _, answers, own, *_ = _formatted(part) if part else (FORMAT, 0, None, {})
        return ViewEntry(number, at, answers, _whole(rows, (own,)), Shown(public, part, head))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise Corrupt(f"no view entry can be read from {public[:60]!r}: {error}") from None


def _formatted(data: bytes) -> Any:
    try:
        value = unpack(data)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise Corrupt(f"no msgpack in {data[:60]!r}: {error}") from None
    if not isinstance(value, tuple) or not value or value[0] not in (FORMAT, UNSEALED):
        raise Corrupt(f"{data[:60]!r} isn't of format {FORMAT}, nor of {UNSEALED}")
    return value


def _whole(public: Row, over: Iterable[dict[int, Row]]) -> tuple[Event, ...]:
    """Public rows with the rows laid over them that know more; what stays nil is left out."""
    rows = list(public)
    for patch in over:
        for place, row in patch.items():
            rows[place] = row
    return tuple(row_event(row) for row in rows if row is not None)


def _fact(row: Row) -> Event:
    cls = BY_CODE.get(row[0])
    if cls is None or cls in _NESTED:
        return row_event(row)
    return cls(*row[1:])


@contract()
class _Address:
    id: CommandId
    game: GameId
    seat: Seat | None


_ADDRESS: Final[Shape[_Address]] = Shape(_Address, "letter")
