"""`ledgerline jobs`: what an operator is shown of the auditor's jobs, and may do about those that failed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.table import Table as Grid

from schemas.contract import Malformed
from services.auditor.jobs import Jobs, Told
from services.cli.options import DATA, AsJson, Data, jobs_of
from services.cli.tables import out

commands = typer.Typer(help="Look after what is done beside the games: the archive, audits.")
JobIds = Annotated[list[str] | None, typer.Argument(help="As `jobs` shows them: archive-3f9a1c0b77e2.")]
Every = Annotated[bool, typer.Option("--all", help="Every one that failed.")]


@commands.callback(invoke_without_command=True)
def jobs_list(
    context: typer.Context,
    most: Annotated[int, typer.Option(min=1, max=10_000, help="How many of each state.")] = 1_000,
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """List what fails, runs, waits or is to be tried again, beside the games."""
    if context.invoked_subcommand is None:
        with jobs_of(data) as found:
            list_jobs(found, most, as_json)


@commands.command("retry")
def jobs_retry(ids: JobIds = None, every: Every = False, data: Data = DATA) -> None:
    """Try jobs again now that failed, or wait for their next try; --all: all that failed."""
    with jobs_of(data) as found:
        retry(found, ids or (), every)


@commands.command("drop")
def jobs_drop(ids: JobIds = None, every: Every = False, data: Data = DATA) -> None:
    """Forget jobs. What is still to be done gets a new one."""
    with jobs_of(data) as found:
        drop(found, ids or (), every)


def list_jobs(jobs: Jobs, most: int, as_json: bool) -> None:
    """The jobs there are: those that failed first, then what runs, what waits, and what is tried later."""
    found = jobs.all(most)
    if as_json:
        told = {"count": jobs.count(), "jobs": [_document(job) for job in found]}
        print(json.dumps(told, ensure_ascii=False, indent=2))
        return
    if not found:
        out.print("No jobs. Everything is done.")
        return
    grid = Grid("job", "state", "tries", "since", "next try", "why the last one failed")
    for job in found:
        grid.add_row(job.id, job.state, str(job.tries), _moment(job.since), _moment(job.again), job.why)
    out.print(grid)
    if any(job.state == "failed" for job in found):
        out.print("A failed job stays until somebody looks: `ledgerline jobs retry` or `drop`.")


def retry(jobs: Jobs, ids: Sequence[str], every: bool) -> None:
    """Try jobs again now. Raises Malformed."""
    for id_ in _chosen(jobs, ids, every):
        jobs.retry(id_)
        out.print(f"{id_} is to be tried again.", markup=False)


def drop(jobs: Jobs, ids: Sequence[str], every: bool) -> None:
    """Forget jobs. Raises Malformed."""
    for id_ in _chosen(jobs, ids, every):
        jobs.drop(id_)
        out.print(f"{id_} is dropped.", markup=False)


def _chosen(jobs: Jobs, ids: Sequence[str], every: bool) -> Sequence[str]:
    """The jobs that are meant. Raises Malformed: none."""
    if every == bool(ids):
        raise Malformed("job", "name the jobs as `ledgerline jobs` shows them, or say --all")
    return [job.id for job in jobs.all() if job.state == "failed"] if every else ids


def _document(job: Told) -> dict[str, Any]:
    told = job._asdict()
    return {**told, "since": _moment(job.since) or None, "again": _moment(job.again) or None}


def _moment(at: datetime | None) -> str:
    return "" if at is None else at.isoformat(timespec="seconds")
