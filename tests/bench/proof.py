"""The cost of proof: the chain in the referee, checking a file, an audit, seeking; and how big a file is.

The referee's figure is of the same referee twice, in turn: in games of today's rules, which are
sealed, and in games of the previous version, which aren't. Each decides its own games, played in
advance with the same random source.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Final

from schemas.codec import pack_entry, pack_private_part, pack_public, unpack_entry
from schemas.entries import Entry
from schemas.hash_chain import initial_head
from services.archive import Signer, decode_game_file, encode_game_file
from services.referee.rules import GameState, decide_envelope, fold_events, split_by_visibility
from services.referee.rules.proof.pile_tracker import PileTracker
from services.referee.rules.proof.sealing import ChainState, SealedEntry, seal_entry
from services.referee.rules.rulesets import RULESET_VERSIONS, RULESETS
from services.verification.audit import audit
from services.verification.log_check import check_file, check_file_bytes
from services.verification.replay import Replay, fold_until
from tests.bench.figure import Figure, Report, Size, ratio
from tests.bench.games import NO_SEED, bots, fresh_engine, script
from tests.bench.referee import Round, lanes, ledger_at, ours_round, total
from tests.bench.referee_workers import Spent, Worker, run_referee

SEATS: Final = bots(*("random",) * 4)
SEALED_US: Final = 15.0  # an event
KEPT: Final = 0.85  # of the commands a second without it
STANDALONE: Final = Path(__file__).parents[2] / "deploy" / "verify_game.py"


def measure_sealing(size: Size, report: Report) -> Figure:
    """What the chain and the commitments cost the referee, alone and as part of its work."""
    report("sealing logs again")
    us = [_sealing_us(f"seal-{n}") for n in range(size.of(12, 1))]
    games, blocks, rounds = size.of(100, 3), size.of(16, 2), size.of(12, 4)
    with (
        fresh_engine() as sealed_url,
        fresh_engine() as plain_url,
        Worker(run_referee, sealed_url) as sealed,
        Worker(run_previous_version_referee, plain_url) as plain,
    ):
        our_ledger, their_ledger = ledger_at(sealed_url), ledger_at(plain_url)
        ours, theirs = list[Spent](), list[Spent]()
        feed, previous = lanes(games), previous_version_lanes(games)
        for block in range(1, blocks + 1):
            report(f"{games} games, block {block} of {blocks}")
            envelopes, before = list(islice(feed, rounds)), list(islice(previous, rounds))
            ours.append(total(ours_round(our_ledger, sealed, each)[0] for each in envelopes))
            theirs.append(total(ours_round(their_ledger, plain, each)[0] for each in before))
    share = ratio([each.commands / each.seconds for each in ours], [e.commands / e.seconds for e in theirs])
    cpu = [sum(e.user for e in each) / sum(e.commands for e in each) * 1e6 for each in (ours, theirs)]
    return Figure(
        "chain and commitments in the referee, us of CPU an event; commands a second, of those without",
        f"{median(us):.1f} us; {share:.2f} ({cpu[0]:.0f} us of user CPU a command, {cpu[1]:.0f} without)",
        f"under {SEALED_US:.0f} us; at least {KEPT}",
        median(us) < SEALED_US and share >= KEPT,
        {"sealing_us_per_event": us, "ratio": share, "user_cpu_us": cpu},
    )


def run_previous_version_referee(url: str, pipe: Connection) -> None:
    """The same referee, with the previous ruleset versions as its current ones."""
    use_previous_version()
    run_referee(url, pipe)


def use_previous_version() -> None:
    rulesets = dict(RULESETS)
    for name, today in rulesets.items():
        RULESETS[name] = RULESET_VERSIONS[name, today.version - 1]  # type: ignore[index]  # a bench's own process


def previous_version_lanes(games: int) -> Iterator[Round]:
    """Rounds of games of the previous version; this process returns to the current version after each."""
    today = dict(RULESETS)
    feed = None
    while True:
        use_previous_version()
        feed = feed or lanes(games)
        envelopes = next(feed)
        RULESETS.update(today)  # type: ignore[attr-defined]  # as above
        yield envelopes


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
            _ = [pack_entry(entry, turned), pack_public(entry.at, turned)]
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
