"""Commands that have games played: by our bots, in tournaments, and by other people's "Trains" players."""
