"""Log lines of a test, caught in a stream; logging is afterwards as it was."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Literal

import structlog

from services.runtime.logging_setup import configure_logging, write_repeat_counts


@contextmanager
def logging_to(out: StringIO, log_format: Literal["console", "json"], level: str = "info") -> Iterator[None]:
    """Log to the stream in this format, from this level on."""
    before = structlog.get_config() if structlog.is_configured() else None
    handlers, min_level = logging.root.handlers[:], logging.root.level
    configure_logging(level, log_format, out)
    # no logger keeps what it is here: it would log to this stream after the block, too
    structlog.configure(**{**structlog.get_config(), "cache_logger_on_first_use": False})
    try:
        yield
    finally:
        # a timer would write the last counts a minute later, to what logs then
        structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
        write_repeat_counts()
        logging.root.handlers[:] = handlers
        logging.root.setLevel(min_level)
        structlog.reset_defaults() if before is None else structlog.configure(**before)
