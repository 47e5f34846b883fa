"""The auditor service: archives finished games, answers disputes and notifies webhooks, as jobs off the move path.

Start at `worker.Auditor`; `archive_job`, `dispute_job` and `webhook_job` are the kinds of jobs. What they check stands in
`services/verification`.
"""
