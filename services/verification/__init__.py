"""Checks of a game: its chain, deal, verdicts and views, and the explanation of a move."""

import services.verification.trains.train_checks  # noqa: F401 - what a family brings
