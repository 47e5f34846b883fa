"""Every command of a log decided again: a difference from the log is a finding, in a sentence for an arbiter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from schemas.events import CommandRefused, Event, write_event
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from schemas.stored.entries import Entry
from services.verification.log_check import Finding
from services.verification.replay import Replay, ReplayedDecision

MAX_VALUE_LENGTH: Final = 120  # characters


def replay_findings(replay: Replay) -> Iterator[Finding]:
    """The entries that the rules don't decide so. Ends at the first that can't be read or applied: nothing after it
    means anything."""
    first_answers: dict[tuple[Seat | None, str], int] = {}
    entries, error = replay.redecided
    for sequence, entry, decision, early_by_ms in entries:
        if early_by_ms:
            yield Finding(
                sequence, "fold", f"Its time is {early_by_ms} ms before that of the entry before it."
            )
        earlier = first_answers.setdefault((entry.seat, entry.id), sequence)
        if earlier != sequence:
            command = "The command" if entry.seat is None else f"Command {entry.id}"
            yield Finding(sequence, "verdict", f"{command} had its verdict in entry {earlier} already.")
        if why := verdict_doubt(entry, decision):
            yield Finding(sequence, "verdict", why)
    if error is not None:
        yield Finding(len(entries) + 1, "fold", f"The entry can't be read or folded: {error}.")
    elif not entries:
        yield Finding(None, "fold", "The log is empty.")


def verdict_doubt(entry: Entry, decision: ReplayedDecision) -> str:
    """Say how an entry differs from the rules' decision on its command; empty if it doesn't."""
    if decision.error is not None:
        return f"The rules have no answer to this command: {decision.error}."
    if decision.agrees_with(entry.events):
        return ""
    return difference(entry.events, decision.events, decision.rejection)


def difference(
    logged: Sequence[Event], replayed: Sequence[Event], rejection: CommandRefusedError | None = None
) -> str:
    """Say how the logged events differ from those that the rules decide, or from their rejection."""
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
    logged_text, replayed_text = value_in_words(logged_value), value_in_words(replayed_value)
    return f"The log has {_event_name(logged)} with {logged_text} as the {_path_in_words(field_path)}; by the rules it is {replayed_text}"


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


def value_in_words(value: object) -> str:
    """A JSON-like value as people read it, in at most MAX_VALUE_LENGTH characters."""
    match value:
        case bool():
            text = "yes" if value else "no"
        case int():
            text = str(value)
        case _ if not value:
            text = "nothing"
        case dict() if all(isinstance(count, int) for count in value.values()):
            text = ", ".join(f"{count} {name}" for name, count in value.items())
        case dict():
            text = ", ".join(f"{name} {value_in_words(item)}" for name, item in value.items())
        case list() | tuple():
            text = ", ".join(value_in_words(item) for item in value)
        case _:
            text = str(value)
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[: MAX_VALUE_LENGTH - 4]} ..."


def _path_in_words(path: str) -> str:
    """A path of fields and places, from the inside out: "total of no. 2 of scores"."""
    parts = [f"no. {int(part) + 1}" if part.isdigit() else part for part in reversed(path.split("."))]
    return " of ".join(part.replace("_", " ") for part in parts)


def _event_name(event: Event) -> str:
    return event.type.replace("_", " ")


def _find_refusal(events: Sequence[Event]) -> CommandRefused | None:
    first = events[0] if events else None
    return first if isinstance(first, CommandRefused) else None
