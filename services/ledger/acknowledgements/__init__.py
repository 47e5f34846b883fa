"""How durable an answer is, and how that is confirmed by the engine."""
