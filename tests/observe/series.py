"""What Prometheus would have read of a system in a run: samples at the times of the scrapes, as a file holds them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from prometheus_client.core import Metric as Family

RECORDED: Final = Path(__file__).parent / "recorded"
SHOWN: Final = ("ledgerline_", "process_start_time", "process_open_fds", "process_max_fds")
Labels = tuple[tuple[str, str], ...]  # sorted; `__name__` is one of them


class Recording(NamedTuple):
    """A run: when it was scraped, when the fault began, and each series' value at each scrape; None where it has none."""

    scenario: str
    times_s: Sequence[float]
    fault_s: float
    series: Mapping[Labels, Sequence[float | None]]

    @classmethod
    def of_scrapes(
        cls, scenario: str, fault_s: float, scrapes: Sequence[tuple[float, Mapping[Labels, float]]]
    ) -> Recording:
        """The run that was scraped so."""
        names = sorted({labels for _, values in scrapes for labels in values})
        series = {labels: [values.get(labels) for _, values in scrapes] for labels in names}
        return cls(scenario, [at_s for at_s, _ in scrapes], fault_s, series)

    def write(self) -> None:
        """Write it to its file: of each series the values that differ from the one before."""
        rows = [[dict(labels), _changes(values)] for labels, values in self.series.items()]
        document = {
            "scenario": self.scenario,
            "times_s": [round(at_s, 2) for at_s in self.times_s],
            "fault_s": round(self.fault_s, 2),
            "series": rows,
        }
        text = json.dumps(document, separators=(",", ":")).encode()
        path_of(self.scenario).write_bytes(gzip.compress(text, mtime=0))


def path_of(scenario: str) -> Path:
    """The file of a scenario's run."""
    kept = "".join(letter if letter.isalnum() else "-" for letter in scenario.lower())
    return RECORDED / f"{'-'.join(filter(None, kept.split('-')))}.json.gz"


def read_recording(scenario: str) -> Recording:
    """The run of a scenario as it was recorded."""
    document = json.loads(gzip.decompress(path_of(scenario).read_bytes()))
    count = len(document["times_s"])
    series = {
        tuple(sorted(labels.items())): _values(changes, count) for labels, changes in document["series"]
    }
    return Recording(document["scenario"], document["times_s"], document["fault_s"], series)


def samples_of(
    families: Sequence[Family], instance: str, shown: tuple[str, ...] = SHOWN
) -> dict[Labels, float]:
    """The samples of a scrape whose names begin so, with the labels that Prometheus adds."""
    return {
        tuple(
            sorted(
                {**sample.labels, "__name__": sample.name, "job": "ledgerline", "instance": instance}.items()
            )
        ): float(sample.value)
        for family in families
        for sample in family.samples
        if sample.name.startswith(shown)
    }


def _changes(values: Sequence[float | None]) -> list[list[float | None]]:
    changes: list[list[float | None]] = []
    before: float | None = None
    for index, value in enumerate(values):
        value = None if value is None else round(value, 4)  # noqa: PLW2901 - as it is written
        if index == 0 or value != before:
            changes.append([index, value])
        before = value
    return changes


def _values(changes: Sequence[tuple[int, float | None]], count: int) -> list[float | None]:
    ends = [*(index for index, _ in changes[1:]), count]
    return [value for (begin, value), end in zip(changes, ends, strict=True) for _ in range(begin, end)]
