"""P7, P8: a worker's loop survives outages, whole and partial ones, and logs one line for each."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

import pytest
import redis

from services.runtime import worker_loop
from services.runtime.worker_loop import PeriodicTask
from tests.captured_logs import captured_logs


class Engine:
    """The engine of a step and its periodic task; those named in `unreachable_for` can't reach it."""

    def __init__(self) -> None:
        self.unreachable_for: set[str] = set()
        self.requests: list[str] = []
        self.stop = Event()

    def call(self, caller: str) -> Callable[[], None]:
        def request() -> None:
            self.requests.append(caller)
            if len(self.requests) > 12:
                self.stop.set()
            if caller in self.unreachable_for:
                raise redis.ConnectionError(f"unreachable for {caller}")

        return request


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setattr(worker_loop, "RETRY_PAUSES_S", (0.0,))
    return Engine()


def run(engine: Engine) -> list[str]:
    """The lines that the loop wrote."""
    with captured_logs() as lines:
        worker_loop.run_worker(
            "referee",
            engine.call("step"),
            [PeriodicTask(0.0, engine.call("task"))],
            engine.stop,
            engine.call("begin"),
        )
    return [line["event"] for line in lines]


def test_P7_it_starts_once_then_steps_with_its_periodic_tasks(engine: Engine) -> None:
    assert run(engine) == ["started", "stopped"]
    assert engine.requests[:5] == ["begin", "task", "step", "task", "step"]
    assert engine.requests.count("begin") == 1


def test_P7_its_start_is_repeated_until_it_succeeds(engine: Engine) -> None:
    engine.unreachable_for = {"begin"}
    assert run(engine) == ["started", "engine away, trying until it is back", "stopped"]
    assert set(engine.requests) == {"begin"}


def test_P8_a_periodic_task_without_the_engine_stops_no_step(engine: Engine) -> None:
    engine.unreachable_for = {"task"}
    assert run(engine) == ["started", "engine away, trying until it is back", "stopped"]
    assert engine.requests.count("step") >= 5


def test_P7_a_step_without_the_engine_is_tried_again(engine: Engine) -> None:
    engine.unreachable_for = {"step"}
    assert run(engine) == ["started", "engine away, trying until it is back", "stopped"]
    assert engine.requests.count("step") >= 5
