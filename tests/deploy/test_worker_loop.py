"""P7, P8: a worker's loop outlives outages, whole ones and partial ones, and says so in a line."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

import pytest
import redis
from structlog.testing import capture_logs

from services.runtime import worker_loop
from services.runtime.worker_loop import PeriodicTask


class Engine:
    """What steps and chores ask; `away` says who finds nobody."""

    def __init__(self) -> None:
        self.away: set[str] = set()
        self.done: list[str] = []
        self.stop = Event()

    def do(self, what: str) -> Callable[[], None]:
        def ask() -> None:
            self.done.append(what)
            if len(self.done) > 12:
                self.stop.set()
            if what in self.away:
                raise redis.ConnectionError(f"nobody there for {what}")

        return ask


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setattr(worker_loop, "RETRY_PAUSES_S", (0.0,))
    return Engine()


def run(engine: Engine) -> list[str]:
    """The lines that the loop wrote."""
    with capture_logs() as lines:
        worker_loop.run_worker(
            "referee",
            engine.do("step"),
            [PeriodicTask(0.0, engine.do("chore"))],
            engine.stop,
            engine.do("begin"),
        )
    return [line["event"] for line in lines]


def test_P7_it_begins_once_then_steps_with_its_chores(engine: Engine) -> None:
    assert run(engine) == ["started", "stopped"]
    assert engine.done[:5] == ["begin", "chore", "step", "chore", "step"]
    assert engine.done.count("begin") == 1


def test_P7_it_begins_again_until_that_went_well(engine: Engine) -> None:
    engine.away = {"begin"}
    assert run(engine) == ["started", "engine away, trying until it is back", "stopped"]
    assert set(engine.done) == {"begin"}


def test_P8_a_chore_that_finds_nobody_stops_no_step(engine: Engine) -> None:
    engine.away = {"chore"}
    assert run(engine) == ["started", "engine away, trying until it is back", "stopped"]
    assert engine.done.count("step") >= 5


def test_P7_a_step_that_finds_nobody_is_tried_again(engine: Engine) -> None:
    engine.away = {"step"}
    assert run(engine) == ["started", "engine away, trying until it is back", "stopped"]
    assert engine.done.count("step") >= 5
