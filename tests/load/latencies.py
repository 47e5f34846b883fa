"""Latencies of a run in bounded room: how many fell into each of some hundred steps, each 5 % longer than the last."""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

STEP: Final = 1.05
SHORTEST_S: Final = 0.0001
Wait = tuple[float, float]  # for an answer: from when to when, by the machine's monotonic clock


def step_of(seconds: float) -> int:
    """The step that a latency falls into."""
    return 0 if seconds <= SHORTEST_S else math.ceil(math.log(seconds / SHORTEST_S, STEP))


def percentile_s(steps: Counter[int], share: float) -> float:
    """The latency that this share of all doesn't exceed, to 5 %; 0 where there is none."""
    left = share * steps.total()
    for step in sorted(steps):
        left -= steps[step]
        if left <= 0:
            return float(SHORTEST_S * STEP**step)
    return 0.0
