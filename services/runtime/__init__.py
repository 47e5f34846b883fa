"""What every service needs to run, and nothing of the game: settings, log set-up, the worker loop, gc tuning."""
