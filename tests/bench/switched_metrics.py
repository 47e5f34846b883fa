"""A service as `ledgerline` runs it, whose metrics a signal switches off, and on again: to measure what they cost it.

Off, counting and measuring do nothing; calling them stays, which takes a tenth of what they do."""

from __future__ import annotations

import signal
from typing import Final

from services.cli import main
from services.metrics.declared import Counter, Histogram
from services.referee import decision_building
from tests.bench.rehearsed_referee import take_named_seed

SWITCH: Final = signal.SIGUSR2
COUNT, MEASURE = Counter.add, Histogram.observe


def do_nothing(*_: object, **__: object) -> None:
    """What a metric does that is off."""


def switch(*_: object) -> None:
    """Switch all counters and histograms of the process."""
    are_on = vars(Counter)["add"] is COUNT
    type.__setattr__(Counter, "add", do_nothing if are_on else COUNT)
    type.__setattr__(Histogram, "observe", do_nothing if are_on else MEASURE)


if __name__ == "__main__":
    signal.signal(SWITCH, switch)
    vars(decision_building)["take_seed"] = take_named_seed
    main()
