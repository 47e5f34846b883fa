"""Services of this process whose periodic tasks are due at once, not every few seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from services.bootstrap import composition
from services.runtime.worker_loop import PeriodicTask

INTERVAL_S: Final = 0.2


@contextmanager
def frequent_tasks() -> Iterator[None]:
    """Services that are started within the block do their periodic tasks five times a second."""

    def task(interval_s: float, action: Callable[[], object]) -> PeriodicTask:
        return PeriodicTask(min(interval_s, INTERVAL_S), action)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(composition, "PeriodicTask", task)
        yield
