"""`python -m tests.chaos`: every fault, and a table of what was acknowledged, kept and how soon games went on."""

from __future__ import annotations

import json
import secrets
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tests.chaos.run import Row, open_system, play
from tests.chaos.scenarios import CLUSTER_LEVELS, SCENARIOS, Scenario

out: Final = Console(highlight=False, width=None if sys.stdout.isatty() else 180)
aside: Final = Console(stderr=True, highlight=False)
app = typer.Typer(add_completion=False)
HEADINGS: Final = (
    *("fault", "engine", "faults", "commands", "requests"),
    *(f"ack. {level}" for level in CLUSTER_LEVELS),
    *("unknown", "lost", "doubled", "recovery p50", "max"),
)


@app.command()
def main(
    names: Annotated[list[str] | None, typer.Argument(help="Only those whose name has one of these.")] = None,
    games: Annotated[int, typer.Option(min=1, help="Played at once.")] = 12,
    faults: Annotated[int, typer.Option(min=1, help="Of each scenario.")] = 5,
    engine: Annotated[
        Path | None, typer.Option(help="Another engine's binary, such as redis-server.")
    ] = None,
    seed: Annotated[str, typer.Option(help="Of what is chosen.")] = "",
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the whole table in Markdown.")] = False,
    report: Annotated[Path, typer.Option(help="Where the rows go, as JSON.")] = Path("chaos.json"),
) -> None:
    """Break everything around games that are being played, and count what clients were promised and kept.

    Exit code 1 where a promise was broken."""
    seed = seed or secrets.token_hex(4)
    chosen = [each for each in SCENARIOS if not names or any(name in each.name for name in names)]
    chosen = [each for each in chosen if engine is None or not each.on_cluster]
    rows = play_all(chosen, seed, games, faults, engine)
    report.write_text(json.dumps([row._asdict() for row in rows], indent=1))
    if markdown:
        out.print(markdown_of(rows), soft_wrap=True, markup=False)
        raise typer.Exit(0 if all(row.is_good for row in rows) else 1)
    out.print(table_of(rows))
    for row in rows:
        for complaint in row.complaints:
            out.print(f"{row.scenario}: {complaint}", markup=False)
    out.print(f"seed {seed}; rows in {report}; exit code 1 where something was lost or doubled")
    raise typer.Exit(0 if all(row.is_good for row in rows) else 1)


def play_all(
    scenarios: Sequence[Scenario], seed: str, games: int, faults: int, engine: Path | None
) -> list[Row]:
    """The row of each scenario; a bar shows how far they are."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    rows: list[Row] = []
    with Progress(*columns, console=aside) as progress:
        task = progress.add_task("", total=faults * len(scenarios))
        for scenario in scenarios:
            progress.update(task, description=scenario.name)
            folder = Path(tempfile.mkdtemp(prefix="chaos-"))
            try:
                system = open_system(scenario, folder, engine)
                row = play(
                    *(scenario, system, seed, games, faults),
                    on_fault=lambda: progress.advance(task),
                )
            except Exception:
                aside.print(f"{scenario.name}: what its services said is in {folder}", markup=False)
                raise
            shutil.rmtree(folder)
            rows.append(row)
            if not aside.is_terminal:
                aside.print(" | ".join(cells(row)), soft_wrap=True, markup=False)
    return rows


def table_of(rows: Sequence[Row]) -> Table:
    """The rows for people."""
    table = Table(*HEADINGS, title="What was acknowledged, and what is left of it", title_justify="left")
    for row in rows:
        table.add_row(*cells(row), style="" if row.is_good else "bold red")
    return table


def markdown_of(rows: Sequence[Row]) -> str:
    """The rows as a table in Markdown."""
    lines = [HEADINGS, ["---"] * len(HEADINGS), *(cells(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cells(row: Row) -> list[str]:
    """A row's cells, in the order of the headings."""
    lost = str(sum(row.lost.values())) + (
        f" ({row.lost_uncovered} not covered)" if row.lost_uncovered else ""
    )
    counts = [str(row.acknowledged.get(level, 0)) for level in CLUSTER_LEVELS]
    return [
        *(row.scenario, row.engine, str(row.faults), str(row.commands), str(row.requests), *counts),
        *(
            str(row.unknown),
            lost,
            str(row.doubled),
            f"{row.recovery_p50_s:.2f} s",
            f"{row.recovery_max_s:.2f} s",
        ),
    ]


if __name__ == "__main__":
    app()
