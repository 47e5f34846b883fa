"""The policy `searcher` in any game, and the halving of candidates that each search ends with."""

import services.bots.trains.searching.candidates  # noqa: F401 - a family that has a search of its own
