"""Log lines: JSON for machines; aligned and coloured on a terminal.

Errors that repeat are logged once, then counted: a broken game that is tried again and again fills no disk. Nor does a
stranger whose commands are refused by the thousand: the lines of each event have a rate."""

from __future__ import annotations

import atexit
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable
from io import StringIO
from threading import Lock, Timer
from typing import Final, NamedTuple, TextIO

import structlog

from services.runtime.rate_limit import TokenBucket
from services.runtime.visible_text import visible_text

SUMMARY_S: Final = 60.0
MAX_SUBJECTS: Final = 1_000  # of a kind; the errors about others are only counted
MAX_LISTED: Final = 10  # subjects that a summary names, those with the most lines
LINES_A_SECOND: Final = (
    1.0  # of one event of a service: 30 KB a minute of the longest lines that strangers cause
)
LINES_AT_ONCE: Final = 60
MAX_KINDS: Final = 1_000  # more events than all services have
MAX_FIELD_CHARACTERS: Final = 1_000  # of a text in a line, which may be a stranger's
LIBRARY_LINE: Final = "line of a library"
OTHERS: Final = "others"
SUMMARY_PREFIX: Final = "repeated: "
SUBJECTS: Final = ("game", "partition", "job", "dispute", "board", "key", "channel")


def configure_logging(level: str = "info", log_format: str = "auto", stream: TextIO | None = None) -> None:
    """Send every line to standard error (or `stream`), JSON unless it is a terminal."""
    out = stream or sys.stderr
    console = log_format == "console" or (log_format == "auto" and out.isatty())
    min_level = logging.getLevelNamesMapping()[level.upper()]
    shared_processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _order_fields,
    ]
    render_processors: list[structlog.typing.Processor] = (
        [structlog.dev.ConsoleRenderer(colors=out.isatty(), exception_formatter=_write_traceback)]
        if console
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    repeat_limit = _new_repeat_limit()
    structlog.configure(
        processors=[repeat_limit, *shared_processors, *render_processors],
        wrapper_class=structlog.make_filtering_bound_logger(min_level),
        logger_factory=structlog.WriteLoggerFactory(out),  # one write a line: processes share the stream
        cache_logger_on_first_use=True,  # else each line below the level costs 3 us
    )
    foreign_handler = logging.StreamHandler(out)  # uvicorn and other libraries, from warnings on
    foreign_handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *render_processors],
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared_processors],
        )
    )
    foreign_handler.addFilter(_ForeignRepeats(repeat_limit))
    logging.basicConfig(handlers=[foreign_handler], level=max(min_level, logging.WARNING), force=True)


class _ForeignRepeats(logging.Filter):
    """Logs what a library repeats once, whatever its level: uvicorn warns of every request that is no HTTP."""

    def __init__(self, limit: RepeatLimit) -> None:
        super().__init__()
        self.limit = limit

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is logged and not only counted. Its arguments make it no other line."""
        try:
            self.limit(None, "error", {"service": record.name, "event": LIBRARY_LINE, "key": str(record.msg)})
        except structlog.DropEvent:
            return False
        return True


def _new_repeat_limit() -> RepeatLimit:
    """A limit of repeated errors, whose last counts are written when the process ends."""

    def write_summary(service: str, sentence: str, fields: dict[str, object], level: int) -> None:
        get_logger(service).log(level, sentence, **fields)

    limit = RepeatLimit(write_summary)
    atexit.register(limit.flush)
    return limit


def write_repeat_counts() -> None:
    """Write the last counts of repeated errors: for a process that ends without what is registered for its end."""
    for processor in structlog.get_config()["processors"]:
        if isinstance(processor, RepeatLimit):
            processor.flush()


def _write_traceback(out: TextIO, error: structlog.typing.ExcInfo) -> None:
    """A traceback without variables, which may be secrets, and without the escapes of a stranger's text."""
    buffer = StringIO()
    structlog.dev.plain_traceback(buffer, error)
    out.write("\n".join(map(visible_text, buffer.getvalue().split("\n"))))


def _order_fields(_: object, __: str, event_dict: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Time, level, service and event come first in every line; long texts are cut."""
    first = {
        key: event_dict.pop(key) for key in ("timestamp", "level", "service", "event") if key in event_dict
    }
    for key, value in event_dict.items():
        if isinstance(value, str) and len(value) > MAX_FIELD_CHARACTERS:
            event_dict[key] = f"{value[:MAX_FIELD_CHARACTERS]}.. ({len(value)} characters)"
    return {**first, **event_dict}


def get_logger(service: str) -> structlog.typing.FilteringBoundLogger:
    """The logger of a service, whose name is in each of its lines."""
    log: structlog.typing.FilteringBoundLogger = structlog.get_logger(service=service)
    return log


class Kind(NamedTuple):
    """The service and the words of lines, without their subjects."""

    service: str
    event: str


class Seen(NamedTuple):
    """The lines of a kind: when each subject last had an error, how many weren't logged since, how many may be, and the
    level of their summary."""

    last_s: dict[str, float]
    unlogged: Counter[str]
    rate: TokenBucket
    level: int


class RepeatLimit:
    """A structlog processor that counts errors of one service that say the same about the same game (partition, job, ...),
    and lines of one event that come faster than LINES_A_SECOND.

    The first are logged as they are. Once a minute `write_summary` gets, for each service and kind, the service, a
    sentence, its fields (how many more there were, and about what) and the level of the lines, at most a warning. A subject that was quiet for a minute is news again.
    Whoever asks for debug lines gets all of them."""

    def __init__(
        self,
        write_summary: Callable[[str, str, dict[str, object], int], object],
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
        if method != "debug" and not self._may_log(method, event_dict):
            raise structlog.DropEvent
        return event_dict

    def flush(self) -> None:
        """Write what was counted, and forget the subjects that are quiet."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
            now_s, self._timer = self._monotonic_s(), None
            summaries = [
                (kind, seen.unlogged.copy(), seen.level) for kind, seen in self._seen.items() if seen.unlogged
            ]
            for kind, seen in list(self._seen.items()):
                seen.unlogged.clear()
                for subject, last_s in list(seen.last_s.items()):
                    if now_s - last_s >= SUMMARY_S:
                        del seen.last_s[subject]
                if not seen.last_s and seen.rate.is_full(now_s):
                    del self._seen[kind]
        for kind, unlogged, level in summaries:
            fields = {"more": unlogged.total(), "about": dict(unlogged.most_common(MAX_LISTED))}
            self._write_summary(kind.service, f"{SUMMARY_PREFIX}{kind.event}", fields, level)

    def _may_log(self, method: str, event_dict: structlog.typing.EventDict) -> bool:
        """Whether an error is news, and whether the lines of its kind have room for one; else it is counted."""
        is_error = _is_error(method, event_dict)
        kind = Kind(str(event_dict.get("service", "")), str(event_dict.get("event", "")))
        if kind.event.startswith(SUMMARY_PREFIX):
            return True  # one a kind and minute
        subject = next((str(event_dict[name]) for name in SUBJECTS if name in event_dict), "")
        subject = subject[:MAX_FIELD_CHARACTERS]
        with self._lock:
            now_s = self._monotonic_s()
            if len(self._seen) >= MAX_KINDS and kind not in self._seen:
                kind = Kind(kind.service, OTHERS)
            if (seen := self._seen.get(kind)) is None:
                rate = TokenBucket(LINES_A_SECOND, LINES_AT_ONCE, now_s)
                level = logging.INFO if method == "info" else logging.WARNING
                seen = self._seen[kind] = Seen({}, Counter(), rate, level)
            may_log = (not is_error or _is_news(seen, subject, now_s)) and not seen.rate.acquire(now_s)
            if not may_log:
                is_counted = subject in seen.unlogged or len(seen.unlogged) < MAX_SUBJECTS
                seen.unlogged[subject if is_counted else OTHERS] += 1
                self._start_timer()
        return may_log

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = Timer(SUMMARY_S, self.flush)
            self._timer.daemon = True
            self._timer.start()


def _is_news(seen: Seen, subject: str, now_s: float) -> bool:
    """Whether an error of a kind is the first about this subject, or the first for a minute; it is remembered."""
    last_s = seen.last_s.get(subject)
    if last_s is None and len(seen.last_s) >= MAX_SUBJECTS:
        return False
    seen.last_s[subject] = now_s
    return last_s is None or now_s - last_s >= SUMMARY_S


def _is_error(method: str, event_dict: structlog.typing.EventDict) -> bool:
    """Errors, and warnings about a game. Other warnings tell of a change, and each of them is news."""
    is_error = method in {"error", "exception", "critical"}
    return is_error or (method == "warning" and "game" in event_dict)
