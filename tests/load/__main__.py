"""`python -m tests.load`: games as people play them, what they took, and the machine that more of them need."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import redis
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tests.load import machine_table
from tests.load.people import SIGMA, Plan
from tests.load.run import Outcome, Report, Timing, measured_of, run, shared_out
from tests.load.systems import connections_here, kills_of, server, targets_of, urls_of
from tests.load.watch import Watch

COUNTED: Final = ("gateway", "referee", "bots")
MOST: Final = 16  # of each service, on this machine
ATTACHED: Final = "The share of people who are at the table the whole time; others look in to move."
PAGES: Final = "The server lists what is legal, as for the pages in a browser; else people know the rules."
URL: Final = "A gateway elsewhere; again for another. Then no service is started here."
METRICS: Final = "With --url: a service's metrics, as gateway=10.0.0.2:9464."
BYTES_A_PERSON: Final = {True: 6_000, False: 30_000}  # here, by whether the server lists what is legal
out: Final = Console(highlight=False, width=None if sys.stdout.isatty() else 150)
aside: Final = Console(stderr=True, highlight=False)
app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def main(
    games: Annotated[int, typer.Option(min=1, max=1_000_000, help="In play at once.")] = 1_000,
    rate: Annotated[float, typer.Option(min=0.01, help="Commands a second, of people and bots.")] = 200,
    minutes: Annotated[float, typer.Option(min=0.01, help="Measured, after all games are created.")] = 2,
    warm: Annotated[float, typer.Option(min=0, help="Seconds in which people come, before.")] = 20,
    people: Annotated[int, typer.Option(min=1, max=4, help="In a game.")] = 1,
    bots: Annotated[int, typer.Option(min=0, max=4, help="In a game.")] = 1,
    policy: Annotated[str, typer.Option(help="The bots'.")] = "random",
    attached: Annotated[float, typer.Option(min=0, max=1, help=ATTACHED)] = 1.0,
    pages: Annotated[bool, typer.Option("--pages", help=PAGES)] = False,
    level: Annotated[str, typer.Option(help="That people ask for: durable, replicated:1.")] = "",
    kill: Annotated[bool, typer.Option("--kill", help="Kill each service in turn, and the engine.")] = False,
    processes: Annotated[int, typer.Option(min=1, max=64, help="Of people, on this machine.")] = 2,
    url: Annotated[list[str] | None, typer.Option(help=URL)] = None,
    metrics: Annotated[list[str] | None, typer.Option(help=METRICS)] = None,
    engine: Annotated[str, typer.Option(help="With --url: the engine's address, for what it takes.")] = "",
    cluster: Annotated[bool, typer.Option("--cluster", help="Three primaries with a replica each.")] = False,
    services: Annotated[str, typer.Option(help="Gateways, referees, bots' workers here.")] = "1,1,1",
    engine_memory: Annotated[str, typer.Option(help="maxmemory of the engine here.")] = "8gb",
    logs: Annotated[int, typer.Option(min=1, help="Compared at the end, at most.")] = 1_000_000,
    first: Annotated[int, typer.Option(min=0, help="Another on each machine before one server.")] = 0,
    report: Annotated[Path, typer.Option(help="Where the figures go, as JSON.")] = Path("load.json"),
) -> None:
    """Keep games of people and bots in play, and say what they took, and which machine more of them need.

    A person's pause is log-normal; its mean follows from the rate. Every answered command must be in its game's log once.
    Exit code 1: one was lost, doubled or not answered, or the run failed.

    On a larger machine: `make load ARGS="--games 100000 --rate 2000 --minutes 10 --kill --services 8,4,2 --processes 8"`.
    Before a server elsewhere, which must allow so many (LEDGERLINE_RATE, _READ_RATE, _OPEN_GAMES, _CONNECTIONS,
    _CONNECTIONS_PER_ADDRESS): `--url https://play.example.org`, from several machines at once, each with another `--first`."""
    pause_s = games * (people + bots) / rate
    plan = Plan(url or [], games, people, bots, policy, pause_s, attached, pages, level, "load", first, logs)
    timing = Timing(60 * minutes, warm)
    try:
        if url:
            outcome = run_elsewhere(plan, processes, timing, metrics or [], engine)
            counts = dict[str, int]()
        else:
            counts = counted(services)
            outcome = run_here(plan, processes, timing, counts, cluster, engine_memory, kill)
    except (RuntimeError, OSError) as error:
        aside.print(f"the run failed: {error}", markup=False)
        raise typer.Exit(1) from None
    show(plan, processes, outcome, counts, report)
    raise typer.Exit(0 if outcome.is_good else 1)


def counted(services: str) -> dict[str, int]:
    """How many of each service there are to be. Raises typer.BadParameter."""
    numbers = services.split(",")
    if len(numbers) != len(COUNTED) or not all(each.isdigit() and 1 <= int(each) <= MOST for each in numbers):
        raise typer.BadParameter(f"--services takes three numbers from 1 to {MOST}: {', '.join(COUNTED)}")
    return dict(zip(COUNTED, map(int, numbers), strict=True))


def run_here(
    plan: Plan,
    processes: int,
    timing: Timing,
    counts: dict[str, int],
    on_cluster: bool,
    memory: str,
    kill: bool,
) -> Outcome:
    """A run before services of its own."""
    announce(plan, processes, counts["gateway"])
    with (
        tempfile.TemporaryDirectory(prefix="load-") as folder,
        server(Path(folder), counts, on_cluster, memory) as system,
        reporting() as report,
    ):
        counts["engine"] = 3 if on_cluster else 1
        watch = Watch(lambda: targets_of(system), system.client)
        plan = plan._replace(urls=urls_of(system))
        return run(shared_out(plan, processes), watch, timing, kills_of(system) if kill else [], report)


def run_elsewhere(plan: Plan, processes: int, timing: Timing, metrics: Sequence[str], engine: str) -> Outcome:
    """A run before a server that there is."""
    announce(plan, processes, math.inf)
    if wrong := [each for each in metrics if not re.fullmatch(r"[a-z]+=\S+:\d+", each)]:
        raise typer.BadParameter(f"--metrics takes gateway=10.0.0.2:9464, not {wrong[0]!r}")
    targets = {
        f"{part}-{number}": address
        for number, (part, _, address) in enumerate(each.partition("=") for each in metrics)
    }
    watch = Watch(lambda: targets, redis.Redis.from_url(engine) if engine else None)
    with reporting() as report:
        return run(shared_out(plan, processes), watch, timing, [], report)


def announce(plan: Plan, processes: int, gateways: float) -> None:
    """Say what is going to be started, and refuse what can't be. Raises typer.BadParameter."""
    people = plan.games * plan.people
    sockets = round(people * plan.attached)
    most = connections_here()
    if sockets > processes * most:
        needed = math.ceil(sockets / most)
        raise typer.BadParameter(
            f"{sockets:,} sockets are more than {processes} processes of {most:,} open files: --processes {needed}, "
            "or fewer with --attached"
        )
    if sockets > gateways * most:
        needed = math.ceil(sockets / most)
        raise typer.BadParameter(
            f"{sockets:,} sockets are more than a gateway takes here ({most:,}): --services {needed},1,1, "
            "or fewer with --attached"
        )
    gib = people * BYTES_A_PERSON[plan.asks_rules] / 2**30
    aside.print(
        f"{plan.games:,} games of {plan.people} and {plan.bots} bots ({plan.policy}); a pause of {plan.pause_s:,.1f} s on "
        f"average (log-normal, sigma {SIGMA:g}); {sockets:,} sockets; people in {processes} processes, "
        f"about {gib:.1f} GiB of memory",
        soft_wrap=True,
    )


@contextmanager
def reporting() -> Iterator[Report]:
    """A bar where there is a terminal, else a line for each tenth."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,.0f} of {task.total:,.0f}"), TimeElapsedColumn())  # fmt: skip
    said = dict[str, int]()
    with Progress(*columns, console=aside, disable=not aside.is_terminal) as progress:
        task = progress.add_task("", total=1)

        def report(doing: str, done: float, of: float) -> None:
            progress.update(task, description=doing, completed=done, total=of)
            tenth = int(10 * done / of) if of else 10
            if not aside.is_terminal and said.get(doing) != tenth:
                said[doing] = tenth
                aside.print(f"{doing}: {done:,.0f} of {of:,.0f}")

        yield report


def show(plan: Plan, processes: int, outcome: Outcome, count: dict[str, int], report: Path) -> None:
    """Print the run, and what it comes to on larger machines; write both as JSON."""
    measured = measured_of(shared_out(plan, processes), outcome, count)
    show_run(plan, outcome, measured)
    derived: dict[str, Any] = {}
    for target in machine_table.TARGETS if measured.cpu_us else ():
        rows = machine_table.rows_of(target, measured)
        derived[target.name] = [row._asdict() for row in rows]
        asked = f"{target.commands_per_s:,.0f} commands a second, {target.games:,} games"
        out.print(f"\n{target.name}: {asked}", markup=False)
        out.print(machine_table.markdown(("part", "needs", "not run"), rows), soft_wrap=True, markup=False)
    document = {
        "cores": os.cpu_count(), "plan": plan._asdict(), "measured": measured._asdict(),
        "counts": dict(outcome.counted), "phases": [phase._asdict() for phase in outcome.phases],
        "complaints": [*outcome.complaints], "watched": outcome.watched._asdict(), "derived": derived,
    }  # fmt: skip
    report.write_text(json.dumps(document, indent=1) + "\n")
    out.print(f"\nfigures in {report}")


def show_run(plan: Plan, outcome: Outcome, measured: machine_table.Measured) -> None:
    """Print what people saw, and what it took."""
    watched, n = outcome.watched, outcome.counted
    latencies = Table("while", "answers", "p50", "p99", "longest", title="From wanting to move to the verdict", title_justify="left")  # fmt: skip
    for phase in outcome.phases:
        latencies.add_row(phase.name, f"{phase.answered:,}", *(f"{s * 1e3:,.0f} ms" for s in phase[2:]))
    out.print(latencies)
    parts = Table("part", "CPU a command", "memory at the end", "at most", "a game", title="What it took", title_justify="left")  # fmt: skip
    for part in sorted(watched.memory):
        size, most = watched.memory[part], watched.most_memory[part]
        parts.add_row(
            part, f"{measured.cpu_us.get(part, 0):,.0f} us", f"{size / 2**20:,.0f} MiB", f"{most / 2**20:,.0f} MiB",
            f"{max(0.0, measured.bytes_per_game[part]) / 1024:,.1f} KiB",
        )  # fmt: skip
    out.print(parts)
    out.print(
        f"{measured.commands_per_s:,.0f} commands a second for {outcome.seconds:,.0f} s, of {plan.games:,} games; "
        f"people's: {n['sent']:,} sent, {n['checked']:,} checked in {n['checked games'] + n['finished']:,} logs, [b]{n['lost']} lost, {n['doubled']} doubled, "
        f"{n['unanswered']} unanswered[/] ({n['decided unseen']} of them decided; {n['unattached']} of people who had no socket yet); {n['sent again']:,} sent again, {n['cut']:,} sockets cut; "
        f"{n['opened']:,} asked for, {n['refused']:,} refused, {n['gave up']:,} given up; "
        f"the engines' log grew by {watched.log_bytes / 1e6:,.0f} MB ({measured.log_bytes:,.0f} bytes a command); backlog at "
        f"most {watched.most_backlog:,.0f} commands, {watched.most_oldest_s:.1f} s; {watched.dead_letters:,.0f} dead letters",
        soft_wrap=True,
    )
    out.print(
        "At a low rate a command looks dear, for idle work counts too; with few games so does a game's memory."
    )
    for complaint in outcome.complaints:
        out.print(complaint, markup=False)


if __name__ == "__main__":
    app()
