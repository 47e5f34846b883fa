"""The event store: logs, views, files of finished games, and the indexes over games."""
