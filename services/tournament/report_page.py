"""A tournament as one HTML page with its charts. It asks nothing of another host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Final

from services.runtime.shipped_files import render_template
from services.tournament.game_results import GameResult, SeatResult, part_names, share_names
from services.tournament.standings import Standings

WIDTH: Final = 640  # of a drawing
BIN: Final = 10  # points of a column of the score distribution
FEW_POINTS: Final = 30  # between the best and the worst score: then each has a column
HEIGHT: Final = 90  # of its highest column
COLORS: Final = 5  # of sources of points: a sixth has the first one again


def render_page(title: str, how: str, results: Sequence[GameResult], standings: Standings) -> str:
    """The page; `how` says what was played and how."""
    names = [each.policy for each in standings.policies]
    return render_template(
        "services.tournament",
        "tournament.html",
        title=title,
        how=how,
        games=len(results),
        blocks=len({game.block for game in results}),
        standings=standings,
        names=names,
        shares=share_names(results),
        distributions=sorted(score_distributions(results), key=lambda each: names.index(each.policy)),
        sources={name: place % COLORS for place, name in enumerate(part_names(results))},
        source_bars=sorted(points_by_source(results), key=lambda each: names.index(each.policy)),
        width=WIDTH,
        height=HEIGHT,
    )


# -- the charts as numbers: where each bar and line begins and ends, in the units of the drawing ----


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle; `label` says what it stands for."""

    x: float
    y: float
    width: float
    height: float
    label: str


@dataclass(frozen=True, slots=True)
class Distribution:
    """How often a policy had which score: a column for each BIN points or for each point, and the axis below."""

    policy: str
    bars: tuple[Bar, ...]
    ticks: tuple[tuple[float, int], ...]  # x and score


@dataclass(frozen=True, slots=True)
class SourceBars:
    """A policy's mean points by source, one bar after the other; costs are drawn to the left."""

    policy: str
    bars: tuple[tuple[str, Bar], ...]


def seats_by_policy(results: Sequence[GameResult]) -> dict[str, list[SeatResult]]:
    """Every policy's seats."""
    seats: dict[str, list[SeatResult]] = {}
    for game in results:
        for seat in game.seats:
            seats.setdefault(seat.policy, []).append(seat)
    return dict(sorted(seats.items()))


def score_distributions(results: Sequence[GameResult]) -> list[Distribution]:
    """The distribution of each policy's scores, all on one scale."""
    totals = [seat.total for game in results for seat in game.seats]
    size = BIN if max(totals) - min(totals) > FEW_POINTS else 1
    bins = {
        name: Counter(seat.total // size for seat in seats)
        for name, seats in seats_by_policy(results).items()
    }
    every = [bin_ for counts in bins.values() for bin_ in counts]
    first, last = min(every), max(every) + 1
    column = WIDTH / (last - first)
    most = max(count for counts in bins.values() for count in counts.values())
    step = 1 + (last - first) // 12
    ticks = tuple(((bin_ - first) * column, bin_ * size) for bin_ in range(first, last + 1, step))
    return [
        Distribution(
            name,
            tuple(
                Bar(
                    (bin_ - first) * column,
                    HEIGHT * (1 - count / most),
                    column - 1,
                    HEIGHT * count / most,
                    f"{_points(bin_ * size, size)}: {count} times",
                )
                for bin_, count in sorted(counts.items())
            ),
            ticks,
        )
        for name, counts in bins.items()
    ]


def _points(first: int, size: int) -> str:
    return f"{first} points" if size == 1 else f"{first} to {first + size - 1} points"


def points_by_source(results: Sequence[GameResult]) -> list[SourceBars]:
    """The mean points of each policy by source, all on one scale."""
    means = {
        name: {
            source: mean(float(seat.parts.get(source, 0)) for seat in seats) for source in part_names(results)
        }
        for name, seats in seats_by_policy(results).items()
    }
    below = max(-sum(min(0.0, value) for value in sources.values()) for sources in means.values())
    above = max(sum(max(0.0, value) for value in sources.values()) for sources in means.values())
    scale = WIDTH / max(1.0, below + above)
    return [SourceBars(name, _stack(sources, below, scale)) for name, sources in means.items()]


def _stack(sources: Mapping[str, float], below: float, scale: float) -> tuple[tuple[str, Bar], ...]:
    right = left = below * scale
    bars = []
    for source, value in sources.items():
        width = abs(value) * scale
        if value < 0:
            left -= width
        if value:
            bars.append(
                (source, Bar(left if value < 0 else right, 0, width, 20, f"{source}: {value:.1f} points"))
            )
        if value > 0:
            right += width
    return tuple(bars)
