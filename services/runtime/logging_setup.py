"""Log lines: records for machines, and the same aligned and coloured on a terminal."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

import structlog


def set_up_logs(level: str = "info", form: str = "auto", stream: TextIO | None = None) -> None:
    """Send every line to standard error (or `stream`), JSON unless it is a terminal."""
    out = stream or sys.stderr
    console = form == "console" or (form == "auto" and out.isatty())
    lowest = logging.getLevelNamesMapping()[level.upper()]
    facts: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _in_order,
    ]
    form_of: list[structlog.typing.Processor] = (
        [structlog.dev.ConsoleRenderer(colors=out.isatty())]
        if console
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[*facts, *form_of],
        wrapper_class=structlog.make_filtering_bound_logger(lowest),
        logger_factory=structlog.PrintLoggerFactory(out),
        cache_logger_on_first_use=True,  # else each line that is too low to be written costs 3 us
    )
    others = logging.StreamHandler(out)  # uvicorn and the like: the same lines, warnings and worse
    others.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *form_of],
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *facts],
        )
    )
    logging.basicConfig(handlers=[others], level=max(lowest, logging.WARNING), force=True)


def _in_order(_: object, __: str, line: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """When, how bad, who and what come first, in every line."""
    first = {key: line.pop(key) for key in ("timestamp", "level", "service", "event") if key in line}
    return {**first, **line}


def get_log(service: str) -> structlog.typing.FilteringBoundLogger:
    """The log of a service; each of its lines says which it is."""
    log: structlog.typing.FilteringBoundLogger = structlog.get_logger(service=service)
    return log
