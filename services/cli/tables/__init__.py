"""Tables of a game for a terminal. Importing it brings those of a family that has its own."""

import services.cli.trains.train_standings  # noqa: F401
