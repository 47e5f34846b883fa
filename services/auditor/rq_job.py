"""RQ's job with one fault mended: it may be deleted while RQ still lists an execution that is gone.

RQ lets the record of an execution expire with the time of its job, and its id in the job's list of them a minute
later. In between, of a job whose worker was killed, `Job.delete` raises ValueError ("Execution ... not found"): a
job that another worker did again would stay, and be done once more, and none could be dropped.
"""

from __future__ import annotations

from contextlib import suppress

from rq.executions import Execution, ExecutionRegistry
from rq.job import Job


class LiveExecutions(ExecutionRegistry):
    """The executions of a job whose records are still there."""

    def get_executions(self, start: int = 0, end: int = -1) -> list[Execution]:
        """The executions from place `start` to `end` of the list, without those whose records have expired."""
        executions = []
        for id_ in self.get_execution_ids(start, end):
            with suppress(ValueError):  # its record has expired
                executions.append(Execution.fetch(id_, self.job_id, self.connection))
        return executions


class RqJob(Job):
    """A job as RQ stores it."""

    @property
    def execution_registry(self) -> ExecutionRegistry:
        """The executions that the job has now."""
        return LiveExecutions(self.id, self.connection)
