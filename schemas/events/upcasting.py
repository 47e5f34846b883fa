"""Earlier versions of events, and how each is converted into the next.

Old logs are read, never rewritten (P4). A type that changes gets a new version with a new code; its
old code, its fields and a pure function to the fields of the next version stay here for ever. A row
is converted from version to version until it is today's, so an event that changes again needs one
function more and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from schemas.events import BY_CODE, FIELDS

Row: TypeAlias = Sequence[Any]  # a code, then fields of any type
FieldValues: TypeAlias = Mapping[str, object]  # the values of a row by field


class FormerVersion(NamedTuple):
    """A version that is read, and no longer written."""

    type: str
    version: int
    fields: tuple[str, ...]  # in the order of its rows
    next_code: int | str
    to_next: Callable[[FieldValues], FieldValues]


FORMER_VERSIONS: Final[Mapping[int | str, FormerVersion]] = {}  # by code
assert not FORMER_VERSIONS.keys() & BY_CODE.keys(), "an earlier version's code was given again"


def upcast(row: Row) -> Row:
    """The row in the next version of its type. Raises LookupError for an unknown code, and ValueError for a
    row that doesn't have the fields of its version."""
    former = FORMER_VERSIONS[row[0]]
    fields = former.to_next(dict(zip(former.fields, row[1:], strict=True)))
    return (former.next_code, *(fields[name] for name in _field_names(former.next_code)))


def _field_names(code: int | str) -> tuple[str, ...]:
    former = FORMER_VERSIONS.get(code)
    return former.fields if former else FIELDS[BY_CODE[code]]
