"""Two runs of the bench, side by side: what each measured, with its spread, and what became worse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Final, NamedTuple

MOST_WORSE: Final = 0.05
RATE: Final = re.compile(
    r"per_(cpu_)?s(_|\b)|/s\b|^ratio"
)  # more is better; of anything else with a unit less is
UNIT: Final = re.compile(r"(^|[ _])(us|ms|s|seconds|mib|kib|bytes)($|_|,| )|_(us|ms|s|mib|kib)$")
PEERS: Final = re.compile(r"^theirs|boardgame\.io")  # what ours is beside


class Compared(NamedTuple):
    """A figure's part on both sides: before and now."""

    name: str
    before: Sequence[float]
    now: Sequence[float]
    more_is_better: bool

    @property
    def change(self) -> float:
        """By which share the median rose."""
        return median(self.now) / median(self.before) - 1

    @property
    def is_worse(self) -> bool:
        """Whether it is worse by more than chance is given."""
        return (-self.change if self.more_is_better else self.change) > MOST_WORSE


def compare(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Compared]:
    """The parts that both runs measured, of the figures of both; each is a document as bench.json has it."""
    found = list[Compared]()
    for name in now["figures"].keys() & before["figures"].keys():
        old, new = (_samples(side["figures"][name]["parts"]) for side in (before, now))
        found += [
            Compared(f"{name}: {part}", old[part], samples, RATE.search(part) is not None)
            for part, samples in new.items()
            if median(old.get(part, [0])) > 0
        ]
    return sorted(found)


def _samples(parts: Mapping[str, Any]) -> dict[str, Sequence[float]]:
    """The parts of ours that have a unit, or are ratios to a peer; both sides of such a ratio are its rounds'."""
    return dict(_flat(parts))


def _flat(parts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Sequence[float]]]:
    for name, part in parts.items():
        if PEERS.search(name) or name.startswith(("pause", "max")):
            continue
        if isinstance(part, Mapping):
            yield from _flat(part, f"{prefix}{name}, ")
        elif isinstance(part, Sequence) and not isinstance(part, str) and part and _has_unit(prefix + name):
            yield prefix + name, part
        elif isinstance(part, int | float) and _has_unit(prefix + name):
            yield prefix + name, [part]


def _has_unit(name: str) -> bool:
    return bool(RATE.search(name) or UNIT.search(name))
