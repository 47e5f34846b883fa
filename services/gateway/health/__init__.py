"""Watches of what the gateway needs: answers, partitions, referees, the engine's settings."""
