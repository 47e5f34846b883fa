"""`ledgerline jobs`: the auditor's jobs, for an operator; those that failed are retried or dropped."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import typer
from rich.table import Table

from schemas.errors import InvalidInputError
from services.auditor.job_queue import JobInfo, Jobs
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, open_jobs
from services.cli.output import console, print_json

app = typer.Typer(help="List, retry or drop the auditor's jobs: the archive, disputes, webhooks.")
JobIds = Annotated[list[str] | None, typer.Argument(help="As `jobs` shows them: archive-3f9a1c0b77e2.")]
AllOption = Annotated[bool, typer.Option("--all", help="Every one that failed.")]


@app.callback(invoke_without_command=True)
def jobs_list(
    context: typer.Context,
    most: Annotated[int, typer.Option(min=1, max=10_000, help="How many of each state.")] = 1_000,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """List the jobs that failed, run, wait, or are tried again later."""
    if context.invoked_subcommand is not None:
        return
    with open_jobs(data) as jobs:
        job_infos, count = jobs.list_jobs(most), jobs.count()
    if as_json:
        print_json({"count": count, "jobs": [_job_json(job) for job in job_infos]})
        return
    if not job_infos:
        console.print("No jobs. Everything is done.")
        return
    table = Table("job", "state", "tries", "since", "next try", "why the last one failed")
    for job in job_infos:
        since, again = _format_time(job.since), _format_time(job.again)
        table.add_row(job.id, job.state, str(job.tries), since, again, job.why)
    console.print(table)
    if any(job.state == "failed" for job in job_infos):
        console.print("A failed job stays until you retry or drop it: `ledgerline jobs retry` or `drop`.")


@app.command("retry")
def jobs_retry(ids: JobIds = None, select_all: AllOption = False, data: DataOption = DEFAULT_DATA) -> None:
    """Try jobs again now that failed or wait for their next try; --all: all that failed."""
    with open_jobs(data) as jobs:
        for job_id in _select_job_ids(jobs, ids or (), select_all):
            jobs.retry(job_id)
            console.print(f"{job_id} is to be tried again.")


@app.command("drop")
def jobs_drop(ids: JobIds = None, select_all: AllOption = False, data: DataOption = DEFAULT_DATA) -> None:
    """Delete jobs. What is still to be done gets a new one."""
    with open_jobs(data) as jobs:
        for job_id in _select_job_ids(jobs, ids or (), select_all):
            jobs.drop(job_id)
            console.print(f"{job_id} is dropped.")


def _select_job_ids(jobs: Jobs, ids: Sequence[str], select_all: bool) -> Sequence[str]:
    """The ids that the command names. Raises InvalidInputError where it names none."""
    if select_all == bool(ids):
        raise InvalidInputError("job", "name the jobs as `ledgerline jobs` shows them, or use --all")
    return [job.id for job in jobs.list_jobs() if job.state == "failed"] if select_all else ids


def _job_json(job: JobInfo) -> dict[str, object]:
    fields = job._asdict()
    return {**fields, "since": _format_time(job.since) or None, "again": _format_time(job.again) or None}


def _format_time(time: datetime | None) -> str:
    return "" if time is None else time.isoformat(timespec="seconds")
