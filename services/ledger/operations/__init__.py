"""What an operator asks of an engine: its settings, a probe, the status, the backlog."""
