"""Commands that have games played by our bots, each by itself or in tournaments."""
