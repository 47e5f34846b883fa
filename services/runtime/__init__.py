"""The runtime of every service, and nothing of the game: settings, log set-up, the worker loop, gc tuning."""
