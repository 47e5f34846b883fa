"""Clocks by name, for people at a table.

A table with people has a clock for the whole game only if its creation sets one: a ruleset's own may be that of a
competition between programs, and would end a game of people before they have read the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from schemas.errors import InvalidInputError
from services.gateway.models.response_models import ClockPreset

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS
# In place of the ruleset's own at a table with people, unless the creation or its board sets them.
WITH_PEOPLE: Final[Mapping[str, None]] = MappingProxyType({"clock_ms": None})


def _preset(name: str, title: str, meaning: str, clock_ms: int | None, move_ms: int | None) -> ClockPreset:
    return ClockPreset(
        name=name, title=title, meaning=meaning, options={"clock_ms": clock_ms, "move_ms": move_ms}
    )


PRESETS: Final = {
    preset.name: preset
    for preset in (
        _preset("live", "Live", "30 minutes each, 5 minutes a move", 30 * MINUTE_MS, 5 * MINUTE_MS),
        _preset("evening", "An evening", "2 hours each, 30 minutes a move", 2 * HOUR_MS, 30 * MINUTE_MS),
        _preset("week", "A week", "7 days each, 1 day a move", 7 * DAY_MS, DAY_MS),
        _preset("days", "No hurry", "3 days a move, no other clock", None, 3 * DAY_MS),
        _preset("blitz", "Blitz", "5 minutes each, 1 minute a move", 5 * MINUTE_MS, MINUTE_MS),
        _preset("ai-mas", "AI-MAS", "2 minutes each, as programs play it", 2 * MINUTE_MS, 3 * DAY_MS),
    )
}


def with_clock(body: Mapping[str, object]) -> dict[str, object]:
    """The body of a creation with its clock in `options`: the preset that `clock` names, or none for the whole game at a
    table with people. Options that the creation or its own board sets stay as they are.

    Raises InvalidInputError: there is no such preset."""
    fields = dict(body)
    name, board = fields.pop("clock", None), fields.get("board")
    options = fields.get("options") or {}
    if not isinstance(options, dict):
        return fields  # the contract refuses it, and says how
    if name is not None:
        preset = PRESETS.get(name) if isinstance(name, str) else None
        if preset is None:
            raise InvalidInputError("clock", f"must be one of {', '.join(PRESETS)}")
        fields["options"] = {**preset.options, **options}
    elif _has_people(fields.get("seats")):
        board_options = board.get("options") if isinstance(board, dict) else None
        usual = {} if isinstance(board_options, dict) and "clock_ms" in board_options else WITH_PEOPLE
        fields["options"] = {**usual, **options}
    return fields


def _has_people(seats: object) -> bool:
    return isinstance(seats, list) and any(
        isinstance(plan, dict) and plan.get("kind", "human") == "human" for plan in seats
    )
