"""What an operator is shown of the auditor's jobs, and may do about those that failed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich.table import Table as Grid

from schemas.contract import Malformed
from services.auditor.jobs import Jobs, Told
from services.tables import out


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
