"""What a run takes of the machine, by part: read from the services' metrics, and from the engine by its own word."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event, Thread
from typing import Any, Final, NamedTuple

import redis

from tests.observe.record import scrape

LOOK_S: Final = 2.0
ENGINE: Final = "engine"
SHOWN: Final = (
    "process_cpu",
    "process_resident",
    "ledgerline_commands",
    "ledgerline_dead",
    "ledgerline_queue",
)
COUNTERS: Final = {
    "process_cpu_seconds_total": "cpu_s",
    "ledgerline_commands_total": "commands",
    "ledgerline_dead_letters": "dead letters",
}


class Look(NamedTuple):
    """One look at everything: `growing` are counters, by instance and name; `memory` is resident, by instance."""

    at_s: float
    growing: Mapping[tuple[str, str], float]
    memory: Mapping[str, float]
    backlog: float  # commands that wait
    oldest_s: float


class Watched(NamedTuple):
    """What was seen from a moment on: CPU seconds by part, memory by part at the end and at most, and the rest."""

    seconds: float
    cpu_s: Mapping[str, float]
    memory: Mapping[str, float]
    most_memory: Mapping[str, float]
    commands: float
    log_bytes: float
    most_backlog: float
    most_oldest_s: float
    dead_letters: float


class Watch:
    """Looks every two seconds until it is stopped. `targets` are metrics' addresses by instance, such as gateway-0."""

    def __init__(self, targets: Callable[[], Mapping[str, str]], engine: Any) -> None:
        self._targets, self._engine = targets, engine
        self.looks: list[Look] = []
        self._stop = Event()
        self._thread = Thread(target=self._run, name="watch")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def since(self, first: int) -> Watched:
        """What there was from this look on. A counter that falls belongs to a service that was started again; a log that does,
        to an engine that wrote it anew."""
        looks = self.looks[first:]
        grown: Counter[tuple[str, str]] = Counter()
        last_seen: dict[tuple[str, str], float] = {}  # a service too busy to answer is missing from a look
        for look in self.looks[: first + 1]:
            last_seen |= look.growing
        for look in looks[1:]:
            for key, value in look.growing.items():
                known = last_seen.get(key, 0.0)
                anew = 0.0 if key[1] == "log_bytes" else value
                grown[key] += value - known if value >= known else anew  # type: ignore[assignment]
            last_seen |= look.growing
        cpu_s, most = Counter[str](), Counter[str]()
        for (instance, name), value in grown.items():
            if name == "cpu_s":
                cpu_s[part_of(instance)] += value
        memories = [_by_part(look.memory) for look in looks]
        for memory in memories:
            most |= Counter(memory)
        return Watched(
            looks[-1].at_s - looks[0].at_s,
            cpu_s,
            memories[-1],
            most,
            sum(value for (_, name), value in grown.items() if name == "commands"),
            sum(value for (_, name), value in grown.items() if name == "log_bytes"),
            max(look.backlog for look in looks),
            max(look.oldest_s for look in looks),
            sum(value for (_, name), value in grown.items() if name == "dead letters"),
        )

    def _run(self) -> None:
        with ThreadPoolExecutor(8) as pool:
            while True:
                self.looks.append(self.look(pool))
                if self._stop.wait(LOOK_S):
                    return

    def look(self, pool: ThreadPoolExecutor) -> Look:
        """What there is now."""
        growing, memory = Counter[tuple[str, str]](), dict[str, float]()
        backlog, oldest_s = 0.0, 0.0
        for found in pool.map(partial(scrape, shown=SHOWN), self._targets().items()):
            seen_backlog = 0.0
            for labels, value in found.items():
                names = dict(labels)
                name, instance = names["__name__"], names["instance"]
                if name in COUNTERS and names.get("verdict") != "repeated":
                    growing[instance, COUNTERS[name]] += value  # type: ignore[assignment]
                elif name == "process_resident_memory_bytes":
                    memory[instance] = value
                elif name == "ledgerline_queue_length" and names["queue"] == "commands":
                    seen_backlog += value
                elif name == "ledgerline_queue_oldest_seconds" and names["queue"] == "commands":
                    oldest_s = max(oldest_s, value)
            backlog = max(backlog, seen_backlog)
        if self._engine is not None:
            self._look_at_engine(growing, memory)
        return Look(time.monotonic(), growing, memory, backlog, oldest_s)

    def _look_at_engine(self, growing: Counter[tuple[str, str]], memory: dict[str, float]) -> None:
        try:
            answer = self._engine.info("everything", **_everywhere(self._engine))
        except (redis.RedisError, OSError, KeyError):  # it is being killed
            last = self.looks[-1] if self.looks else None
            if last:
                growing.update(
                    {key: value for key, value in last.growing.items() if key[0].startswith(ENGINE)}
                )
                memory.update({key: value for key, value in last.memory.items() if key.startswith(ENGINE)})
            return
        for number, info in enumerate(
            answer.values() if hasattr(self._engine, "get_primaries") else [answer]
        ):
            instance = f"{ENGINE}-{number}"
            growing[instance, "cpu_s"] += info["used_cpu_user"] + info["used_cpu_sys"]
            if not info.get("loading"):  # an engine that reads its log has none yet
                growing[instance, "log_bytes"] += info.get("aof_current_size", 0)
            memory[instance] = float(info["used_memory_rss"])


def part_of(instance: str) -> str:
    """The part that an instance is one of: gateway-1 is a gateway."""
    return instance.rpartition("-")[0]


def _by_part(memory: Mapping[str, float]) -> dict[str, float]:
    found = Counter[str]()
    for instance, value in memory.items():
        found[part_of(instance)] += value  # type: ignore[assignment]
    return dict(found)


def _everywhere(engine: Any) -> dict[str, Any]:
    return {"target_nodes": "all"} if hasattr(engine, "get_primaries") else {}
