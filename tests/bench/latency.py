"""Idle latency: from a command sent on one seat's WebSocket to its entry on the other seat's,
with the engine, a referee and a gateway as processes of their own, as they are deployed.

Two-seat games that were played in advance, one move at a time with a pause between, so that
nothing is under load. The clock runs in the one client that holds both sockets.
"""

from __future__ import annotations

import asyncio
import json
from statistics import quantiles
from time import perf_counter
from typing import Any, Final

import httpx
from websockets.asyncio.client import ClientConnection, connect

from schemas.commands import CommandEnvelope, CreateGame, SeatPlan, write_command
from schemas.field_types import Seat
from tests.bench.figure import Figure, Report, Size
from tests.bench.games import fresh_engine, script
from tests.bench.services import running_services

SEATS: Final = (SeatPlan(), SeatPlan())
PAUSE_S: Final = 0.02  # long enough for every process to fall asleep
BRISK_S: Final = 0.002  # measured beside it: much of an idle move is the waking of processes


def measure(size: Size, report: Report) -> Figure:
    with fresh_engine() as engine, running_services(engine) as running:
        took = moves(running.url, size.of(600, 30), PAUSE_S, report)
        brisk = moves(running.url, size.of(150, 30), BRISK_S, report)
    p50, p90, p99 = cut(took)
    brisk50, _, brisk99 = cut(brisk)
    return Figure(
        "idle latency, a WebSocket's command to its entry on another seat's, ms",
        f"p50 {p50:.2f}, p99 {p99:.2f} ({len(took)} moves, {PAUSE_S * 1e3:g} ms apart;"
        f" {BRISK_S * 1e3:g} ms apart: {brisk50:.2f}, {brisk99:.2f})",
        "reported",
        None,
        {
            "pause_ms": PAUSE_S * 1e3,
            "moves": len(took),
            "p50_ms": p50,
            "p90_ms": p90,
            "p99_ms": p99,
            "max_ms": max(took),
            "brisk": {"pause_ms": BRISK_S * 1e3, "moves": len(brisk), "p50_ms": brisk50, "p99_ms": brisk99},
        },
    )


def moves(url: str, wanted: int, pause_s: float, report: Report) -> list[float]:
    """The milliseconds of so many moves, of as many games as it takes."""
    took: list[float] = []
    while len(took) < wanted:
        report(f"{len(took)} of {wanted} moves, {pause_s * 1e3:g} ms apart")
        took += play(url, f"latency-{len(took)}", pause_s, wanted - len(took))
    return took


def cut(took: list[float]) -> tuple[float, float, float]:
    """p50, p90 and p99."""
    cuts = quantiles(took, n=100, method="inclusive")
    return cuts[49], cuts[89], cuts[98]


def play(url: str, seed: str, pause_s: float, most: int) -> list[float]:
    """Play one game through the gateway; the milliseconds of each move."""
    envelopes = script("game", SEATS, seed)
    create = envelopes[0].command
    assert isinstance(create, CreateGame)
    with httpx.Client(base_url=url, trust_env=False) as http:
        body = {name: value for name, value in write_command(create).items() if name != "type"}
        game = post(http, "/v1/games", body)
        joined = [
            post(http, f"/v1/games/{game['game']}/join", {"name": f"player {n}"}) for n in range(len(SEATS))
        ]
        bearer = {"Authorization": f"Bearer {game['token']}"}
        started = post(http, f"/v1/games/{game['game']}/start", {}, bearer)
    sockets = f"{url.replace('http', 'ws', 1)}/v1/games/{game['game']}/play?after={started['number']}"
    moves = [envelope for envelope in envelopes if envelope.seat is not None][:most]
    return asyncio.run(move_all(sockets, [seat["token"] for seat in joined], moves, pause_s))


def post(http: httpx.Client, path: str, body: object, headers: dict[str, str] | None = None) -> Any:
    reply = http.post(path, json=body, headers=headers)
    reply.raise_for_status()
    return reply.json()


async def move_all(url: str, tokens: list[str], moves: list[CommandEnvelope], pause_s: float) -> list[float]:
    """Send every move on its seat's socket and see it arrive on the other seat's."""
    headers = [{"Authorization": f"Bearer {token}"} for token in tokens]
    async with (
        connect(url, additional_headers=headers[0], compression=None) as first,
        connect(url, additional_headers=headers[1], compression=None) as second,
    ):
        await attached(first, second)
        await asyncio.sleep(0.1)  # the gateway has begun to follow both
        return [await move((first, second), envelope, pause_s) for envelope in moves]


async def attached(*sockets: ClientConnection) -> None:
    """Take the first message of each: it says where the log is."""
    for socket in sockets:
        message = json.loads(await socket.recv())
        assert message["type"] == "attached", message


async def move(
    sockets: tuple[ClientConnection, ClientConnection], envelope: CommandEnvelope, pause_s: float
) -> float:
    seat = envelope.seat
    assert seat is not None
    await asyncio.sleep(pause_s)
    text = json.dumps({"id": envelope.id, "command": write_command(envelope.command)})
    start = perf_counter()
    await sockets[seat].send(text)
    seen = await sockets[other(seat)].recv()
    took = (perf_counter() - start) * 1e3
    own = json.loads(await sockets[seat].recv())
    other_entry = json.loads(seen)
    assert own["type"] == other_entry["type"] == "entry", (own, other_entry)
    assert own["answers"] == envelope.id and own["number"] == other_entry["number"], (
        envelope.id,
        own,
        other_entry,
    )
    assert all(event["type"] != "command_refused" for event in own["events"]), own
    return took


def other(seat: Seat) -> Seat:
    return 1 - seat
