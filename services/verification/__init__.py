"""Checks of a game: its chain, deal, verdicts and views, and the explanation of a move."""
