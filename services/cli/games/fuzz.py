"""`ledgerline fuzz`: random play of a ruleset that looks for what no game may do, and prints the shortest log of it."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from itertools import count, islice, takewhile
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Annotated, Final, NamedTuple, TypeAlias

import typer
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

from schemas.commands import write_command
from schemas.errors import InvalidInputError
from schemas.field_types import is_json_value
from services.archive import Signer, encode_game_file
from services.cli.options import JsonOption, in_groups
from services.cli.output import no_such, own_command, path_here, print_json, print_line, progress_bar
from services.cli.trains.board import read_played_board
from services.compiled_rules import prefer_compiled_rules
from services.documents import write_bytes
from services.fuzz import GAME, KINDS, Arena, BatchResult, Quota, Shortened, Step, search_batch
from services.referee.games import RULESETS
from services.runtime.executors import core_count
from services.verification.replay import REPLAY_ERRORS, reseal_log

ALL: Final = "all"
NO_SERVERS_KEY: Final = "00" * 32  # signs what nobody need believe
SHOWN_STEPS: Final = 60  # of a longer game, the first of these and the last
UPDATE_S: Final = 0.5  # of the progress bar
app = typer.Typer()
Batch: TypeAlias = tuple[Arena, str, Quota]


class SearchOptions(NamedTuple):
    """How long it plays, and from which seed."""

    minutes: Annotated[
        float | None,
        typer.Option(min=0.01, max=10_000, help="Stop after so long; 1 if no --games are named."),
    ] = None
    games: Annotated[int | None, typer.Option(min=1, help="Stop after so many games of each ruleset.")] = None
    seed: Annotated[
        str, typer.Option(help="Play these games; a finding names the seed that finds it again.")
    ] = "0"
    jobs: Annotated[
        int | None, typer.Option(min=1, max=256, help="Processes; else as many as there are cores.")
    ] = None


@app.command()
@in_groups
def fuzz(
    game: Annotated[str, typer.Argument(metavar="GAME", help=f"{', '.join(RULESETS)}, or all of them.")],
    search: SearchOptions,
    board: Annotated[
        str | None, typer.Option(help="Play on this board, a name or a file; else on any of the ruleset's.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="Write a finding's log here; else to fuzz-GAME-KIND.ledgerline.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play random games that look for crashes, dead ends, endless games, wrong lists of moves, leaks and lost states.

    What reaches something new is gone on from. A finding is cut down to the shortest game that shows it, in a
    file for `replay`; exit code 1. The same seed plays the same games."""
    if game != ALL and game not in RULESETS:
        raise InvalidInputError("game", no_such("ruleset", game, (*RULESETS, ALL)))
    if not is_json_value(search.seed):
        raise InvalidInputError("--seed", "can't be written as UTF-8")
    form = None if board is None else read_played_board(board)[0]
    arenas = [Arena(name, form) for name in (RULESETS if game == ALL else [game])]
    minutes = search.minutes if search.minutes is not None or search.games is not None else 1.0
    until_s = float("inf") if minutes is None else time.time() + 60 * minutes
    results = _search(arenas, search, until_s)
    found = next((result for result in results if result.found is not None), None)
    if not as_json:
        _print_results(results, found, board)
    path = None if found is None else _write_log(found, file)
    if as_json:
        print_json(_results_json(results, found, path))
    elif path is not None:
        print_line(f"Its log: {own_command()} replay {path_here(path)}")
    if found is not None:
        raise typer.Exit(1)


# -- the search --------------------------------------------------------------------------------


def _batches(arenas: Sequence[Arena], search: SearchOptions, until_s: float) -> Iterator[Batch]:
    """Batches of games of each arena in turn, up to the number of games that is asked for."""
    batch_games = Quota().games
    for number in count():
        left = batch_games if search.games is None else search.games - number * batch_games
        if left <= 0:
            return
        seed = f"{search.seed}.{number}" if number else search.seed
        for arena in arenas:
            yield arena, seed, Quota(min(left, batch_games), until_s)


def _search(arenas: Sequence[Arena], search: SearchOptions, until_s: float) -> list[BatchResult]:
    """The batches' results, up to the first finding. On a terminal a bar shows the time that is over, and what was reached."""
    results, batches = list[BatchResult](), _batches(arenas, search, until_s)
    with progress_bar(BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}")) as progress:
        began_s = time.time()
        task = progress.add_task("", total=None if until_s == float("inf") else until_s - began_s)
        for done in _batch_results(batches, search.jobs or core_count(), until_s):
            results += done
            games, commands = sum(r.games for r in results), sum(r.commands for r in results)
            what = f"{games:,} games, {commands:,} commands"
            progress.update(task, completed=time.time() - began_s, description=what)
            if any(result.found is not None for result in done):
                break
    return results


def _batch_results(batches: Iterator[Batch], jobs: int, until_s: float) -> Iterator[list[BatchResult]]:
    """The batches' results as they come, every half a second also if there is none."""
    if jobs == 1:
        in_time = takewhile(lambda _: time.time() < until_s, batches)
        yield from ([search_batch(*batch)] for batch in in_time)
        return
    context = get_context("spawn")  # not forked: the caller has a thread
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=prefer_compiled_rules) as pool:
        try:
            running = {pool.submit(search_batch, *batch) for batch in islice(batches, jobs)}
            while running:
                done, running = wait(running, UPDATE_S, FIRST_COMPLETED)
                more = islice(batches, len(done)) if time.time() < until_s else ()
                running |= {pool.submit(search_batch, *batch) for batch in more}
                yield [future.result() for future in done]
        finally:  # also of games that still run when one has found something
            for process in active_children():
                process.terminate()


def _summary(results: Sequence[BatchResult]) -> str:
    games, commands = sum(each.games for each in results), sum(each.commands for each in results)
    return f"{games:,} games, {commands:,} commands tried, {_reached(results)} pairs of events, or refusals, reached"


def _reached(results: Sequence[BatchResult]) -> int:
    return len({(each.ruleset, pair) for each in results for pair in each.reached})


# -- the result --------------------------------------------------------------------------------


def _write_log(result: BatchResult, file: Path | None) -> Path | None:
    """Write the shortest log as a game's file; None where the finding is before a log's first entry."""
    assert result.found is not None
    log = result.found.log
    if not log:
        return None
    path = file or Path(f"fuzz-{result.ruleset}-{result.found.finding.kind.replace(' ', '-')}.ledgerline")
    try:
        heads = [resealed.sealed.head for resealed in reseal_log(GAME, log)]
    except REPLAY_ERRORS:  # it is a finding, after all: `replay` shows it without views
        heads = [bytes(32)] * len(log)
    write_bytes(path, encode_game_file(GAME, log, heads, Signer(NO_SERVERS_KEY)), "--file")
    return path


def _results_json(
    results: Sequence[BatchResult], found: BatchResult | None, path: Path | None
) -> dict[str, object]:
    document: dict[str, object] = {
        "games": sum(result.games for result in results),
        "commands": sum(result.commands for result in results),
        "reached": _reached(results),
        "finding": None,
    }
    if found is not None and found.found is not None:
        finding, steps, _ = found.found
        document["finding"] = {
            "ruleset": found.ruleset,
            "kind": finding.kind,
            "why": finding.why,
            "seed": found.seed,
            "file": None if path is None else str(path),
            "steps": [_step_json(step) for step in steps],
            "probe": None if finding.probe is None else _step_json(finding.probe),
        }
    return document


def _step_json(step: Step) -> Mapping[str, object]:
    return {"seat": step.seat, "wait_ms": step.wait_ms, "command": write_command(step.command)}


def _print_results(results: Sequence[BatchResult], found: BatchResult | None, board: str | None) -> None:
    print_line(f"{_summary(results)}.")
    if found is None or found.found is None:
        print_line("Nothing was found.")
        return
    finding = found.found.finding
    print_line(f"{found.ruleset}: {finding.kind}. {KINDS[finding.kind]}")
    print_line(f"  {finding.why}")
    _print_steps(found.found)
    words = ["fuzz", found.ruleset, *([] if board is None else ["--board", board])]
    print_line(
        f"Find it again: {own_command()} {shlex.join([*words, '--seed', found.seed, '--games', str(found.games)])}"
    )


def _print_steps(shortened: Shortened) -> None:
    """Print what is sent, a line for each command."""
    steps = list(enumerate(shortened.steps, 1))
    if len(steps) > SHOWN_STEPS:
        steps = [*steps[: SHOWN_STEPS // 2], *steps[-SHOWN_STEPS // 2 :]]
    for number, step in steps:
        print_line(f"{number:>5}  {_step_line(step)}")
    if shortened.finding.probe is not None:
        print_line(f"    +  {_step_line(shortened.finding.probe)}")


def _step_line(step: Step) -> str:
    sender = "the server" if step.seat is None else f"seat {step.seat}"
    waits = f" after {step.wait_ms} ms" if step.wait_ms else ""
    return f"{sender}{waits}: {json.dumps(write_command(step.command))}"
