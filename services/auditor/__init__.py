"""The auditor: whoever doubts a game asks it.

Start at `auditing.audit`: everything that can be checked of a log, as an `Audit`. `explaining.explain`
tells one disputed move; `page.page` is both as one page for an arbiter.
"""
