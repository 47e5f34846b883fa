"""What may happen in a game, one module an area: each checks, then tells the facts."""
