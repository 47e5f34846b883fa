"""Python's garbage collector and threads, tuned for long-lived services.

Nearly everything here is freed by its reference count. A full collection still walks over all live objects, and the
process stops meanwhile: for 200 ms with 1,300 open sockets, about every second under load, because each command in
flight counts as an allocation. A referee that restores a game for each command spends a third of its time so.

A thread that waits for an engine or a socket gives the interpreter away, and gets it back after the turn of another one:
5 ms, as Python comes. Beside a bot that thinks, or a list of moves on a large board, a request that asks the engine ten
times then takes 50 ms more, and a referee that answers a command waits as long for each step.
"""

from __future__ import annotations

import gc
import sys
from typing import Final

YOUNG_GENERATION_THRESHOLD: Final = 50_000  # new objects before a collection of the young ones
TURN_S: Final = 0.0005  # for which a thread computes before another one has its turn


def tune_garbage_collector() -> None:
    """Never collect what is loaded now, and the rest seldom. To be called when the modules of a command or service are
    there: hardly any of what an import leaves is garbage, and a look through it all takes 0.1 s."""
    gc.freeze()
    gc.set_threshold(YOUNG_GENERATION_THRESHOLD, 10, 10)
    gc.enable()


def shorten_turns() -> None:
    """Shorten the turns of all threads of this process."""
    sys.setswitchinterval(TURN_S)
