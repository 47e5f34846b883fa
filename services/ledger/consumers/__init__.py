"""Consumer groups of workers: deliveries, stale ones, wake-ups."""
