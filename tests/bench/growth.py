"""The cost of growth: one referee and one engine with few live games, with many, with very many.

Each number of games has an engine and a referee of its own, and rounds of all alternate. In a
round commands come in batches, the same for all, each for another game as far as there are games.
The games are copies of a few dozen, each cut at twenty moments, under ids of their own: in the engine key by key, as
play leaves them. So all numbers of games get the same mix of commands. The referee has every game in its
cache: as a state as far as `LEDGERLINE_REMEMBERS_MIB` has room, the others packed. It folds a thousand from their logs, which is measured apart (a restart, a hand-over); the others,
whose logs have the same bytes, it gets as restored copies of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median
from typing import Final

from schemas.commands import CommandEnvelope
from tests.bench.figure import Figure, Part, Report, Size, ratio
from tests.bench.games import fresh_engine
from tests.bench.live_games import FOLDED, Copies, Live, run_one, scripts
from tests.bench.referee_workers import Spent, Worker

GOAL: Final = 0.75
GAMES: Final = (100, 10_000, 100_000)
GAMES_QUICK: Final = (10, 30, 60)
BATCH: Final = 100  # commands that wait at each step
NO_REWRITE: Final = {"auto-aof-rewrite-percentage": 0}  # a rewrite isn't what is measured


class GamesUnderLoad:
    """So many live games, their referee, and what its rounds took."""

    def __init__(
        self,
        url: str,
        games: int,
        templates: Sequence[Sequence[CommandEnvelope]],
        worker: Worker,
        report: Report = lambda _: None,
    ) -> None:
        self.live, self.worker = Live(url, games, templates, report), worker
        folded = FOLDED // self.live.originals * self.live.originals
        names = self.live.names
        report(f"{games:,} games: the referee loads them")
        self.loaded, self.resident = worker.ask(names[:folded])
        self.hot, self.packed = worker.ask(Copies(names[folded:], names[: self.live.originals]))
        self.rounds: list[Spent] = []
        self.engine_s = 0.0

    def play(self, envelopes: int, batch: int, poison: int = 0) -> None:
        """One round; each batch has so many poison commands as well."""
        spent = Spent(0, 0.0, 0.0, 0.0)
        before = self.live.engine_cpu_s()
        for _ in range(envelopes // batch):
            self.live.put(batch, poison)
            one, self.resident = self.worker.ask(batch + poison)
            spent = Spent(*map(sum, zip(spent, one._replace(commands=batch), strict=True)))
        self.engine_s += self.live.engine_cpu_s() - before
        self.rounds.append(spent)

    @property
    def rates(self) -> list[float]:
        return [spent.commands / spent.seconds for spent in self.rounds]

    def cpu_us(self) -> float:
        """The referee's own CPU time a command."""
        return sum(s.user + s.system for s in self.rounds) / sum(s.commands for s in self.rounds) * 1e6

    def engine_us(self) -> float:
        """The engine's CPU time a command, submission included."""
        return self.engine_s / sum(spent.commands for spent in self.rounds) * 1e6


def measure(size: Size, report: Report) -> Figure:
    counts = GAMES_QUICK if size.quick else GAMES
    batch = size.of(BATCH, 20)
    with ExitStack() as running:
        report("playing a few games in advance")
        templates = scripts(size.of(24, 1))
        grown = []
        for count in counts:
            url = running.enter_context(fresh_engine(**NO_REWRITE))
            worker = running.enter_context(Worker(run_one, url))
            grown.append(GamesUnderLoad(url, count, templates, worker, report))
        for number in range(size.of(11, 2)):
            report(f"round {number}")
            for each in grown:
                each.play(size.of(1000, 40), batch)
                if not number:  # a first round is left out
                    each.rounds.clear()
                    each.engine_s = 0.0
        errors = sum(each.live.errors() for each in grown)
        return build_figure(counts, grown, errors)


def build_figure(counts: Sequence[int], grown: Sequence[GamesUnderLoad], errors: int) -> Figure:
    few, *_, most = grown
    share, memory = ratio(most.rates, few.rates), [each.live.bytes_each for each in grown]
    in_proportion = max(memory) < 1.2 * min(memory)
    rates = ", ".join(
        f"{median(each.rates):,.0f} with {count:,}" for count, each in zip(counts, grown, strict=True)
    )
    cpu = " / ".join(f"{each.cpu_us():.0f}" for each in grown)
    parts: dict[str, Part] = {"ratio": share, "errors": errors}
    for count, each in zip(counts, grown, strict=True):
        parts |= {f"{name}_of_{count}": part for name, part in parts_of(each).items()}
    return Figure(
        f"one referee with {counts[-1]:,} live games, commands a second, of the same with {counts[0]:,}",
        f"{share:.2f} ({rates}; {cpu} us CPU a command; {memory[-1] / 1024:.1f} KiB a game in the engine,"
        f" {most.resident / 1e6:,.0f} MB in the referee, {most.hot:,} folded, {most.packed:,} packed;"
        f" {errors} errors)",
        f"at least {GOAL}; memory in proportion",
        share >= GOAL and in_proportion and not errors,
        parts,
    )


def parts_of(grown: GamesUnderLoad) -> dict[str, Part]:
    return {
        "per_s": grown.rates,
        "referee_cpu_us": grown.cpu_us(),
        "engine_cpu_us": grown.engine_us(),
        "engine_bytes_per_game": grown.live.bytes_each,
        "referee_bytes": grown.resident,
        "folded_games": grown.hot,
        "packed_games": grown.packed,
        "games_met_per_s": grown.loaded.commands / grown.loaded.seconds,
    }
