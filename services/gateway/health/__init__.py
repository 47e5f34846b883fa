"""Watches of what the gateway needs: partitions, referees, the engine and its settings."""
