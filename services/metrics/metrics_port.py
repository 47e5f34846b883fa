"""The port where Prometheus reads a process's metrics, beside those of the process itself (CPU, memory, descriptors).

It is imported only where such a port is set: prometheus-client takes 60 ms of CPU to load.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from itertools import accumulate

from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from schemas.errors import InvalidInputError
from services.metrics.declared import DECLARED, WALL_CLOCK, Counter, Gauge, Histogram, Metric


@contextmanager
def serving_metrics(
    address: str, services: Collection[str], report_fault: Callable[[str], object], offset: int = 0
) -> Iterator[None]:
    """Serve the metrics of these services at HOST:PORT until the end of the block. `offset` is added to the port, for one
    of several processes; `report_fault` gets the name of a metric that can't be read. Raises InvalidInputError: nothing
    can listen there."""
    WALL_CLOCK.read_from(time.time)
    registry = CollectorRegistry()
    registry.register(DeclaredCollector(services, report_fault))
    ProcessCollector(registry=registry)
    host, _, port_text = address.rpartition(":")
    port = int(port_text) + offset
    try:
        server, thread = start_http_server(port, host.strip("[]"), registry)
    except (OSError, OverflowError) as error:
        reason = f"nothing can listen on {host}, port {port} ({getattr(error, 'strerror', error)})"
        raise InvalidInputError("LEDGERLINE_METRICS", f"{reason}; choose another") from None
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class DeclaredCollector(Collector):
    """The declared metrics of some services, in prometheus-client's form."""

    def __init__(self, services: Collection[str], report_fault: Callable[[str], object]) -> None:
        self._metrics = [metric for metric in DECLARED if {*metric.services} & {*services}]
        self._report_fault = report_fault

    def collect(self) -> Iterator[Family]:
        """Read all of them now; one that can't be read is left out, so that the others are seen."""
        for metric in self._metrics:
            try:
                family = _family(metric)
            except Exception:
                self._report_fault(metric.name)
            else:
                yield family


def _family(metric: Metric) -> Family:
    match metric:
        case Counter():
            counter = CounterMetricFamily(metric.name, metric.meaning, labels=metric.labels)
            for labels, value in metric.read().items():
                counter.add_metric(labels, value)
            return counter
        case Gauge():
            gauge = GaugeMetricFamily(metric.name, metric.meaning, labels=metric.labels)
            for labels, value in metric.read().items():
                gauge.add_metric(labels, value)
            return gauge
        case Histogram():
            histogram = HistogramMetricFamily(metric.name, metric.meaning, labels=metric.labels)
            bounds = [*(f"{bound:g}" for bound in metric.buckets), "+Inf"]
            for labels, (counts, total) in metric.read().items():
                buckets = [*zip(bounds, accumulate(counts), strict=True)]
                histogram.add_metric(labels, buckets, total)
            return histogram
    raise TypeError(type(metric).__name__)
