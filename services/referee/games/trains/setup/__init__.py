"""How a game begins: it is created, checked to be playable, and dealt or set up from a position or fork."""
