"""Tables of train games: their answers, and their boards drawn."""
