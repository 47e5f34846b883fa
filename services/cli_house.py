"""The commands of `ledgerline` that need the house: play, serve, games, replay, audit, jobs, each service alone."""

from __future__ import annotations

import json
import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Annotated, Any

import typer
from redis.exceptions import RedisError

from schemas.codec import Corrupt
from schemas.contract import Malformed
from services import auditing_cli, dead, jobs_cli, replaying, watching, wiring
from services.auditor.jobs import Jobs
from services.collecting import collect_seldom
from services.embedded import house, reading_jobs, reading_ledger
from services.failing import fail
from services.ledger import Gap, RedisLedger
from services.ledger.connection import EngineUnavailable
from services.logs import set_up_logs
from services.settings import Settings, read_settings
from services.tables import out
from services.trains import tally

commands = typer.Typer()
dead_letters = typer.Typer(no_args_is_help=True, help="Look after commands that broke the referee.")
commands.add_typer(dead_letters, name="dead")
jobs = typer.Typer(help="Look after what is done beside the games: the archive, audits.")
commands.add_typer(jobs, name="jobs")

Data = Annotated[Path, typer.Option(help="Folder of the embedded engine's log.", envvar="LEDGERLINE_DATA")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
DATA = Path(".ledgerline")
Letters = Annotated[list[str] | None, typer.Argument(help="As `dead list` shows them: p07/1700000000000-0.")]
JobIds = Annotated[list[str] | None, typer.Argument(help="As `jobs` shows them: archive-3f9a1c0b77e2.")]
Every = Annotated[bool, typer.Option("--all", help="Every one of them (a thousand at a time).")]


def run(app: typer.Typer) -> None:
    """Run the app with these commands added to its own; what goes wrong is one clear line."""
    app.registered_commands += commands.registered_commands
    app.registered_groups += commands.registered_groups
    try:
        app()
    except replaying.NoSuchGame as error:
        fail(str(error), 2)
    except (EngineUnavailable, watching.Failed, Gap, Corrupt) as error:
        fail(str(error), 1)
    except RedisError as error:
        fail(f"the engine went away: {error}", 1)


@commands.command()
def play(
    rules: Annotated[
        str | None, typer.Option(help="usa, europe, marklin or trains; else the board's own, or usa.")
    ] = None,
    seats: Annotated[
        str, typer.Option(help="The bots' policies, a seat each.")
    ] = "greedy,greedy,random,random",
    games: Annotated[int, typer.Option(min=1, max=1000, help="How many games, side by side.")] = 1,
    seed: Annotated[str | None, typer.Option(help="Deal from this; the same seed deals the same.")] = None,
    board: Annotated[
        str | None, typer.Option(help="A board's name, or a file: docs/boards.md tells the forms.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE: a figure of the rules set otherwise; may be repeated."),
    ] = None,
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """Play whole games with bots, through the real pipeline, and print the final tables."""
    settings = _settings(port=0, rate=10_000.0, burst=100_000)
    _logs(settings, quiet=True)
    body = watching.creation(rules, seats, seed, board, option or ())
    with house(data, settings) as running:
        ledger = wiring.open_ledger(running.settings)
        again = "ledgerline replay" + ("" if data == DATA else f" --data {shlex.quote(str(data))}")
        watching.play(running.url, ledger, body, games, as_json, running.trouble, again)


@commands.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = None,
    data: Data = DATA,
) -> None:
    """Keep everything running for people, at the address it prints. Stop with Ctrl-C."""
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = _settings(**given)
    _logs(settings)
    stop = _until_told()
    with house(data, settings) as running:
        print(f"Ledgerline is open at {running.url} (how to play: {running.url}/docs)", flush=True)
        while not stop.wait(0.5):
            if trouble := running.trouble():
                raise watching.Failed(trouble)


@commands.command()
def games(data: Data = DATA, as_json: AsJson = False) -> None:
    """List the games (the latest thousand) and how they stand."""
    with _ledger(data) as ledger:
        replaying.list_games(ledger, as_json)


@commands.command()
def replay(
    game: Annotated[str, typer.Argument(help="The game's id, as play and games print it.")],
    to: Annotated[int | None, typer.Option(min=1, help="Stop after this entry.")] = None,
    viewer: Annotated[
        str | None, typer.Option("--as", help="See it as a seat does (0, 1, ..), or the public.")
    ] = None,
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """Show a game turn by turn from its log, then the table at that point."""
    with _ledger(data) as ledger:
        replaying.replay(ledger, game, to, viewer, as_json)


@commands.command()
def audit(
    named: Annotated[
        str, typer.Argument(metavar="GAME|FILE", help="A game's id, or a file that `export` wrote.")
    ],
    at: Annotated[int | None, typer.Option(min=1, help="Explain this entry: the disputed move.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page for an arbiter to this file.")] = None,
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """Check everything of a game that can be checked, and explain a move. Exit code 1: something is wrong."""
    if not auditing_cli.run(named, lambda: _ledger(data), at, as_json, html):
        raise typer.Exit(1)


@dead_letters.command("list")
def dead_list(
    most: Annotated[int, typer.Option(min=1, max=10_000, help="How many, the oldest first.")] = 1_000,
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """List the commands that broke the referee and were put aside."""
    with _ledger(data) as ledger:
        dead.list_dead(ledger, most, as_json)


@dead_letters.command("show")
def dead_show(
    letter: Annotated[str, typer.Argument(help="As `dead list` shows it.")], data: Data = DATA
) -> None:
    """Tell all that is known of one, as JSON."""
    with _ledger(data) as ledger:
        dead.show(ledger, letter)


@dead_letters.command("retry")
def dead_retry(letters: Letters = None, every: Every = False, data: Data = DATA) -> None:
    """Put them on their way again, once the cause is mended; a second verdict there can't be."""
    with _ledger(data) as ledger:
        dead.retry(ledger, letters or (), every)


@dead_letters.command("drop")
def dead_drop(letters: Letters = None, every: Every = False, data: Data = DATA) -> None:
    """Forget them for good."""
    with _ledger(data) as ledger:
        dead.drop(ledger, letters or (), every)


@jobs.callback(invoke_without_command=True)
def jobs_list(
    context: typer.Context,
    most: Annotated[int, typer.Option(min=1, max=10_000, help="How many of each state.")] = 1_000,
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """List what fails, runs, waits or is to be tried again, beside the games."""
    if context.invoked_subcommand is None:
        with _jobs(data) as found:
            jobs_cli.list_jobs(found, most, as_json)


@jobs.command("retry")
def jobs_retry(ids: JobIds = None, every: Every = False, data: Data = DATA) -> None:
    """Try jobs again now that failed, or wait for their next try; --all: all that failed."""
    with _jobs(data) as found:
        jobs_cli.retry(found, ids or (), every)


@jobs.command("drop")
def jobs_drop(ids: JobIds = None, every: Every = False, data: Data = DATA) -> None:
    """Forget jobs. What is still to be done gets a new one."""
    with _jobs(data) as found:
        jobs_cli.drop(found, ids or (), every)


@commands.command("trains-cases")
def trains_cases(
    folder: Annotated[Path, typer.Argument(help="A folder of cases with its index.json.")],
    as_json: AsJson = False,
) -> None:
    """Answer a folder of Trains cases with our own core, and print a tally by kind."""
    tallies = tally.run_folder(folder, quiet=as_json)
    if as_json:
        print(json.dumps(tally.document(tallies), ensure_ascii=False, indent=2))
    else:
        out.print(tally.grid(tallies))
    if any(kind.failures for kind in tallies):
        raise typer.Exit(1)


@commands.command()
def referee() -> None:
    """Run a referee alone, on the engine of the settings (LEDGERLINE_REDIS_URL)."""
    _alone(wiring.run_referee)


@commands.command()
def bots() -> None:
    """Run a worker for bots alone, on the engine of the settings."""
    _alone(wiring.run_bots)


@commands.command()
def auditor() -> None:
    """Run an auditor alone: it puts finished games into the archive, on the engine of the settings."""
    _alone(wiring.run_auditor)


@commands.command()
def gateway() -> None:
    """Run a gateway alone, on the engine and the address of the settings."""
    _alone(wiring.run_gateway)


def _settings(**given: Any) -> Settings:
    return read_settings(**given)


def _logs(settings: Settings, *, quiet: bool = False) -> None:
    """Log lines as the settings say; a command that prints a game keeps to warnings."""
    level = "warning" if quiet and settings.log_level == "info" else settings.log_level
    set_up_logs(level, settings.log_form)


@contextmanager
def _ledger(data: Path) -> Iterator[RedisLedger]:
    """The ledger to read from: the settings' engine if they name one, else the data folder's."""
    settings = _settings()
    _logs(settings, quiet=True)
    _require_engine(data, settings)
    with reading_ledger(data, settings) as ledger:
        yield ledger


@contextmanager
def _jobs(data: Path) -> Iterator[Jobs]:
    """The jobs of the settings' engine if they name one, else of the data folder's."""
    settings = _settings()
    _logs(settings, quiet=True)
    _require_engine(data, settings)
    with reading_jobs(data, settings) as found:
        yield found


def _require_engine(data: Path, settings: Settings) -> None:
    if not (data / "appendonlydir").is_dir() and "redis_url" not in settings.model_fields_set:
        raise Malformed("--data", f"there are no games in {data}; `ledgerline play` plays one")


def _alone(service: wiring.Service) -> None:
    settings = _settings()
    _logs(settings)
    collect_seldom()
    service(settings, _until_told())


def _until_told() -> Event:
    """An event that is set when the process is told to stop."""
    stop = Event()

    def told(*_: object) -> None:
        # A thread of its own: the handler may run while this one holds the event's lock.
        Thread(target=stop.set).start()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, told)
    return stop
