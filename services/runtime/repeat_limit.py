"""Errors that repeat are logged once, then counted: a broken game that is tried again and again fills no disk.

Errors count together that are of one service, say the same, and are about the same game (or partition, job, board).
The first is logged as it is. Once a minute one line for each service and kind says how many more there were,
and about what. A subject that was quiet for a minute is news again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from threading import Lock, Timer
from typing import Final, NamedTuple

import structlog

SUMMARY_S: Final = 60.0
MAX_SUBJECTS: Final = 1_000  # of a kind; the errors about others are only counted
MAX_LISTED: Final = 10  # subjects that a summary names, those with the most errors
SUBJECTS: Final = ("game", "partition", "job", "dispute", "board", "key", "channel")


class Kind(NamedTuple):
    """What errors say, without what they are about."""

    service: str
    event: str


class Seen(NamedTuple):
    """What was logged of a kind: when a subject was last the subject of an error, and what wasn't logged since."""

    last_s: dict[str, float]
    unlogged: Counter[str]


class RepeatLimit:
    """A structlog processor. `write_summary` is called with the service, the sentence and its fields."""

    def __init__(
        self,
        write_summary: Callable[[str, str, dict[str, object]], object],
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._write_summary, self._monotonic_s = write_summary, monotonic_s
        self._seen: dict[Kind, Seen] = {}
        self._lock = Lock()
        self._timer: Timer | None = None

    def __call__(
        self, _: object, method: str, event_dict: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        """The line; raises DropEvent where it is only counted."""
        if _is_limited(method, event_dict) and not self._is_news(event_dict):
            raise structlog.DropEvent
        return event_dict

    def flush(self) -> None:
        """Write what was counted, and forget the subjects that are quiet."""
        with self._lock:
            now_s, self._timer = self._monotonic_s(), None
            summaries = [(kind, seen.unlogged.copy()) for kind, seen in self._seen.items() if seen.unlogged]
            for kind, seen in list(self._seen.items()):
                seen.unlogged.clear()
                for subject, last_s in list(seen.last_s.items()):
                    if now_s - last_s >= SUMMARY_S:
                        del seen.last_s[subject]
                if not seen.last_s:
                    del self._seen[kind]
        for kind, unlogged in summaries:
            fields = {"more": unlogged.total(), "about": dict(unlogged.most_common(MAX_LISTED))}
            self._write_summary(kind.service, f"repeated: {kind.event}", fields)

    def _is_news(self, event_dict: structlog.typing.EventDict) -> bool:
        kind = Kind(str(event_dict.get("service", "")), str(event_dict.get("event", "")))
        subject = next((str(event_dict[name]) for name in SUBJECTS if name in event_dict), "")
        with self._lock:
            now_s = self._monotonic_s()
            seen = self._seen.setdefault(kind, Seen({}, Counter()))
            last_s = seen.last_s.get(subject)
            is_news = (last_s is None and len(seen.last_s) < MAX_SUBJECTS) or (
                last_s is not None and now_s - last_s >= SUMMARY_S
            )
            if is_news or last_s is not None:
                seen.last_s[subject] = now_s
            if not is_news:
                seen.unlogged[subject if last_s is not None else "others"] += 1
                self._start_timer()
        return is_news

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = Timer(SUMMARY_S, self.flush)
            self._timer.daemon = True
            self._timer.start()


def _is_limited(method: str, event_dict: structlog.typing.EventDict) -> bool:
    """Errors, and warnings about a game. Other warnings tell of a change, and each of them is news."""
    is_error = method in {"error", "exception", "critical"}
    return is_error or (method == "warning" and "game" in event_dict)
