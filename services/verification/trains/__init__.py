"""What a check, an explanation and a report say of a train game: its state, deal, disputes, rules and map."""
