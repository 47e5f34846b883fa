"""A fork: a new game that goes on from where another one stood.

Whoever wishes for one names the other game, the entry, and the seat by whose knowledge it is dealt
(`ForkGame`). A referee looks there and writes the whole table into the wish for the new game
(`CreateGame.fork`), as the facts that lay it: so the new log tells all of its own beginning, and is decided
again for ever without the other one (P4).
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from schemas.contract import Schema, contract
from schemas.field_types import Bool, GameId, Int, Seat, require_json_object


def _to_logged_rows(rows: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same rows as a log gives them back. Raises ValueError for what no log can hold."""
    require_json_object({"rows": rows})
    logged: tuple[Any, ...] = _lists_to_tuples(rows)
    return logged


def _lists_to_tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lists_to_tuples(item) for key, item in value.items()}
    return tuple(map(_lists_to_tuples, value)) if isinstance(value, list | tuple) else value


SequenceNumber = Annotated[Int, Field(ge=1)]  # of an entry
EventRows = Annotated[tuple[Any, ...], AfterValidator(_to_logged_rows)]


@contract()
class Fork:
    """Where a new game comes from, and the facts that lay its table."""

    of: GameId
    at: SequenceNumber
    asker: Seat | None  # by whose knowledge it was dealt afresh; None: by everybody's
    afresh: Bool  # what lies face down was dealt afresh; else it lies as it lay
    rules: Int  # the version of the rules that both games are played by
    facts: EventRows  # as rows on the wire: see schemas/codec.py


FORK_SCHEMA: Schema[Fork] = Schema(Fork, "fork")
