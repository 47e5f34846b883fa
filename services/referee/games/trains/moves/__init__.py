"""The moves of a game, a module an area: each checks a command, then yields its events."""
