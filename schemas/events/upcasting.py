"""Former versions of events, and what each says in the words of the next.

Old logs are read, never rewritten (P4). A type that changes gets a new version with a new code;
its old code, the fields that went by it and a pure function to the fields of the version after it
stay here for ever. A row goes from version to version until it is one of today's, so an event
that changes again needs one function more and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from schemas.events import BY_CODE, FIELDS

Told: TypeAlias = Mapping[str, Any]  # what a row's fields hold, by their names


class Former(NamedTuple):
    """One version that is written no more."""

    type: str
    version: int
    fields: tuple[str, ...]  # in the order of its rows
    code_of_next: int
    as_next: Callable[[Told], Told]


def _with_time_for_a_move(told: Told) -> Told:
    """Version 2 has a limit for one move, and tells the house's time, by which entries count, from
    the wall clock's. Before, no move had a limit and the wall clock was both."""
    parameters = {**told["parameters"], "move_ms": None}
    return {**told, "parameters": parameters, "opened": told["created"]}


def _not_named(told: Told) -> Told:
    """Version 2 says whether the seed was named by whoever created the game. Before, nobody did."""
    return {**told, "given": None}


def _without_a_say(told: Told) -> Told:
    """Version 2 has the seat's own part in the game's chance. Before, all of it was the house's."""
    return {**told, "contribution": None, "by": None}


def _uncommitted(told: Told) -> Told:
    """Version 2 commits to each card. Before, only the seed was committed to."""
    return {**told, "root": None}


FORMER: Final[Mapping[int, Former]] = {  # by code
    1: Former(
        "game_created",
        1,
        (
            *("game", "ruleset", "rules", "board", "board_digest", "board_form"),
            *("parameters", "seats", "play_off", "created"),
        ),
        40,
        _with_time_for_a_move,
    ),
    2: Former("seat_taken", 1, ("seat", "name", "policy", "age", "luck"), 42, _without_a_say),
    4: Former("deck_shuffled", 1, ("order",), 41, _uncommitted),
    5: Former("tickets_shuffled", 1, ("deck", "order"), 45, _uncommitted),
    22: Former("seed_sealed", 1, ("commitment", "seed"), 43, _not_named),
}
assert not FORMER.keys() & BY_CODE.keys(), "a former version's code was given again"


def upcast(row: Sequence[Any]) -> Sequence[Any]:
    """The row as the next version of its type has it. Raises LookupError for a code that never
    was, and ValueError for a row that its version doesn't fit."""
    former = FORMER[row[0]]
    told = former.as_next(dict(zip(former.fields, row[1:], strict=True)))
    return (former.code_of_next, *(told[name] for name in _fields(former.code_of_next)))


def _fields(code: int) -> tuple[str, ...]:
    former = FORMER.get(code)
    return former.fields if former else FIELDS[BY_CODE[code]]
