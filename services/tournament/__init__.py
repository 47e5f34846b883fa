"""Tournaments of policies: paired games, spread over processes, and what they show."""
