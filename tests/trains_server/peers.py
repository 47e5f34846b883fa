"""Tournaments over TCP on loopback for tests: players of known strategies, of whom some break the protocol at a call.

No clock is waited for: a player that falls silent says so to the time limits, as in the cases of the course's server.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Any, Literal, NamedTuple

from services.bots.trains.trains_strategies import BUY_NOW, HOLD_10
from services.trains.given_cards import choose_map
from services.trains_server.peer_connection import READ_BYTES, PeerConnection, PeerFailedError
from services.trains_server.protocol_calls import MAX_CALL_BYTES, Call, read_call
from services.trains_server.remote_tournament import RemoteResult, TableOpener
from services.trains_server.server_cases import LOOPBACK, Arrivals, CoreTables, ToldSilence
from services.trains_server.tcp_client import ClientAnswers, StrategyPlayer
from services.trains_server.tcp_server import SignUp, SignUpRules, run_tcp_tournament

TEST_S = 120.0  # for a whole tournament, unless something hangs
CITIES = ("Ash", "Bow", "Cam", "Dee", "Esk", "Fen", "Gap")
MAP: dict[str, Any] = {
    "width": 200,
    "height": 100,
    "cities": [[city, [10 * n, 10]] for n, city in enumerate(CITIES)],
    "connections": {
        "Ash": {"Bow": {"red": 3, "blue": 4}, "Cam": {"red": 4}},
        "Bow": {"Cam": {"green": 3}},
        "Cam": {"Dee": {"white": 5}},
        "Dee": {"Esk": {"blue": 3}, "Fen": {"white": 3}},
        "Fen": {"Gap": {"green": 4, "red": 3}},
    },
}  # 21 destinations, enough for eight players
STRATEGIES = {"hold-10": HOLD_10, "buy-now": BUY_NOW}


class Misdeed(NamedTuple):
    """What a player sends in place of an answer, and what it does then."""

    data: bytes
    then: Literal["wait", "close", "abort", "silence"] = "wait"


class Peer(NamedTuple):
    """A player: a strategy, and the misdeed that it does at its n-th call of a name (from 0), if any."""

    name: str
    strategy: str = "buy-now"
    call: str = ""
    nth: int = 0
    misdeed: Callable[[Call], Misdeed] = lambda call: Misdeed(b"", "silence")
    write: Callable[[bytes], bytes] = lambda data: data  # how it sends what is right


class Played(NamedTuple):
    """How a tournament went: its result, and the calls that each player got."""

    result: RemoteResult
    calls: dict[str, list[Call]]

    @property
    def outcome(self) -> tuple[object, ...]:
        """Everything that came out of it."""
        return self.result.protocol_json(), *sorted(self.result.games)


def cards_of(seed: int, count: int = 60) -> list[str]:
    """A deck."""
    rng = Random(seed)
    return [rng.choice(("red", "blue", "green", "white")) for _ in range(count)]


def play(
    peers: Sequence[Peer], cards: Sequence[str], map_json: object = MAP, tables: TableOpener | None = None
) -> Played:
    """The tournament of these players, who sign up one after the other; at tables of the rules alone, or these."""

    async def within_limit() -> Played:
        async with asyncio.timeout(TEST_S):
            return await _play(peers, cards, map_json, tables or CoreTables(cards))

    return asyncio.run(within_limit())


async def _play(peers: Sequence[Peer], cards: Sequence[str], map_json: object, tables: TableOpener) -> Played:
    limits, arrivals = ToldSilence(), Arrivals()
    sign_up = SignUp(SignUpRules(max_players=len(peers), of_one_address=len(peers)), limits, arrivals)
    server = asyncio.ensure_future(
        run_tcp_tournament(
            sign_up, tables, lambda forms, players: choose_map(forms, players, cards), (LOOPBACK, 0)
        )
    )
    calls: dict[str, list[Call]] = {peer.name: [] for peer in peers}
    clients = []
    try:
        for peer in peers:
            silence = limits.silence_of(peer.name)
            clients.append(
                asyncio.ensure_future(
                    run_peer(peer, await arrivals.port, calls[peer.name], silence, map_json)
                )
            )
            await arrivals.names.get()
        return Played(await server, calls)
    finally:
        await asyncio.gather(*clients)  # the server has closed all connections


async def run_peer(
    peer: Peer, port: int, calls: list[Call], silence: asyncio.Event, map_json: object
) -> None:
    """One player, until the server closes its connection."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    connection = PeerConnection(reader, writer)
    answers = ClientAnswers(StrategyPlayer(STRATEGIES[peer.strategy]), map_json)
    writer.write(peer.write(json.dumps(peer.name).encode()))
    with suppress(PeerFailedError, OSError):
        while True:
            call = read_call(await connection.receive(MAX_CALL_BYTES))
            calls.append(call)
            if call.name == peer.call and [each.name for each in calls].count(call.name) == peer.nth + 1:
                await _misbehave(peer.misdeed(call), reader, writer, silence)
                break
            writer.write(peer.write(json.dumps(await answers.answer(call)).encode()))
            await writer.drain()
    writer.close()


async def _misbehave(
    misdeed: Misdeed, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, silence: asyncio.Event
) -> None:
    """Raises OSError where the server has closed the connection already."""
    writer.write(misdeed.data)
    if misdeed.then == "abort":
        writer.transport.abort()
        return
    if misdeed.then == "close":
        writer.write_eof()
    await writer.drain()
    if misdeed.then == "silence":
        silence.set()
    while await reader.read(READ_BYTES):  # until the server closes
        pass
