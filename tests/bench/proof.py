"""The cost of proof: the chain in the referee, checking a file, an audit, seeking; and how big a file is.

The referee's figure is of the same referee twice, in turn: in games of today's rules, which are
sealed, and in games of the previous version, which aren't. Each decides its own games, played in
advance with the same random source.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Final

from schemas.stored.codec import Proofs, pack_entry, pack_private_part, pack_public, unpack_entry
from schemas.stored.entries import Entry
from schemas.stored.hash_chain import initial_head
from services.archive import Signer, decode_game_file, encode_game_file
from services.referee.games import GameState, decide_envelope, fold_events, split_by_visibility
from services.referee.games.proof.pile_tracker import PileTracker
from services.referee.games.proof.sealing import ChainState, SealedEntry, seal_entry
from services.verification.audit import audit
from services.verification.log_check import check_file, check_file_bytes
from services.verification.replay import Replay, fold_until
from tests.bench.figure import Figure, Report, Size
from tests.bench.games import NO_SEED, bots, script

SEATS: Final = bots(*("random",) * 4)
SEALED_US: Final = 15.0  # an event
STANDALONE: Final = Path(__file__).parents[2] / "deploy" / "verify_game.py"


def measure_sealing(size: Size, report: Report) -> Figure:
    """What the chain and the commitments cost the referee."""
    report("sealing logs again")
    us = [_sealing_us(f"seal-{n}") for n in range(size.of(12, 1))]
    return Figure(
        "chain and commitments in the referee, us of CPU an event",
        f"{median(us):.1f} us",
        f"under {SEALED_US:.0f} us",
        median(us) < SEALED_US,
        {"sealing_us_per_event": us},
    )


def _sealing_us(game: str) -> float:
    """How much longer sealing an entry takes than packing it, by event."""
    log = sealed_game(game)
    entries = [unpack_entry(each.entry) for each in log]
    return (_spent(game, entries, True) - _spent(game, entries, False)) / sum(len(e.events) for e in entries)


def _spent(game: str, entries: list[Entry], sealing: bool) -> float:
    """Microseconds of CPU for packing all entries, sealed or not."""
    state, pile_tracker, chain_state, spent = (
        GameState(),
        PileTracker(),
        ChainState(0, initial_head(game), {}),
        0.0,
    )
    for number, entry in enumerate(entries):
        fold_events(state, entry.at, entry.events)
        start = process_time()
        if sealing:
            sealed = seal_entry(state, chain_state, pile_tracker, entry)
            spent += process_time() - start
            chain_state = chain_state.after(sealed)
        else:
            turned = split_by_visibility(entry.events)
            owned = {**turned.private, **({} if entry.seat is None else {entry.seat: {}})}
            _ = [pack_private_part(number, entry.id, rows) for rows in owned.values()]
            _ = [pack_entry(entry, turned)[0], pack_public(entry.at, turned, Proofs(b""))]
            spent += process_time() - start
    return spent * 1e6


def sealed_game(game: str) -> list[SealedEntry]:
    """A whole game of random moves, as a referee writes it."""
    state, pile_tracker, chain_state, log = (
        GameState(),
        PileTracker(),
        ChainState(0, initial_head(game), {}),
        list[SealedEntry](),
    )
    for number, envelope in enumerate(script(game, SEATS, game)):
        events = decide_envelope(state, envelope, 1_000 * number, NO_SEED)
        log.append(
            seal_entry(
                state,
                chain_state,
                pile_tracker,
                Entry(state.at_ms, envelope.id, envelope.seat, envelope.command, events),
            )
        )
        chain_state = chain_state.after(log[-1])
    return log


# -- finished games -------------------------------------------------------


def measure_files(size: Size, report: Report) -> Figure:
    """Checking, auditing and seeking in four-seat games of usa, and their files' sizes."""
    measured: dict[str, list[float]] = {name: [] for name in ("kib", "verify", "one_file", "audit", "seek")}
    entries = events = 0
    with TemporaryDirectory() as folder:
        path = Path(folder) / "game.ledgerline"
        for number in range(size.of(10, 2)):
            game = f"proof-{number}"
            report(game)
            log = sealed_game(game)
            data = encode_game_file(game, [e.entry for e in log], [e.head for e in log], Signer("5e" * 32))
            path.write_bytes(data)
            measured["kib"].append(len(data) / 1024)
            measured["verify"].append(_ms(partial(check_file_bytes, data)))
            file = decode_game_file(data)
            measured["audit"].append(_ms(partial(_audit_file, data)))
            measured["one_file"].append(_one_file_ms(path))
            measured["seek"].append(
                max(_ms(partial(fold_until, file.entries, n)) for n in (1, len(log) // 2, len(log)))
            )
            assert decode_game_file(data).entries == [each.entry for each in log]
            entries, events = len(log), sum(len(unpack_entry(each.entry).events) for each in log)
    most = {name: max(each) for name, each in measured.items()}
    goals = {"kib": 40, "verify": 100, "one_file": 2_000, "audit": 400, "seek": 10}
    return Figure(
        f"a finished four-seat game of usa (some {entries} entries, {events} events): file, checks, audit, seeking",
        f"{median(measured['kib']):.1f} KiB; verify {median(measured['verify']):.0f} ms, the one file (a process)"
        f" {median(measured['one_file']):.0f} ms; audit {median(measured['audit']):.0f} ms; seek {most['seek']:.1f} ms at most",
        "under 40 KiB; 100 ms, 2 s; 400 ms; 10 ms",
        all(most[name] < goal for name, goal in goals.items()),
        dict(measured.items()),
    )


def _audit_file(data: bytes) -> None:
    file = decode_game_file(data)
    replay = Replay(file.game, file.entries)
    audit(replay, check_file(file, replay=replay))


def _ms(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return (process_time() - start) * 1e3


def _one_file_ms(path: Path) -> float:
    """The whole process, as the operating system counts its CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([sys.executable, "-I", STANDALONE, path], check=True, capture_output=True)
    return (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before) * 1e3
