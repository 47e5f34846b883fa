"""`python -m tests.bench`: measure, print a table, write bench.json."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
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
    floods,
    fold,
    followers,
    fresh_clone,
    gateway_cpu,
    growth,
    hostile_boards,
    latency,
    lease_handover,
    machine,
    memory,
    nodes,
    pages,
    poison,
    proof,
    referee,
    requests,
    rulesets,
    searches,
    several_referees,
    structure,
)
from tests.bench.figure import Figure, Measure, Size

FIGURES: Final[Mapping[str, Measure]] = {
    "fold": fold.measure,
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
    "core": core.measure,
    "decoded": decoded.measure,
    "memory": memory.measure,
    "bots": bots_memory.measure,
    "rulesets": rulesets.measure,
    "environment": environment.measure,
    "searches": searches.measure,
    "hostile": hostile_boards.measure,
    "requests": requests.measure,
    "structure": structure.measure,
    "ask": ask.measure,
    "handover": lease_handover.measure,
    "sealing": proof.measure_sealing,
    "files": proof.measure_files,
    "pages": pages.measure,
    "fresh": fresh_clone.measure,
}
SLOW: Final = (
    "fresh",
    "handover",
    "floods",
    "pages",
    "crowds",
    "followers",
    "bots",
    "gateway",
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
) -> None:
    """Measure the figures that this project promises, beside what they are compared with.

    Prints what was measured against each goal, and writes the same with all its parts and the
    description of the machine to bench.json. Everything runs on this machine, on engines that it starts
    and stops itself. The exit code is 1 if a figure could not be measured; a missed goal is
    only reported.

    - fold: a log's bytes to the state, against PyPI eventsourcing
    - referee: commands a second of one referee, against the same scripts without rules
    - referees: commands a second of one, two and four referees on one engine
    - growth: commands a second with 100, 10,000 and 100,000 live games, and their memory (LEDGERLINE_REMEMBERS_MIB: of the referee)
    - poison: commands a second while one in a hundred breaks the referee
    - nodes: three primaries of a cluster against one engine, CPU a command
    - latency, gateway: from one WebSocket to another, all services as processes; the gateway's CPU a move
    - floods, crowds: 50 games of people while strangers flood the gateway; 4,000 who watch one game
    - endtoend: 32 and 256 games over WebSockets, against boardgame.io (node, npm; LEDGERLINE_PEERS: its run.sh)
    - core: decisions a second, against python-chess
    - decoded: the fold without the wire
    - memory, bots: what a finished game takes in the engine; what 262 games add to a bots' worker
    - rulesets, environment: random whole games a second for every ruleset; steps of the PettingZoo environment
    - hostile, requests: the slowest moves, scores, drawings and tables on boards made to be slow
    - searches, ask: the longest trail, the stations' loans, the passengers' journeys; one question, a whole process
    - handover: kill -9 of a referee, until its games move again
    - pages: a click to the own move drawn, a cold load, weight, a silent death, the lobby (Chromium)
    - structure: lines, modules, circles, settings, words: the weight of what is here
    - fresh: make setup and make play in a new clone (fetches packages)
    """
    chosen = names or [name for name in FIGURES if not (quick and name in SLOW)]
    if unknown := [name for name in chosen if name not in FIGURES]:
        raise typer.BadParameter(f"there is no figure {unknown[0]!r}; there is {', '.join(FIGURES)}")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    machine_info = machine.machine_info()
    figures, failures = measured(chosen, Size(quick))
    machine_info["load_after"] = os.getloadavg()[0]
    show(figures, failures, machine_info, quick=quick)
    measures = {name: asdict(figure) for name, figure in figures.items()}
    document = {"machine": machine_info, "quick": quick, "figures": measures, "failures": failures}
    to.write_text(json.dumps(document, indent=2) + "\n")
    out.print(f"[dim]written to {to}[/]")
    sys.exit(1 if failures else 0)


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
