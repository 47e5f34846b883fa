"""What the verifier in one file knows of events: lines of deploy/verify_game.py that follow from the contracts.

That file imports nothing of the product, so `python -m schemas.json_schema` writes them into it.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Final

from schemas.contract import WHOLE_EVENT, Private, Public
from schemas.events import FIELDS, Event
from schemas.published_contracts import EVENTS
from schemas.trains.field_types import CARDS

VERIFIER: Final = Path(__file__).parents[1] / "deploy" / "verify_game.py"
BEGIN: Final = "# -- written by `make schemas` from the contracts of events --\n"
END: Final = "# -- until here --\n"


def verifier_text() -> str:
    """The verifier as it should be: its own text, with the tables that the contracts give."""
    before, rest = VERIFIER.read_text(encoding="utf-8").split(BEGIN)
    return before + BEGIN + _tables() + END + rest.split(END)[1]


def _tables() -> str:
    events = sorted(EVENTS, key=lambda cls: int(cls.code))
    rows = ", ".join(f"{cls.code}: {_facts(cls)}" for cls in events)
    laid = " ".join(cls.type for cls in events if cls.lays)
    cards = " ".join(CARDS)
    return (
        f"CARDS = {cards!r}.split()  # noqa: SIM905\n".replace("'", '"')
        + f'LAID = "{laid}".split()  # noqa: SIM905\n'
        + "EVENTS = {  # by code: type, length of a row; places of the seat, of what others don't see, of what is drawn\n"
        + fill(rows, 128, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
        + "\n}  # fmt: skip\n"
    )


def _facts(cls: type[Event]) -> str:
    """The value of a type in EVENTS; without a seat nobody knows what is hidden, and "all" hides the event itself."""
    places = {name: place for place, name in enumerate(FIELDS[cls], 1)}
    visibility, owner, hidden = cls.visibility, 0, "()"
    if not isinstance(visibility, Public):
        hides = visibility.hides
        owner = places[visibility.owner] if isinstance(visibility, Private) else 0
        hidden = '"all"' if hides == WHOLE_EVENT else repr(tuple(places[name] for name in hides))
    return f'("{cls.type}", {1 + len(places)}, {owner}, {hidden}, {places.get(cls.draws, 0)})'
