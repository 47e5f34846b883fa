"""How a game begins: created, dealt, laid from a position or a fork, and checked to be playable."""
