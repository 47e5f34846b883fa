"""How two verdicts on one command differ, in a sentence for an arbiter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from reprlib import repr as brief

from schemas.events import CommandRefused, Event, write_event
from schemas.refusals import Refused


def difference(told: Sequence[Event], again: Sequence[Event], kept: Refused | None = None) -> str:
    """What the log tells, and what the rules say instead; `kept` is why they give it no entry at all."""
    if kept is not None:
        return f"The log has no place for this command ({kept.rule}: {kept.why}), and yet it stands there."
    was, ought = _refusal(told), _refusal(again)
    if was and ought and was.rule != ought.rule:
        return f"It was refused by {was.rule}; the rules refuse it by {ought.rule}: {ought.why}."
    if was and not ought:
        return f"It was refused by {was.rule} ({was.why}), but the rules accept it."
    if ought and not was:
        return f"It was accepted, but the rules refuse it by {ought.rule}: {ought.why}."
    for place, (one, other) in enumerate(zip_longest(told, again), 1):
        if one != other:
            return f"{_apart(one, other)} (event {place} of the entry)."
    return "The events are the same."


def _apart(told: Event | None, again: Event | None) -> str:
    if told is None and again is not None:
        return f"By the rules it also comes to {_name(again)}, which the log leaves out"
    if told is not None and again is None:
        return f"The log tells of {_name(told)}, which doesn't come of it by the rules"
    assert told is not None
    assert again is not None
    if type(told) is not type(again):
        return f"The log tells of {_name(told)}; by the rules it is {_name(again)}"
    place, was, ought = _first(write_event(told), write_event(again))
    return (
        f"The log tells of {_name(told)} with the {place} {_shown(was)}; by the rules it is {_shown(ought)}"
    )


def _first(told: object, again: object, place: str = "") -> tuple[str, object, object]:
    """Where two JSON-like values first differ, and what stands there in each."""
    if isinstance(told, dict) and isinstance(again, dict):
        pairs = ((str(key), told.get(key), again.get(key)) for key in (*told, *(again.keys() - told.keys())))
    elif isinstance(told, list | tuple) and isinstance(again, list | tuple):
        pairs = ((str(n), a, b) for n, (a, b) in enumerate(zip_longest(told, again)))
    else:
        return place, told, again
    for key, one, other in pairs:
        if one != other:
            return _first(one, other, f"{place}.{key}" if place else key)
    return place, told, again


def _shown(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= 80 else brief(value)


def _name(event: Event) -> str:
    return event.type.replace("_", " ")


def _refusal(events: Sequence[Event]) -> CommandRefused | None:
    first = events[0] if events else None
    return first if isinstance(first, CommandRefused) else None
