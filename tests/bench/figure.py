"""The result of a benchmark, and the size of its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import TypeAlias

Part: TypeAlias = "float | int | str | Sequence[float] | Mapping[str, float]"
Report: TypeAlias = Callable[[str], None]  # shows what is being measured; called often


@dataclass(frozen=True, slots=True)
class Figure:
    """The result of a benchmark: what was measured, its goal, whether it was met (None: there is no
    goal), and the numbers that it was computed from."""

    what: str
    measured: str
    goal: str
    met: bool | None
    parts: Mapping[str, Part]


@dataclass(frozen=True, slots=True)
class Size:
    """How much to measure. A quick run shows that the bench works; its numbers mean little."""

    quick: bool = False

    def of(self, full: int, quick: int) -> int:
        return quick if self.quick else full


Measure: TypeAlias = Callable[[Size, Report], Figure]


def seconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    start = perf_counter()
    work()
    return perf_counter() - start


def in_turn(
    rounds: int, ours: Callable[[], float], theirs: Callable[[], float], report: Report
) -> tuple[list[float], list[float]]:
    """Both measures, one after the other, round by round: what disturbs one disturbs both.
    A first round, which imports modules and reads boards, doesn't count."""
    pairs = []
    for number in range(rounds + 1):
        report(f"round {number} of {rounds}")
        pairs.append((ours(), theirs()))
    pairs = pairs[1:]
    return [our for our, _ in pairs], [their for _, their in pairs]


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median of the rounds' own ratios, so that a slow minute counts on both sides."""
    return median(our / their for our, their in zip(ours, theirs, strict=True))
