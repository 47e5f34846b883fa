"""`python -m tests.observe.record [SCENARIO ...]`: plays each fault of `make chaos` with the services' metrics scraped as
Prometheus does, and writes what it would have read. Run it again when a metric that a rule names changes."""

from __future__ import annotations

import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

from tests.chaos.run import open_system
from tests.chaos.scenarios import SCENARIOS, Scenario, nothing
from tests.chaos.systems import System
from tests.observe.series import SHOWN, Labels, Recording, samples_of
from tests.process_faults.players import PlayerPool

SCRAPE_S: Final = 5.0  # as deploy/observe/prometheus.yml says
TIMEOUT_S: Final = 4.0
HEALTHY_S: Final = 25.0  # before the fault
WATCHED_S: Final = 60.0  # from its begin
GAMES: Final = 3
TRIES: Final = 10


class Scraper:
    """Scrapes the services of a system until it is stopped."""

    def __init__(self, targets: Mapping[str, str]) -> None:
        self.targets = targets
        self.scrapes: list[tuple[float, Mapping[Labels, float]]] = []
        self._stop = Event()
        self._thread = Thread(target=self._run, name="scraper")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        next_s = time.monotonic()
        with ThreadPoolExecutor(len(self.targets)) as pool:
            while not self._stop.wait(max(0.0, next_s - time.monotonic())):
                next_s += SCRAPE_S
                at_s = time.time()
                found = pool.map(scrape, self.targets.items())
                self.scrapes.append(
                    (at_s, {labels: value for each in found for labels, value in each.items()})
                )


def scrape(target: tuple[str, str], shown: tuple[str, ...] = SHOWN) -> dict[Labels, float]:
    """What a target shows of these names; `up` says whether it did."""
    instance, address = target
    families, up = [], 0.0
    try:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=TIMEOUT_S) as answer:
            families = [*text_string_to_metric_families(answer.read().decode())]
        up = 1.0
    except (OSError, urllib.error.URLError):
        pass
    labels = tuple(sorted({"__name__": "up", "job": "ledgerline", "instance": instance}.items()))
    return {**samples_of(families, instance, shown), labels: up}


class UnwellError(Exception):
    """Something went wrong that wasn't to, as where the machine is too busy for a cluster's time-outs."""


def require_healthy(system: System) -> None:
    """Raise UnwellError if a service warned of anything."""
    for service in system.services:
        if warned := [line for line in service.lines() if line["level"] in ("warning", "error")]:
            raise UnwellError(f"{service.name}: {warned[0]}")


def record(scenario: Scenario, seed: str) -> Recording:
    """Play games, do the fault, and watch for a minute. Raises UnwellError: all wasn't well before it."""
    with (
        tempfile.TemporaryDirectory(prefix="observed-") as folder,
        open_system(scenario, Path(folder)) as system,
    ):
        assert isinstance(system, System)
        scraper = Scraper(
            {f"{each.name}-{index}": each.metrics for index, each in enumerate(system.services)}
        )
        pool = PlayerPool(system.url, GAMES, seed, scenario.levels)
        with pool.playing():
            pool.await_acknowledgements(GAMES)
            scraper.start()
            try:
                time.sleep(HEALTHY_S)
                if not scenario.lossy:
                    require_healthy(system)
                fault_s = time.time()
                scenario.fault(system, Random(seed))
                if scenario.may_lose:
                    pool.losses += 1
                time.sleep(max(0.0, fault_s + WATCHED_S - time.time()))
                if scenario.fault is nothing and not scenario.lossy:
                    require_healthy(system)
            finally:
                scraper.stop()
    return Recording.of_scrapes(scenario.name, fault_s, scraper.scrapes)


def main(wanted: Sequence[str]) -> None:
    """Record these scenarios, or all."""
    for scenario in (each for each in SCENARIOS if not wanted or each.name in wanted):
        for _ in range(TRIES):
            try:
                record(scenario, "observed").write()
            except UnwellError as unwell:
                print(f"{scenario.name}: not well, once more: {unwell}", flush=True)
            else:
                print(f"{scenario.name}: recorded", flush=True)
                break
        else:
            sys.exit(f"{scenario.name}: the machine is too busy")


if __name__ == "__main__":
    main(sys.argv[1:])
