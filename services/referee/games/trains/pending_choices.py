"""What a seat may have to choose in a train game besides its turn's action."""

from typing import Final

SECOND_CARD: Final = "second card"
TICKETS: Final = "tickets"
MIX: Final = "mix"  # how many starting tickets of each deck
TUNNEL: Final = "tunnel"
