"""Events and commands as rows, and rows as msgpack.

A row is `[code, field, field, ..]`, its fields in the order of the contract's declaration. A type's next
version gets a code of its own, so a row says which version it is, and one of an earlier version is read as
today's (schemas/events.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from reprlib import repr as short_repr  # a value may be nested too deep to show
from typing import Any, Final, NamedTuple

import msgpack

from schemas.commands import BY_CODE as COMMAND_BY_CODE
from schemas.commands import FIELDS as COMMAND_FIELDS
from schemas.commands import Command, read_command, write_command
from schemas.contract import holds_contracts
from schemas.errors import CorruptDataError, InvalidInputError, missing_game
from schemas.events import BY_CODE, FIELDS, SCHEMAS, Event, Row, upcast
from schemas.registry import GAMES_CODE, MadeOnce

_Packer: Final = msgpack.Packer  # one for each value: `packb` would also take options, in a sixth of its time


def pack(value: object) -> bytes:
    """The value as msgpack. Raises what msgpack does: OverflowError, TypeError or ValueError."""
    packed: bytes = _Packer().pack(value)
    return packed


def unpack(data: bytes) -> Any:  # the caller knows its form
    """The value of msgpack bytes that the product wrote; lists come as tuples. Raises CorruptDataError."""
    try:
        return msgpack.unpackb(data, use_list=False, strict_map_key=False)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise CorruptDataError(f"no msgpack in {data[:60]!r}: {error}") from None


class VisibilitySplit(NamedTuple):
    """An entry's events by who may know them: rows of what everybody may (null for an event that only its
    seat may know of), and the full rows by seat and index, or by index, of what the public row hides."""

    public: tuple[Row | None, ...]
    private: dict[int, dict[int, Row]]
    secret: dict[int, Row]


# -- events --------------------------------------------------------------------------

_IS_NESTED: Final[MadeOnce[Event, bool]] = MadeOnce(holds_contracts)  # these need their schema


def _make_row_writer(cls: type[Event]) -> Callable[[Event], Row]:
    if _IS_NESTED[cls]:
        return partial(_write_nested, cls)
    field_names = FIELDS[cls]
    if len(field_names) < 2:
        return lambda event: (cls.code, *(getattr(event, name) for name in field_names))
    fields_of = attrgetter(*field_names)
    return lambda event: (cls.code, *fields_of(event))


def _write_nested(cls: type[Event], event: Event) -> Row:
    dumped = SCHEMAS[cls.type].write(event, exclude_defaults=True)
    return (cls.code, *(dumped[name] for name in FIELDS[cls]))


_ROW_WRITERS: Final = MadeOnce(_make_row_writer)


def event_to_row(event: Event) -> Row:
    """An event as the row that is stored: its code, then its fields in the order of their declaration."""
    return _ROW_WRITERS[type(event)](event)


PLAIN_CLASSES: Final[dict[int | str, type[Event]]] = {}  # by code: those met before that hold no contract


def row_to_event(row: Row) -> Event:
    """The event of a row that a referee wrote, of any version. Its fields aren't checked, but for their
    count. Raises CorruptDataError."""
    try:
        if (plain := PLAIN_CLASSES.get(row[0])) is not None:
            return plain(*row[1:])
        cls = BY_CODE.get(row[0])
        if cls is None:  # of an earlier version, or of none
            return row_to_event(upcast(row))
        if _IS_NESTED[cls]:
            return SCHEMAS[cls.type].read(dict(zip(FIELDS[cls], row[1:], strict=True)))
        PLAIN_CLASSES[row[0]] = cls
        return cls(*row[1:])
    except LookupError:  # without the key: a deep one breaks its own message
        if isinstance(row[0], str) and GAMES_CODE.fullmatch(row[0]):
            raise missing_game(f"the game {row[0].split(':')[0]}, which has the event {row[0]},") from None
        raise CorruptDataError(
            f"no event has the code of {short_repr(row)}: a later version may have written it"
        ) from None
    except InvalidInputError as error:
        raise CorruptDataError(f"no event can be read from {short_repr(row)}: {error}") from None
    except (TypeError, ValueError) as error:  # it is no row, or has too few or too many fields
        raise CorruptDataError(f"no event can be read from {short_repr(row)}: {error}") from None


def foreign_row_to_event(row: Row) -> Event:
    """The event of a row that anybody may have written: its fields are checked as strictly as a client's.

    Raises CorruptDataError, naming the field."""
    event = row_to_event(row)
    if _IS_NESTED[type(event)]:
        return event  # it was read by its schema already
    try:
        return SCHEMAS[event.type].read({name: getattr(event, name) for name in FIELDS[type(event)]})
    except InvalidInputError as error:
        raise CorruptDataError(f"no {event.type} can be read from {short_repr(row)}: {error}") from None


def trusted_row_to_event(row: Row) -> Event:
    """The event of a row that was read before: faster than `row_to_event`; a damaged row raises Python's own errors."""
    cls = PLAIN_CLASSES.get(row[0])
    return row_to_event(row) if cls is None else cls(*row[1:])


def _make_plain_fields(cls: type[Event]) -> tuple[str, ...] | None:
    """The names of a row's values, where they are written as they are: in no contract, and no name of a player's."""
    return None if _IS_NESTED[cls] or "name_commitment" in FIELDS[cls] else ("type", *FIELDS[cls])


_PLAIN_FIELDS: Final = MadeOnce(_make_plain_fields)


def row_to_json(row: Row) -> dict[str, object] | None:
    """The event of a row as `write_event` writes it, where that takes nothing but the names of its fields; else None,
    as where a name may stand in it."""
    try:
        cls = BY_CODE[row[0]]
        field_names = _PLAIN_FIELDS[cls]
        if field_names is None:
            return None
        written: dict[str, object] = dict(zip(field_names, row, strict=True))
    except (LookupError, TypeError, ValueError):
        return None
    written["type"] = cls.type  # in place of its code
    return written


# -- commands ------------------------------------------------------------------------

_IS_NESTED_COMMAND: Final[MadeOnce[Command, bool]] = MadeOnce(holds_contracts)


def command_to_row(command: Command) -> Row:
    """A command as a row, like an event's; trailing fields that are null are left off."""
    field_names = COMMAND_FIELDS[command.__class__]
    row: list[object]
    if _IS_NESTED_COMMAND[command.__class__]:
        dumped = write_command(command)
        row = [command.code, *(dumped.get(name) for name in field_names)]
    else:
        row = [command.code, *[getattr(command, name) for name in field_names]]
    while row[-1] is None:
        row.pop()
    return row


def row_to_command(row: Row) -> Command:
    """The command of a row from a log. Raises InvalidInputError or CorruptDataError."""
    cls = COMMAND_BY_CODE.get(row[0])
    if cls is None:
        raise CorruptDataError(f"no command has the code of {short_repr(row)}")
    return read_command({"type": cls.type, **dict(zip(COMMAND_FIELDS[cls], row[1:], strict=False))})
