"""`ledgerline trains-cases`: a folder of Trains cases, answered by our own core."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from services.cli.options import JsonOption
from services.cli.output import console, print_json, print_line
from services.trains.report import run_folder, tally_json, tally_table, unreadable_lines
from services.trains_server.server_cases import ALL_KINDS

app = typer.Typer()


@app.command("trains-cases")
def trains_cases(
    folder: Annotated[Path, typer.Argument(help="A folder of cases with its index.json.")],
    as_json: JsonOption = False,
) -> None:
    """Answer a folder of Trains cases with our own core, and over TCP on this machine; print a tally by kind.

    The exit code is 1 if a case failed or can't be read, 2 if the folder's index can't be."""
    tallies = run_folder(folder, as_json, ALL_KINDS)
    if as_json:
        print_json(tally_json(tallies))
    else:
        console.print(tally_table(tallies))
        for line in unreadable_lines(tallies):
            print_line(line)
    if any(tally.failures or tally.unreadable for tally in tallies):
        raise typer.Exit(1)
