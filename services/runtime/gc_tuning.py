"""The garbage collector, told what a long-lived service is like.

Nearly everything here dies by its reference count. A full collection still walks over all that
lives, and while it does the process stands still: 200 ms where 1,300 sockets are open, about
every second under load, because each command on its way counts as one more that may be garbage;
and a referee that thaws a table for each command spends a third of its time so.
"""

from __future__ import annotations

import gc
from typing import Final

YOUNG_GENERATION_THRESHOLD: Final = (
    50_000  # objects more than there were, before the young ones are looked through
)


def tune_garbage_collector() -> None:
    """What was loaded is never looked through again, the rest seldom. Once, when a service starts."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_GENERATION_THRESHOLD, 10, 10)
