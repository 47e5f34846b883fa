"""A session on a WebSocket: its opening, its commands, the entries that it follows."""
