"""Notifications of new entries: the channel of a game, and who listens to it."""
