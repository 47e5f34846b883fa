"""Log lines: JSON for machines; aligned and coloured on a terminal."""

from __future__ import annotations

import atexit
import logging
import sys
from io import StringIO
from typing import TextIO

import structlog

from services.runtime.repeat_limit import RepeatLimit
from services.runtime.visible_text import visible_text


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
            self.limit(None, "error", {"service": record.name, "event": str(record.msg)})
        except structlog.DropEvent:
            return False
        return True


def _new_repeat_limit() -> RepeatLimit:
    """A limit of repeated errors, whose last counts are written when the process ends."""

    def write_summary(service: str, sentence: str, fields: dict[str, object]) -> None:
        get_logger(service).warning(sentence, **fields)

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
    """Time, level, service and event come first in every line."""
    first = {
        key: event_dict.pop(key) for key in ("timestamp", "level", "service", "event") if key in event_dict
    }
    return {**first, **event_dict}


def get_logger(service: str) -> structlog.typing.FilteringBoundLogger:
    """The logger of a service, whose name is in each of its lines."""
    log: structlog.typing.FilteringBoundLogger = structlog.get_logger(service=service)
    return log
