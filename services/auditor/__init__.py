"""The auditor service: archives finished games and answers disputes, as jobs off the move path.

Start at `worker.Auditor`; `archive_job` and `dispute_job` are the kinds of jobs. What they check stands in
`services/verification`.
"""
