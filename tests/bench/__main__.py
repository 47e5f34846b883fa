"""`python -m tests.bench`: measure, print a table, write bench.json."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Final

import structlog
import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from tests.bench import (  # fmt: skip
    ask,
    bot_moves,
    bots_memory,
    core,
    crowds,
    decoded,
    endtoend,
    environment,
    event_stores,
    floods,
    fold,
    followers,
    gateway_cpu,
    growth,
    hostile_boards,
    latency,
    lease_handover,
    machine,
    memory,
    metrics_cost,
    newcomer,
    nodes,
    operator_page,
    pages,
    poison,
    proof,
    referee,
    requests,
    rollouts,
    rulesets,
    searches,
    several_referees,
    simulations,
    structure,
)
from tests.bench.comparison import compare
from tests.bench.figure import Figure, Measure, Size

FIGURES: Final[Mapping[str, Measure]] = {
    "fold": fold.measure,
    "stores": event_stores.measure,
    "referee": referee.measure,
    "referees": several_referees.measure,
    "growth": growth.measure,
    "poison": poison.measure,
    "nodes": nodes.measure,
    "latency": latency.measure,
    "moves": bot_moves.measure,
    "floods": floods.measure,
    "crowds": crowds.measure,
    "followers": followers.measure,
    "endtoend": endtoend.measure,
    "gateway": gateway_cpu.measure,
    "metrics": metrics_cost.measure,
    "core": core.measure,
    "decoded": decoded.measure,
    "memory": memory.measure,
    "bots": bots_memory.measure,
    "rulesets": rulesets.measure,
    "environment": environment.measure,
    "searches": searches.measure,
    "rollouts": rollouts.measure,
    "simulations": simulations.measure,
    "operator": operator_page.measure,
    "hostile": hostile_boards.measure,
    "requests": requests.measure,
    "structure": structure.measure,
    "ask": ask.measure,
    "handover": lease_handover.measure,
    "sealing": proof.measure_sealing,
    "files": proof.measure_files,
    "pages": pages.measure,
    "newcomer": newcomer.measure,
}
SLOW: Final = (
    "newcomer",
    "handover",
    "floods",
    "pages",
    "crowds",
    "followers",
    "bots",
    "gateway",
    "stores",
)  # not in a quick run, unless it is named
app = typer.Typer(add_completion=False, rich_markup_mode="markdown")
out = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
aside = Console(stderr=True, highlight=False)


@app.command()
def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help=f"Which figures: {', '.join(FIGURES)}.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A small run that shows that the bench works; its numbers mean little."),
    ] = False,
    to: Annotated[Path, typer.Option("--out", help="Where the figures go as JSON.")] = Path("bench.json"),
    before: Annotated[
        Path | None,
        typer.Option("--compare", help="An earlier bench.json: show both, fail where this run is 5 % worse."),
    ] = None,
) -> None:
    """Measure the figures that this project promises, beside what they are compared with.

    Prints what was measured against each goal, and writes the same with all its parts and the
    description of the machine to bench.json. Everything runs on this machine, on engines that it starts
    and stops itself. The exit code is 1 if a figure could not be measured, or is worse than in the
    run that it is compared with; a missed goal is only reported.

    - fold, stores: a log's bytes to the state; appends and reads of streams, against PyPI eventsourcing (and umadb)
    - referee: commands a second of one referee, against the same scripts without rules
    - referees: commands a second of one, two and four referees on one engine
    - growth: commands a second with 100, 10,000 and 100,000 live games, and their memory (LEDGERLINE_REMEMBERS_MIB: of the referee)
    - poison, metrics: commands a second while one in a hundred breaks the referee; the CPU of a move that metrics take
    - nodes: three primaries of a cluster against one engine, CPU a command
    - latency, gateway: from one WebSocket to another; the gateway's CPU a move
    - floods, crowds: 50 games of people while strangers flood the gateway; 4,000 who watch one game
    - endtoend: 32 and 256 games over WebSockets, against boardgame.io (node, npm; LEDGERLINE_PEERS: its run.sh)
    - core, decoded: decisions a second, against python-chess; the fold without the wire
    - memory, bots: what a finished game takes in the engine; what 262 games add to a bots' worker
    - rulesets, rollouts, simulations, environment: random whole games a second for every ruleset; what `searcher` plays out; what `simulate` does; steps of the PettingZoo environment
    - hostile, requests, operator: the slowest moves, scores, drawings and tables on boards made to be slow; the operator's page of 100,000 games
    - searches, ask: the longest trail, the stations' loans, the passengers' journeys; one question, a whole process
    - handover: kill -9 of a referee, until its games move again
    - pages: a click to the own move drawn, a cold load, weight, a silent death, the lobby (Chromium)
    - structure, newcomer: lines, modules, circles, settings, words; README to a first game and a bot that wins, pipx install (fetches packages)
    """
    chosen = choose_figures(names, quick=quick)
    earlier = None if before is None else read_run(before, quick=quick)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    machine_info = machine.machine_info()
    figures, failures = measured(chosen, Size(quick))
    machine_info["load_after"] = os.getloadavg()[0]
    show(figures, failures, machine_info, quick=quick)
    document = write_run(to, machine_info, figures, failures, quick=quick)
    out.print(f"[dim]written to {to}[/]")
    worse = earlier is not None and show_comparison(earlier, document)
    sys.exit(1 if failures or worse else 0)


def choose_figures(names: list[str] | None, *, quick: bool) -> list[str]:
    """Those that are named, else all. Raises typer.BadParameter."""
    chosen = names or [name for name in FIGURES if not (quick and name in SLOW)]
    if unknown := [name for name in chosen if name not in FIGURES]:
        raise typer.BadParameter(f"there is no figure {unknown[0]!r}; there is {', '.join(FIGURES)}")
    return chosen


def write_run(
    path: Path,
    machine_info: Mapping[str, Any],
    figures: Mapping[str, Figure],
    failures: Mapping[str, str],
    *,
    quick: bool,
) -> dict[str, Any]:
    """Write a run's document; returns it as one reads it."""
    measures = {name: asdict(figure) for name, figure in figures.items()}
    text = json.dumps(
        {"machine": machine_info, "quick": quick, "figures": measures, "failures": failures}, indent=2
    )
    path.write_text(text + "\n", encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def read_run(path: Path, *, quick: bool) -> dict[str, Any]:
    """The document of another run, as long as this one. Raises typer.BadParameter."""
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        is_quick, _, _ = document["quick"], document["figures"], document["machine"]["cpu"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else "no run of the bench"
        raise typer.BadParameter(f"--compare: {path}: {reason}; --out writes one") from None
    if is_quick != quick:
        raise typer.BadParameter(f"--compare: {path}: one of both runs is quick, and the other isn't")
    return document


def show_comparison(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Print both runs side by side. Returns whether this one is worse."""
    table = Table(title=f"Before: commit {before['machine']['commit']}; now: {now['machine']['commit']}")
    for column in ("", "before (least to most)", "now", "change"):
        table.add_column(column)
    compared = compare(before, now)
    for part in compared:
        change = f"{part.change:+.1%}" + (" [red]worse[/]" if part.is_worse else "")
        table.add_row(part.name, spread(part.before), spread(part.now), change)
    out.print(table)
    for name in ("cpu", "cpus", "python", "rules"):
        if before["machine"][name] != now["machine"][name]:
            out.print(f"Another {name}: {before['machine'][name]}, now {now['machine'][name]}", markup=False)
    if not compared:
        out.print("These runs have no figure in common.")
    return any(part.is_worse for part in compared)


def spread(samples: Sequence[float]) -> str:
    """Their median, and how far they lie apart."""
    middle = f"{median(samples):,.4g}"
    return middle if len(samples) == 1 else f"{middle} ({min(samples):,.4g} to {max(samples):,.4g})"


def measured(names: list[str], size: Size) -> tuple[dict[str, Figure], dict[str, str]]:
    """The figures by name, and of those that could not be measured, why."""
    figures: dict[str, Figure] = {}
    failures: dict[str, str] = {}
    columns = (SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=aside, disable=not aside.is_terminal, transient=True) as progress:
        task = progress.add_task("", total=len(names))
        for name in names:
            start = time.monotonic()

            def report(doing: str, name: str = name) -> None:
                progress.update(task, description=f"{name}: {doing}")

            line(f"{name} ..")
            try:
                figures[name] = FIGURES[name](size, report)
                line(f"{name}: {figures[name].measured} [{time.monotonic() - start:.0f} s]")
            except Exception as error:  # one figure's failure is reported beside the others
                failures[name] = f"{type(error).__name__}: {error}"
                line(f"{name}: failed: {failures[name]}")
            progress.advance(task)
    return figures, failures


def line(text: str) -> None:
    """Progress where there is no terminal to draw on."""
    if not aside.is_terminal:
        aside.print(text, markup=False, soft_wrap=True)


def show(
    figures: Mapping[str, Figure],
    failures: Mapping[str, str],
    machine_info: Mapping[str, Any],
    *,
    quick: bool,
) -> None:
    about = f"{machine_info['cpus']} CPUs, Python {machine_info['python']}, rules {machine_info['rules']}, {machine_info['engine']}, commit {machine_info['commit']}"
    title = f"Ledgerline, measured on {about}" + (" (quick: not for quoting)" if quick else "")
    table = Table(title=title, show_lines=True)
    for column in ("", "what", "measured", "goal", "met?"):
        table.add_column(column)
    for name, figure in figures.items():
        met = {True: "[green]yes[/]", False: "[red]no[/]", None: "-"}[figure.met]
        table.add_row(name, figure.what, figure.measured, figure.goal, met)
    for name, why in failures.items():
        table.add_row(name, "[red]could not be measured[/]", why, "", "[red]no[/]")
    out.print(table)


if __name__ == "__main__":
    app()
