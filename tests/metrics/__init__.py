"""What services count, how Prometheus reads it, and the page that lists it."""
