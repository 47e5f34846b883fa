"""The player's side of the protocol: signs up at a server, and answers its calls to the end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from schemas.errors import InvalidInputError
from services.bots.policies.trains_strategies import Destination
from services.trains.player_state import STATE, PlayerState
from services.trains_server.peer_connection import PeerConnection, PeerFailedError, TimeLimits
from services.trains_server.protocol_calls import (
    CARDS,
    FLAG,
    MAX_CALL_BYTES,
    VOID,
    Call,
    Setup,
    read_call,
    read_offer,
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
        match call:
            case Call("start", [flag]):
                FLAG.read(flag)
                return self.map_json
            case Call("setup", [map_json, rails, cards]):
                self.player.begin(read_setup(map_json, rails, cards))
            case Call("pick", [offer]):
                return [list(each) for each in self.player.give_back(read_offer(offer))]
            case Call("play", [player_state]):
                return self.player.act(STATE.read(player_state))
            case Call("more", [cards]):
                CARDS.read(cards)
            case Call("win", [flag]):
                self.games_won.append(FLAG.read(flag))
            case Call("end", [flag]):
                self.has_won = FLAG.read(flag)
            case _:
                raise InvalidInputError("call", f"{call.name} doesn't take {len(call.arguments)} arguments")
        return VOID


async def sign_up_and_play(
    name: str, answer: Answerer, *, host: str, port: int, time_limits: TimeLimits, silence_s: float
) -> None:
    """Sign up under this name, and answer calls until the tournament is over.

    Raises OSError: nobody listens; PeerFailedError: the server removed the player, sent no JSON, or nothing for `silence_s`;
    InvalidInputError: its call isn't in the protocol."""
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
