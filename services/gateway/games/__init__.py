"""The plain calls of a player: create, join, command, view, and read what is finished."""
