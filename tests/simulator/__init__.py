"""The simulator: services, clock and engine in one thread, under one seed."""
