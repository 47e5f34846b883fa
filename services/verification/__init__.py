"""What can be checked of a game: its chain, deal, verdicts and views, and the explanation of a move."""
