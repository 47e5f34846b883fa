"""The train games' search: candidates for a move, and their value in games played out from worlds that look the same to the
seat. Start with `candidates`, whose `evaluate_candidates` is also what a suggestion to a player is made of."""
