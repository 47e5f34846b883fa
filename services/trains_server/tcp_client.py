"""The player's side of the protocol: signs up at a server, and answers its calls to the end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from services.bots.policies.trains_strategies import Destination
from services.trains.player_state import PlayerState
from services.trains_server.peer_connection import PeerConnection, PeerFailedError, TimeLimits
from services.trains_server.protocol_calls import (
    MAX_CALL_BYTES,
    VOID,
    Call,
    Setup,
    read_call,
    read_cards,
    read_flag,
    read_offer,
    read_player_state,
    read_setup,
)

SERVER: Final = "the server"  # who is waited for


class ClientPlayer(Protocol):
    """A player behind a client: it decides."""

    def begin(self, setup: Setup) -> None:
        """A game begins."""
        ...

    def give_back(self, offered: list[Destination]) -> list[Destination]:
        """Three of the five destinations."""
        ...

    def act(self, player_state: PlayerState) -> str | list[str | int]:
        """ "more cards", or a connection: city, city, colour, length."""
        ...


Answerer = Callable[[Call], Awaitable[object]]


class ClientAnswers:
    """Answers a server's calls with what a player decides, and a map that it suggests (as JSON)."""

    def __init__(self, player: ClientPlayer, map_json: object) -> None:
        self.player, self.map_json = player, map_json
        self.games_won: list[bool] = []  # of the games that are over
        self.has_won: bool | None = None  # the tournament; None until it is over

    async def answer(self, call: Call) -> object:
        """The answer to a call, as JSON. Raises InvalidInputError: the call is wrong."""
        match call.name:
            case "setup":
                self.player.begin(read_setup(call.arguments))
            case "pick":
                return [list(each) for each in self.player.give_back(read_offer(call.arguments))]
            case "play":
                return self.player.act(read_player_state(call.arguments))
            case "more":
                read_cards(call.arguments)
            case "win":
                self.games_won.append(read_flag(call.arguments))
            case "end":
                self.has_won = read_flag(call.arguments)
            case _:
                read_flag(call.arguments)
                return self.map_json
        return VOID


async def sign_up_and_play(
    name: str, answer: Answerer, *, host: str, port: int, time_limits: TimeLimits, silence_s: float
) -> None:
    """Sign up under this name, and answer calls until the tournament is over.

    Raises OSError: nobody listens; PeerFailedError: the server closed the connection (so it removes a player), sent no
    JSON, or nothing for `silence_s`; InvalidInputError: its call isn't in the protocol."""
    connection = PeerConnection(*await asyncio.open_connection(host, port))
    try:
        await connection.send(name)
        while True:
            received = connection.receive(MAX_CALL_BYTES)
            call = read_call(await time_limits.within(silence_s, SERVER, received))
            await connection.send(await answer(call))
            if call.name == "end":
                break
    except TimeoutError:
        raise PeerFailedError(f"called for nothing within {silence_s:g} s") from None
    finally:
        await connection.close()
