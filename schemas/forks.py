"""The origin of a fork, and the events that lay its first state.

A fork is a new game that goes on from the state of another one after an entry. `ForkGame` names the other game, the entry,
and the seat by whose knowledge hidden cards are dealt. It is expanded into a CreateGame whose `fork` holds that state as
events: so the new log holds all of its own beginning, and can be decided again without the other one (P4).
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from schemas.contract import Schema, contract
from schemas.field_types import Bool, GameId, Int, Seat, lists_to_tuples, require_json_object


def _to_logged_rows(rows: tuple[object, ...]) -> tuple[object, ...]:
    """Convert rows to what a log gives back. Raises ValueError for what no log can hold."""
    require_json_object({"rows": rows})
    return tuple(map(lists_to_tuples, rows))


SequenceNumber = Annotated[Int, Field(ge=1, le=2**53)]  # of an entry
EventRows = Annotated[tuple[Any, ...], AfterValidator(_to_logged_rows)]  # pydantic: of any form


@contract()
class Fork:
    """The origin of a new game, and the events that make its first state."""

    of: GameId
    at: SequenceNumber
    asker: Seat | None  # by whose knowledge hidden cards were dealt afresh; None: by everybody's
    afresh: Bool  # what is hidden was dealt afresh; else it is where it was
    rules: Int  # the version of the rules that both games are played by
    facts: EventRows  # as rows: see schemas/stored/rows.py


FORK_SCHEMA: Schema[Fork] = Schema(Fork, "fork")
