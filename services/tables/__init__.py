"""Tables as the gateway shows them. Start with `built_in_catalog` (the gateway's port), then `table_fold` (a view folded),
and `table_answers` (the fold as answers, also for a family that has a table of its own)."""

import services.tables.trains.train_tables  # noqa: F401 - a family that has one
