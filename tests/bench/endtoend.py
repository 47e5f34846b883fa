"""End to end: whole servers under load. Every seat of every game is a WebSocket client of its own
that moves as soon as it sees that it is its turn; a move's latency is from its sending to the next
mover's seeing it. Four-seat games of the ruleset usa, each move checked and in the log.

Beside it, in turn within the same minutes, boardgame.io with a game whose only move draws a card,
if its folder exists (LEDGERLINE_PEERS, else ../shared/peers). All share this machine's cores.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from time import monotonic, perf_counter, sleep
from typing import Any, Final

import uvloop

from schemas.commands import CommandEnvelope, SeatPlan
from services.gateway.server import open_listener
from services.ledger import RedisLedger
from services.ledger.engine.connection import connect, init_partition_count
from tests.bench.figure import Figure, Report, Size
from tests.bench.games import fresh_engine, script
from tests.bench.light_players import GameSockets, Move, Play, SeatSocket, moves, request
from tests.bench.services import Server, running_services
from tests.gateway.clients import minted
from tests.many_clients import MANY_CLIENTS

SEATS: Final = (SeatPlan(),) * 4
START: Final = 2 + len(SEATS)  # entries until all sit and the cards are dealt
TABLES: Final = (32, 256)
QUICK_TABLES: Final = 4
SYNCING: Final = ("everysec", "always")
WARM_S: Final = 1.5
MOVES_MOST: Final = 7_500  # a second: so many games must be prepared
PEERS: Final = Path(os.environ.get("LEDGERLINE_PEERS", Path(__file__).parents[3] / "shared" / "peers"))
TRIES: Final = 3
ALIKE: Final = "everysec, as many games as were in play of boardgame.io's"
TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Run:
    """The result of one run; `cpu_us` is user and system time a move, by process."""

    moves_per_s: float
    p50_ms: float
    p99_ms: float
    cpu_us: Mapping[str, float]


def measure(size: Size, report: Report) -> Figure:
    rounds, seconds = size.of(3, 1), size.of(6, 1)
    all_tables = (QUICK_TABLES,) if size.quick else TABLES
    peer = None if size.quick else boardgame_io()
    scripts = [script("game", SEATS, f"endtoend-{number}") for number in range(size.of(64, 4))]
    runs: dict[str, list[Run]] = {}
    for number in range(rounds):
        for tables in all_tables:
            for syncing in SYNCING:
                report(f"round {number + 1} of {rounds}: {tables} games, AOF {syncing}")
                run = ours(scripts, tables, syncing, seconds)
                runs.setdefault(f"{syncing} {tables}", []).append(run)
            if peer:
                report(f"round {number + 1} of {rounds}: {tables} tables of boardgame.io")
                theirs = peer(tables)
                runs.setdefault(f"boardgame.io {tables}", []).append(theirs)
                if tables == max(TABLES):  # it never has so many in play
                    played = min(tables, in_play(theirs))
                    report(
                        f"round {number + 1} of {rounds}: {played} games, as many as boardgame.io had in play"
                    )
                    alike = ours(scripts, played, "everysec", seconds)
                    runs.setdefault(f"{ALIKE} {tables}", []).append(alike)
    return figure(runs)


def in_play(run: Run) -> int:
    """How many games a run had in play at most, however many there were: a game in play always has one
    move in flight (Little's law), and a move's mean time is taken to be between its p50 and its p99."""
    return max(1, round(run.moves_per_s * (run.p50_ms + run.p99_ms) / 2 / 1000))


def figure(runs: Mapping[str, Sequence[Run]]) -> Figure:
    text = "; ".join(f"{name}: {summary(of)}" for name, of in runs.items())
    parts: dict[str, Mapping[str, float] | list[float]] = {}
    for name, of in runs.items():
        parts[f"{name}, moves/s"] = [run.moves_per_s for run in of]
        parts[f"{name}, p50 ms"] = [run.p50_ms for run in of]
        parts[f"{name}, p99 ms"] = [run.p99_ms for run in of]
        parts[f"{name}, cpu us a move"] = {
            process: median(run.cpu_us[process] for run in of) for process in of[0].cpu_us
        }
    for name in (name for name in runs if name.startswith(ALIKE)):
        theirs = runs[name.replace(ALIKE, "boardgame.io")]
        text += f"; {name} (about {median(map(in_play, theirs)):.0f}): {against(runs[name], theirs)[0]}"
    met: bool | None = None
    for name in runs:
        if name.startswith("boardgame.io"):
            mine, theirs = runs[name.replace("boardgame.io", "everysec")], runs[name]
            run_output, better = against(mine, theirs)
            text += f"; {name}: {run_output}"
            met = (met is not False) and better
    if met is None:
        text += "; boardgame.io is left out: in a quick run, or where its folder is missing"
    return Figure(
        "end to end, four-seat games, every seat a WebSocket client, moves/s (p50/p99 ms; CPU us a move)",
        text,
        "at everysec at least the moves/s of boardgame.io and at most its p99",
        met,
        parts,
    )


def summary(runs: Sequence[Run]) -> str:
    speed, p50, p99 = (
        median(getattr(run, name) for run in runs) for name in ("moves_per_s", "p50_ms", "p99_ms")
    )
    cpu = ", ".join(
        f"{process} {median(run.cpu_us[process] for run in runs):.0f}" for process in runs[0].cpu_us
    )
    return f"{speed:,.0f} ({p50:.1f}/{p99:.1f}" + (f"; {cpu})" if cpu else ")")


def against(ours: Sequence[Run], theirs: Sequence[Run]) -> tuple[str, bool]:
    """Our medians relative to theirs, and whether both are at least as good."""
    speed, wait = beside(ours, theirs, "moves_per_s"), beside(ours, theirs, "p99_ms")
    return f"{speed:.2f} times its moves/s, {wait:.2f} times its p99", speed >= 1 and wait <= 1


def beside(ours: Sequence[Run], theirs: Sequence[Run], name: str) -> float:
    """The median of the rounds' own ratios, so that a slow minute counts on both sides."""
    ratios = [getattr(o, name) / getattr(t, name) for o, t in zip(ours, theirs, strict=True)]
    return float(median(ratios))


# -- ours --------------------------------------------------------------------------------


def ours(scripts: Sequence[list[CommandEnvelope]], tables: int, syncing: str, seconds: float) -> Run:
    """One run on an engine, a referee and a gateway of its own."""
    wanted = int(MOVES_MOST * (WARM_S + seconds) / min(len(envelopes) for envelopes in scripts))
    with (
        fresh_engine(appendfsync=syncing) as engine,
        running_services(
            engine, **MANY_CLIENTS, connections=10_000, connections_per_address=10_000
        ) as running,
    ):
        plans = [scripts[number % len(scripts)] for number in range(tables + wanted)]
        games = create_games(engine, plans)
        pids = {"engine": engine_pid(engine), **running.pids, "clients": os.getpid()}
        gc.collect()
        gc.freeze()
        try:
            played = play(running, games, [moves(envelopes) for envelopes in plans], tables, seconds, pids)
            return uvloop.run(played)
        finally:
            gc.unfreeze()


def create_games(engine: str, plans: Sequence[list[CommandEnvelope]]) -> list[str]:
    """Create one game a script, with every seat taken and the cards dealt. Returns their ids."""
    client = connect(engine)
    ledger = RedisLedger(client, init_partition_count(client))
    games = [f"endtoend-{number}" for number in range(len(plans))]
    for game, envelopes in zip(games, plans, strict=True):
        for envelope in envelopes[:START]:
            ledger.submit(CommandEnvelope(envelope.id, game, envelope.seat, envelope.command))
    limit = monotonic() + 60
    while any(len(ledger.read_view(game, None, START - 1)) != 1 for game in games):
        if monotonic() > limit:
            raise RuntimeError("the games did not start")
        sleep(0.05)
    ledger.close()
    return games


def engine_pid(engine: str) -> int:
    with connect(engine) as client:
        return int(client.info("server")["process_id"])


async def play(
    running: Server,
    games: Sequence[str],
    plans: Sequence[list[Move]],
    tables: int,
    seconds: float,
    pids: Mapping[str, int],
) -> Run:
    """Connect every seat of every game, and play so many games at once for so many seconds."""
    play = Play()
    for game, called in zip(games, plans, strict=True):
        play.waiting.append(await connect_seats(play, running, game, called))
    play.begin(tables)
    await run_for(play, WARM_S)
    play.moves, play.took = 0, []
    before, began = cpu_s(pids), perf_counter()
    await run_for(play, seconds)
    took, after = perf_counter() - began, cpu_s(pids)
    cuts = quantiles(play.took, n=100, method="inclusive")
    cpu_us = {name: (after[name] - before[name]) / play.moves * 1e6 for name in after}
    return Run(play.moves / took, cuts[49] * 1e3, cuts[98] * 1e3, cpu_us)


async def run_for(play: Play, seconds: float) -> None:
    """Let the games go on. Raises RuntimeError if a socket or a move failed."""
    done, _ = await asyncio.wait([play.broken], timeout=seconds)
    for broken in done:
        broken.result()


async def connect_seats(play: Play, running: Server, game: str, called: list[Move]) -> GameSockets:
    """A game with its four sockets open."""
    sockets = GameSockets(play, called, START)
    host, _, port = running.url.removeprefix("http://").partition(":")
    for seat in range(len(SEATS)):
        upgrade = request(
            f"/v1/games/{game}/play?after={START}", f"{host}:{port}", minted(running.key, game, seat)
        )
        socket = SeatSocket(sockets, seat, upgrade)
        await asyncio.get_running_loop().create_connection(partial(_itself, socket), host, int(port))
        sockets.seats.append(socket)
    await asyncio.gather(*(socket.open for socket in sockets.seats))
    return sockets


def _itself(socket: SeatSocket) -> SeatSocket:
    return socket


def cpu_s(pids: Mapping[str, int]) -> dict[str, float]:
    """User and system time of each process so far; empty where the system doesn't report it."""
    if not Path("/proc/self/stat").exists():
        return {}
    used = {}
    for name, pid in pids.items():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used[name] = (int(fields[11]) + int(fields[12])) / TICKS
    return used


# -- theirs ------------------------------------------------------------------------------


def boardgame_io() -> Callable[[int], Run] | None:
    """A run of boardgame.io, by the number of games; None where it isn't installed."""
    start = PEERS / "boardgame.io" / "run.sh"
    if not start.exists():
        return None

    def run(tables: int) -> Run:
        for _ in range(TRIES):
            run_output = _client_report(start, tables)
            if run_output["p99_ms"] is not None:  # else its sockets weren't all open when it began to count
                return Run(run_output["moves_per_s"], run_output["p50_ms"], run_output["p99_ms"], {})
        raise RuntimeError(f"boardgame.io made no moves at {tables} tables")

    return run


def _client_report(start: Path, tables: int) -> dict[str, Any]:
    """What its own client reports of one run, on a server of its own."""
    with open_listener("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "PORT": str(port)}
    command = ["bash", str(start), str(tables)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=True)
    run_output: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return run_output
