"""The client kit: what a bot needs to play a seat of somebody's server over the network.

It takes a seat, follows the seat's view over a WebSocket and checks its chain, says when the seat is asked to act and
what is legal, and sends each command under one id, as often as it takes. It knows the rules and nothing else of the
product. Start with `AsyncSeatClient`, or `SeatClient` without asyncio; docs/tutorials/python-bot.md has a first bot.
"""

from services.bots.kit.seat_client import AsyncSeatClient, SeatClient
from services.bots.kit.seat_requests import (
    SeatToken,
    find_seat,
    join,
    join_by_link,
    list_games,
    take_play_off_seat,
)
from services.bots.kit.seat_session import (
    KitError,
    Refusal,
    ServerRefusedError,
    Turn,
    UnreachableError,
    Verdict,
)

__all__ = [
    "AsyncSeatClient",
    "SeatClient",
    "join",
    "join_by_link",
    "take_play_off_seat",
    "find_seat",
    "list_games",
    "SeatToken",
    "Turn",
    "Verdict",
    "Refusal",
    "KitError",
    "ServerRefusedError",
    "UnreachableError",
]
