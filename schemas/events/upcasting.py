"""Earlier versions of events, and how each is converted into the next.

Old logs are read, never rewritten (P4). A type that changes gets a new version with a new code; its
old code, its fields and a pure function to the fields of the next version stay here for ever. A row
is converted from version to version until it is today's, so an event that changes again needs one
function more and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from schemas.events import BY_CODE, FIELDS, AccessSet, Event, SeatTaken

FieldValues: TypeAlias = Mapping[str, Any]  # the values of a row, of any type, by field


class FormerVersion(NamedTuple):
    """A version that is read, and no longer written."""

    type: str
    version: int
    fields: tuple[str, ...]  # in the order of its rows
    next_code: int
    to_next: Callable[[FieldValues], FieldValues]


def _add_move_limit(fields: FieldValues) -> FieldValues:
    """Version 2 has a limit for one move, and the game clock's time, from which entries count, apart from
    the wall clock's. Before, no move had a limit and the wall clock was both."""
    rule_options = {**fields["parameters"], "move_ms": None}
    return {**fields, "parameters": rule_options, "opened": fields["created"]}


def _add_seed_origin(fields: FieldValues) -> FieldValues:
    """Version 2 has whether the game's creator named the seed. Before, nobody did."""
    return {**fields, "given": None}


def _add_contribution(fields: FieldValues) -> FieldValues:
    """Version 2 has the seat's part of the game's randomness. Before, all of it was the server's."""
    return {**fields, "contribution": None, "by": None}


def _add_name_commitment(fields: FieldValues) -> FieldValues:
    """Version 3 has a commitment in place of a player's name. Before, all names were in the log."""
    return {**fields, "name_commitment": None}


def _add_commitment_root(fields: FieldValues) -> FieldValues:
    """Version 2 commits to each card. Before, only the seed was committed to."""
    return {**fields, "root": None}


def _add_suggestions(fields: FieldValues) -> FieldValues:
    """Version 2 has whether suggestions are allowed. Before, nobody asked for any."""
    return {**fields, "suggestions": None}


FORMER_VERSIONS: Final[Mapping[int, FormerVersion]] = {  # by code
    1: FormerVersion(
        "game_created",
        1,
        (
            *("game", "ruleset", "rules", "board", "board_digest", "board_form"),
            *("parameters", "seats", "play_off", "created"),
        ),
        40,
        _add_move_limit,
    ),
    2: FormerVersion("seat_taken", 1, ("seat", "name", "policy", "age", "luck"), 42, _add_contribution),
    4: FormerVersion("deck_shuffled", 1, ("order",), 41, _add_commitment_root),
    5: FormerVersion("tickets_shuffled", 1, ("deck", "order"), 45, _add_commitment_root),
    22: FormerVersion("seed_sealed", 1, ("commitment", "seed"), 43, _add_seed_origin),
    42: FormerVersion(
        "seat_taken",
        2,
        ("seat", "name", "policy", "age", "luck", "contribution", "by"),
        55,
        _add_name_commitment,
    ),
    60: FormerVersion(
        "access_set", 1, ("visible_to", "spectator_delay", "by_invitation"), 61, _add_suggestions
    ),
}
assert not FORMER_VERSIONS.keys() & BY_CODE.keys(), "an earlier version's code was given again"

# Versions that are still written: an event in which this field, the last of its type, is null is written as the
# version before it. So a sealed log of before, sealed again, gives its own bytes.
STILL_WRITTEN: Final[Mapping[type[Event], tuple[int, str]]] = {
    SeatTaken: (42, "name_commitment"),
    AccessSet: (60, "suggestions"),
}


def upcast(row: Sequence[Any]) -> Sequence[object]:  # a code, then fields of any type
    """The row in the next version of its type. Raises LookupError for an unknown code, and ValueError for a
    row that doesn't have the fields of its version."""
    former = FORMER_VERSIONS[row[0]]
    fields = former.to_next(dict(zip(former.fields, row[1:], strict=True)))
    return (former.next_code, *(fields[name] for name in _field_names(former.next_code)))


def event_class(code: int) -> type[Event] | None:
    """The class of the events whose rows have this code, of any version; None for no event's."""
    while (former := FORMER_VERSIONS.get(code)) is not None:
        code = former.next_code
    return BY_CODE.get(code)


def _field_names(code: int) -> tuple[str, ...]:
    former = FORMER_VERSIONS.get(code)
    return former.fields if former else FIELDS[BY_CODE[code]]
