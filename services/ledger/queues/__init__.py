"""The command queue and the bot task queue, dead letters, and the membership of referees."""
