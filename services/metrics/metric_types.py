"""Counters, gauges and histograms that cost a command next to nothing.

A service adds to them as it works, whether anybody reads them or not. `metrics_port` hands them to prometheus-client, which
writes its format. That library's own take two or three times the CPU (1.3 us a labelled count, 0.7 us a value of
a histogram; these 0.4 us), have no bound of their label values, and take 60 ms to load where nobody reads them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Final

MAX_SERIES: Final = 1_000  # of a metric that is counted; more label values are counted as OTHER
OTHER: Final = "other"
# Seconds: a decision takes a tenth of a millisecond, and nobody waits longer than ten seconds.
FAST_BUCKETS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5)
SLOW_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
Labels = tuple[str, ...]


class Metric:
    """A name, what it means, its labels, and the services that show it. The name ends in its unit."""

    def __init__(self, name: str, meaning: str, services: Sequence[str], labels: Labels = ()) -> None:
        self.name, self.meaning, self.services, self.labels = f"ledgerline_{name}", meaning, services, labels
        self._lock = Lock()


class Counter(Metric):
    """Counts what happens. One without labels is 0 from the start; of one with labels, `known` are."""

    def __init__(
        self,
        name: str,
        meaning: str,
        services: Sequence[str],
        labels: Labels = (),
        known: Sequence[Labels] = (),
    ) -> None:
        super().__init__(f"{name}_total", meaning, services, labels)
        self._values: dict[Labels, float] = dict.fromkeys(known if labels else ((),), 0.0)

    def add(self, *labels: str, count: float = 1) -> None:
        """Count so many more. Beyond MAX_SERIES, new label values are OTHER: strangers can't fill the memory."""
        with self._lock:
            values = self._values
            if labels not in values and len(values) >= MAX_SERIES:
                labels = (OTHER,) * len(self.labels)
            values[labels] = values.get(labels, 0.0) + count

    def read(self) -> Mapping[Labels, float]:
        """The counts by label values."""
        with self._lock:
            return dict(self._values)


class Gauge(Metric):
    """A value of now, that is read only when somebody asks."""

    def __init__(self, name: str, meaning: str, services: Sequence[str], labels: Labels = ()) -> None:
        super().__init__(name, meaning, services, labels)
        self._readers: dict[str, Callable[[], Mapping[Labels, float]]] = {}

    def read_from(self, read: Callable[[], float | Mapping[Labels, float]], source: str = "") -> None:
        """Read it with this function from now on, which is called on another thread and returns the value, or the
        values by label values. Each `source` has one function."""

        def read_labelled() -> Mapping[Labels, float]:
            value = read()
            return value if isinstance(value, Mapping) else {(): value}

        self._readers[source] = read_labelled

    def read(self) -> Mapping[Labels, float]:
        """The values by label values; none where nothing was measured yet."""
        return {labels: value for read in list(self._readers.values()) for labels, value in read().items()}


class Distribution:
    """How many values fell into each bucket, and their sum."""

    __slots__ = ("counts", "total")

    def __init__(self, buckets: int) -> None:
        self.counts, self.total = [0] * buckets, 0.0


class Histogram(Metric):
    """How values are distributed over buckets."""

    def __init__(
        self,
        name: str,
        meaning: str,
        services: Sequence[str],
        labels: Labels = (),
        buckets: Sequence[float] = FAST_BUCKETS,
    ) -> None:
        super().__init__(name, meaning, services, labels)
        self.buckets = tuple(buckets)
        self._values: dict[Labels, Distribution] = {}
        if not labels:
            self._values[()] = Distribution(len(self.buckets) + 1)

    def observe(self, value: float, *labels: str) -> None:
        """Count a value."""
        with self._lock:
            found = self._values.get(labels)
            if found is None:
                if len(self._values) >= MAX_SERIES:
                    labels = (OTHER,) * len(self.labels)
                found = self._values.setdefault(labels, Distribution(len(self.buckets) + 1))
            found.counts[bisect_left(self.buckets, value)] += 1
            found.total += value

    def read(self) -> Mapping[Labels, tuple[Sequence[int], float]]:
        """For each label values the counts of the buckets, and of what is beyond the last, and the sum."""
        with self._lock:
            return {labels: ([*found.counts], found.total) for labels, found in self._values.items()}
