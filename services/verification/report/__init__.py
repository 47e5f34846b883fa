"""The page for an arbiter: one HTML file of an audit."""

import services.verification.trains.train_report  # noqa: F401 - what a family brings
