"""Sentences for people: events, commands, and how durations and lists are written."""
