"""How the logged decision on a command differs from the rules' decision, in a sentence for an arbiter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from reprlib import repr as short_repr

from schemas.events import CommandRefused, Event, write_event
from schemas.refusals import CommandRefusedError


def difference(
    logged: Sequence[Event], replayed: Sequence[Event], rejection: CommandRefusedError | None = None
) -> str:
    """How the logged events differ from those that the rules decide; with a `rejection`, that the rules give
    the command no entry."""
    if rejection is not None:
        return f"The log has no place for this command ({rejection.rule}: {rejection.reason}), and yet it stands there."
    logged_refusal, expected_refusal = _find_refusal(logged), _find_refusal(replayed)
    if logged_refusal and expected_refusal and logged_refusal.rule != expected_refusal.rule:
        return f"It was refused by {logged_refusal.rule}; the rules refuse it by {expected_refusal.rule}: {expected_refusal.why}."
    if logged_refusal and not expected_refusal:
        return f"It was refused by {logged_refusal.rule} ({logged_refusal.why}), but the rules accept it."
    if expected_refusal and not logged_refusal:
        return f"It was accepted, but the rules refuse it by {expected_refusal.rule}: {expected_refusal.why}."
    for position, (logged_event, replayed_event) in enumerate(zip_longest(logged, replayed), 1):
        if logged_event != replayed_event:
            return f"{_event_difference(logged_event, replayed_event)} (event {position} of the entry)."
    return "The events are the same."


def _event_difference(logged: Event | None, replayed: Event | None) -> str:
    if logged is None and replayed is not None:
        return f"By the rules it also comes to {_event_name(replayed)}, which the log leaves out"
    if logged is not None and replayed is None:
        return f"The log has {_event_name(logged)}, which doesn't come of it by the rules"
    assert logged is not None
    assert replayed is not None
    if type(logged) is not type(replayed):
        return f"The log has {_event_name(logged)}; by the rules it is {_event_name(replayed)}"
    field_path, logged_value, replayed_value = _first_difference(write_event(logged), write_event(replayed))
    return f"The log has {_event_name(logged)} with the {field_path} {_format_value(logged_value)}; by the rules it is {_format_value(replayed_value)}"


def _first_difference(logged: object, replayed: object, path: str = "") -> tuple[str, object, object]:
    """The path at which two JSON-like values first differ, and the value of each there."""
    if isinstance(logged, dict) and isinstance(replayed, dict):
        pairs = (
            (str(key), logged.get(key), replayed.get(key))
            for key in (*logged, *(replayed.keys() - logged.keys()))
        )
    elif isinstance(logged, list | tuple) and isinstance(replayed, list | tuple):
        pairs = ((str(n), a, b) for n, (a, b) in enumerate(zip_longest(logged, replayed)))
    else:
        return path, logged, replayed
    for key, logged_item, replayed_item in pairs:
        if logged_item != replayed_item:
            return _first_difference(logged_item, replayed_item, f"{path}.{key}" if path else key)
    return path, logged, replayed


def _format_value(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= 80 else short_repr(value)


def _event_name(event: Event) -> str:
    return event.type.replace("_", " ")


def _find_refusal(events: Sequence[Event]) -> CommandRefused | None:
    first = events[0] if events else None
    return first if isinstance(first, CommandRefused) else None
