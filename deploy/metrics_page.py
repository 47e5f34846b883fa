"""`make metrics-page`: docs/reference/metrics.md, from the metrics that the code declares."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from services.metrics.declared import DECLARED, Metric

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "metrics.md"
HEADING: Final = """<!-- Written by `make metrics-page`. -->
# Metrics

What each service shows Prometheus at `LEDGERLINE_METRICS` ([settings](settings.md)).
`make metrics-page` writes this page from [declared.py](../../services/metrics/declared.py). Beside
these a process shows its CPU, memory and open files (`process_*`). Counters and histograms begin at
0 with each start. What a gateway shows of the whole system, every gateway shows: take `max`, not
`sum`.

| metric | type | labels | services | meaning |
|---|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    return HEADING + "".join(map(_row, DECLARED))


def _row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    type_ = type(metric).__name__.lower()
    services = "every one" if len(metric.services) == 4 else ", ".join(metric.services)
    return f"| `{metric.name}` | {type_} | {labels} | {services} | {metric.meaning} |\n"


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
