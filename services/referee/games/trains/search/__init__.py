"""Exact searches on a board: trails, paths, station loans, passenger journeys."""
