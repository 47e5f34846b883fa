"""Counters, gauges and histograms, and how Prometheus' own parser reads them."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from threading import Thread

import pytest
from prometheus_client.core import Metric as Family
from prometheus_client.parser import text_string_to_metric_families

from schemas.errors import InvalidInputError
from services.metrics import declared
from services.metrics.declared import DECLARED, EVERY, MAX_SERIES, OTHER, Counter, Gauge, Histogram
from services.metrics.metrics_port import DeclaredCollector, serving_metrics
from tests.deploy.compose import free_port


def scrape(port: int) -> dict[str, Family]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    return {family.name: family for family in text_string_to_metric_families(text)}


@pytest.fixture
def faults() -> list[str]:
    return []


@pytest.fixture
def port(faults: list[str]) -> Iterator[int]:
    port = free_port()
    with serving_metrics(f"127.0.0.1:{port}", ["referee"], faults.append):
        yield port


def test_prometheus_reads_the_metrics_of_the_service_and_of_no_other(port: int) -> None:
    families = scrape(port)
    assert "ledgerline_commands" in families
    assert "ledgerline_sockets" not in families
    assert families["process_open_fds"].samples[0].value > 0


def test_a_counter_without_labels_is_there_before_anything_happens() -> None:
    assert Counter("things", "Things.", ("referee",)).read() == {(): 0}


def test_a_counter_counts_by_label_values() -> None:
    counter = Counter("things", "Things.", ("referee",), ("kind",), (("seen",),))
    counter.add("seen")
    counter.add("lost", count=2)
    assert counter.read() == {("seen",): 1, ("lost",): 2}


def test_label_values_that_never_end_fill_no_memory() -> None:
    counter = Counter("things", "Things.", ("referee",), ("kind",))
    histogram = Histogram("seconds", "Seconds.", ("referee",), ("kind",))
    for number in range(3 * MAX_SERIES):
        counter.add(str(number))
        histogram.observe(1.0, str(number))
    assert len(counter.read()) == len(histogram.read()) == MAX_SERIES + 1
    assert counter.read()[OTHER,] == 2 * MAX_SERIES


def test_counts_of_several_threads_are_all_counted() -> None:
    counter = Counter("things", "Things.", ("referee",))

    def count() -> None:
        for _ in range(20_000):
            counter.add()

    threads = [Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.read() == {(): 80_000}


def test_a_histogram_has_a_value_on_a_bound_below_it() -> None:
    histogram = Histogram("seconds", "Seconds.", ("referee",), buckets=(1, 2))
    for value in (0.5, 1, 1.5, 9):
        histogram.observe(value)
    assert histogram.read() == {(): ([2, 1, 1], 12.0)}


def test_prometheus_reads_a_histogram_as_it_was_counted(port: int) -> None:
    before = {
        sample.labels.get("le"): sample.value
        for sample in scrape(port)["ledgerline_decision_seconds"].samples
    }
    declared.DECISION_SECONDS.observe(0.0003)
    after = {
        sample.labels.get("le"): sample.value
        for sample in scrape(port)["ledgerline_decision_seconds"].samples
    }
    grown = {bound for bound in after if bound and after[bound] > before[bound]}
    assert grown == {"0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.1", "0.5", "2.5", "+Inf"}


def test_a_gauge_is_read_when_somebody_asks() -> None:
    games = 3.0
    gauge = Gauge("games", "Games.", ("referee",))
    assert gauge.read() == {}
    gauge.read_from(lambda: games)
    games = 4
    assert gauge.read() == {(): 4}


def test_a_gauge_that_can_t_be_read_hides_no_other(
    port: int, faults: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(declared.CACHED_BYTES, "_readers", {"": lambda: 1 / 0})
    families = scrape(port)
    assert "ledgerline_cached_bytes" not in families
    assert "ledgerline_decision_seconds" in families
    assert faults == ["ledgerline_cached_bytes"]


def test_a_port_that_is_taken_is_said(port: int) -> None:
    address = f"127.0.0.1:{port}"
    with (
        pytest.raises(InvalidInputError, match=f"LEDGERLINE_METRICS.*port {port}.*choose another"),
        serving_metrics(address, ["bots"], print),
    ):
        pass


@pytest.mark.parametrize("metric", DECLARED, ids=lambda metric: metric.name)
def test_names_follow_the_conventions_of_prometheus(metric: Counter | Gauge | Histogram) -> None:
    assert metric.name.startswith("ledgerline_")
    assert metric.name.endswith("_total") == isinstance(metric, Counter)
    assert {*metric.services} <= {*EVERY}
    assert not {*metric.labels} & {"game", "name", "seat", "player", "address", "token", "id"}
    assert metric.meaning.endswith(".")
    for unit in ("_ms", "_mib", "_minutes"):
        assert unit not in metric.name
    if isinstance(metric, Histogram):
        assert metric.name.endswith(("_seconds", "_entries"))


def test_every_metric_is_shown_by_some_service() -> None:
    shown = {family.name for family in DeclaredCollector(EVERY, print).collect()}
    assert shown == {metric.name.removesuffix("_total") for metric in DECLARED}
