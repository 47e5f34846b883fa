"""Fifty games of people while strangers flood the gateway (tests/bench/flooders.py), with its default settings:
how long a move takes until the other player sees it, and how much memory the gateway takes.

Every game has an address of its own, as people have. The strangers have few, and hold as many connections
as they can.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
from websockets.asyncio.client import connect

from schemas.commands import CommandEnvelope, CreateGame, write_command
from tests.bench.endtoend import cpu_s
from tests.bench.figure import Figure, Report, Size
from tests.bench.games import fresh_engine, script
from tests.bench.latency import SEATS, attached, cut, move, post
from tests.bench.services import Server, running_services

GAMES: Final = 50
P99_MS: Final = 250.0
MEMORY_MIB: Final = 256.0
PAUSE_S: Final = 0.5  # between the moves of a game
SAMPLE_S: Final = 0.1


class Seated(NamedTuple):
    """A game that has started: the address of its players, their sockets' URL, their tokens, their moves."""

    address: str
    game: str
    url: str
    tokens: list[str]
    moves: list[CommandEnvelope]


def measure(size: Size, report: Report) -> Figure:
    """Measure quiet first, then under the flood."""
    games, seconds, scale = size.of(GAMES, 5), size.of(60, 3), 0.1 if size.quick else 1.0
    with fresh_engine() as engine, running_services(engine) as running:
        report("quiet")
        seated = [seat(running.url, number) for number in range(4 * games)]
        quiet = asyncio.run(play_all(seated[:games], seconds / 4))
        quiet_mib, before = resident_mib(running.pids["gateway"]), cpu_s(running.pids)
        report("beside seats whose commands are refused")
        with flooding(running, seated[0].game, seconds / 4, 0):
            beside = asyncio.run(play_all(seated[2 * games : 3 * games], seconds / 4))
        report("beside strangers who have boards drawn")
        with flooding(running, seated[0].game, seconds / 4, -1):
            drawing = asyncio.run(play_all(seated[3 * games :], seconds / 4))
        report("under the flood")
        with flooding(running, seated[0].game, seconds, scale) as flooders, sampling(running) as samples:
            flooded = asyncio.run(play_all(seated[games : 2 * games], seconds))
            after = cpu_s(running.pids)
            counts: dict[str, int] = json.loads(flooders.communicate(timeout=120)[0])
    used = {f"{name}_cpu_s": after[name] - before[name] for name in after}
    (_, _, quiet_p99), (_, _, beside_p99), (_, _, drawing_p99) = cut(quiet), cut(beside), cut(drawing)
    p50, _, p99 = cut(flooded)
    most_mib = max(samples)
    return Figure(
        f"{games} games of people under a flood: a move to its entry on the other seat's socket, ms; the gateway's memory",
        f"p50 {p50:.1f}, p99 {p99:.1f} ({len(flooded)} moves; quiet p99 {quiet_p99:.1f}, beside 40 seats of refused commands alone {beside_p99:.1f}, beside 8 addresses that have boards drawn {drawing_p99:.1f}); at most {most_mib:.0f} MiB"
        f" ({quiet_mib:.0f} before); {counts.get('closed', 0):,} of the flood's {counts['connections']:,} connections closed",
        f"p99 under {P99_MS:g} ms, memory under {MEMORY_MIB:g} MiB",
        max(p99, drawing_p99) < P99_MS and most_mib < MEMORY_MIB,
        {"moves": len(flooded), "p50_ms": p50, "p99_ms": p99, "max_ms": max(flooded), "quiet_p99_ms": quiet_p99,
         "beside_p99_ms": beside_p99, "drawing_p99_ms": drawing_p99,
         "quiet_mib": quiet_mib, "most_mib": most_mib, "flood": counts, **used},
    )  # fmt: skip


def seat(url: str, number: int) -> Seated:
    """A game of two with its moves, created and started from an address of its own."""
    envelopes = script("game", SEATS, f"floods-{number}")
    create = envelopes[0].command
    assert isinstance(create, CreateGame)
    address = f"127.0.1.{number + 1}"
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(base_url=url, transport=transport, trust_env=False) as http:
        body = {name: value for name, value in write_command(create).items() if name != "type"}
        game = post(http, "/v1/games", body)
        joined = [post(http, f"/v1/games/{game['game']}/join", {"name": f"player {n}"}) for n in range(2)]
        bearer = {"Authorization": f"Bearer {game['token']}"}
        started = post(http, f"/v1/games/{game['game']}/start", {}, bearer)
    sockets = f"{url.replace('http', 'ws', 1)}/v1/games/{game['game']}/play?after={started['number']}"
    moves = [envelope for envelope in envelopes if envelope.seat is not None]
    return Seated(address, game["game"], sockets, [player["token"] for player in joined], moves)


async def play_all(seated: list[Seated], seconds: float) -> list[float]:
    """Play all games at once; the milliseconds of each move."""
    took: list[float] = []
    async with asyncio.TaskGroup() as tasks:
        for game in seated:
            tasks.create_task(play(game, seconds, took))
    return took


async def play(seated: Seated, seconds: float, took: list[float]) -> None:
    """Move for so many seconds, or until the game is over, with a pause before each move."""
    own = [
        connect(
            seated.url, additional_headers={"Authorization": f"Bearer {token}"}, compression=None, proxy=None,
            local_addr=(seated.address, 0),
        )
        for token in seated.tokens
    ]  # fmt: skip
    end = asyncio.get_running_loop().time() + seconds
    async with own[0] as first, own[1] as second:
        await attached(first, second)
        for envelope in seated.moves:
            if asyncio.get_running_loop().time() > end:
                return
            took.append(await move((first, second), envelope, PAUSE_S))


@contextmanager
def flooding(running: Server, game: str, seconds: float, scale: float) -> Iterator[subprocess.Popen[str]]:
    """The strangers, while the block runs."""
    arguments = [running.url, game, str(seconds), str(scale)]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bench.flooders", *arguments], stdout=subprocess.PIPE, text=True
    ) as flooders:
        try:
            yield flooders
        finally:
            flooders.kill()


@contextmanager
def sampling(running: Server) -> Iterator[list[float]]:
    """The gateway's memory in MiB, sampled while the block runs."""
    samples, over = [resident_mib(running.pids["gateway"])], threading.Event()

    def sample() -> None:
        while not over.wait(SAMPLE_S):
            samples.append(resident_mib(running.pids["gateway"]))

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield samples
    finally:
        over.set()
        thread.join()


def resident_mib(pid: int) -> float:
    """The resident memory of a process; 0 where the system doesn't report it."""
    status = Path(f"/proc/{pid}/status")
    fields: dict[str, Any] = (
        dict(line.split(":", 1) for line in status.read_text().splitlines()) if status.exists() else {}
    )
    return int(fields.get("VmRSS", "0 kB").split()[0]) / 1024
