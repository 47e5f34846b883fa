"""What one test logs: the servers that other tests left running beside it, in threads, log too."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from structlog.exceptions import DropEvent
from structlog.testing import capture_logs
from structlog.typing import EventDict, WrappedLogger


@contextmanager
def captured_logs() -> Iterator[list[EventDict]]:
    """The lines that the calling thread logs within the block, `log_level` with each."""
    own = threading.get_ident()

    def keep_own(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
        if threading.get_ident() != own:
            raise DropEvent
        return event

    before = structlog.get_config()["wrapper_class"]
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger("debug")
    )  # whatever another test left
    try:
        with capture_logs(processors=[keep_own]) as lines:
            yield lines
    finally:
        structlog.configure(wrapper_class=before)
