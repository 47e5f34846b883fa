"""The commands of `ledgerline` that need the house: play, serve, games, replay, fork, audit,
export, verify, jobs, disputes, each service alone."""

from __future__ import annotations

import json
import shlex
import signal
from pathlib import Path
from threading import Event, Thread
from typing import Annotated

import typer
from redis.exceptions import RedisError

from schemas.errors import CorruptDataError
from services.archive import ArchiveUnavailableError, Signer
from services.bootstrap import composition
from services.bootstrap.embedded import load_signing_key, load_token_key, run_embedded_server
from services.cli import audit as audit_command
from services.cli import dead_letters as dead_letter_commands
from services.cli import disputes, export_verify, jobs
from services.cli import fork as fork_command
from services.cli import play as play_command
from services.cli import replay as replay_command
from services.cli.exit import exit_with_error
from services.cli.options import (
    DEFAULT_DATA,
    DataOption,
    JsonOption,
    load_settings,
    open_read_ledger,
    open_repository,
    set_up_logging,
    with_archive_url,
)
from services.cli.tables import console
from services.ledger import MissingEntryError
from services.ledger.connection import EngineUnavailableError
from services.runtime.gc_tuning import tune_garbage_collector
from services.trains import report

commands = typer.Typer()
dead_letters_app = typer.Typer(no_args_is_help=True, help="Look after commands that broke the referee.")
commands.add_typer(dead_letters_app, name="dead")
commands.add_typer(jobs.app, name="jobs")
commands.add_typer(disputes.app, name="disputes")

DeadLetterReferences = Annotated[
    list[str] | None, typer.Argument(help="As `dead list` shows them: p07/1700000000000-0.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Every one of them (a thousand at a time).")]


def run(app: typer.Typer) -> None:
    """Run the app with these commands added to its own; what goes wrong is one clear line."""
    app.registered_commands += commands.registered_commands
    app.registered_groups += commands.registered_groups
    try:
        app()
    except replay_command.GameNotFoundError as error:
        exit_with_error(str(error), 2)
    except (
        EngineUnavailableError,
        ArchiveUnavailableError,
        play_command.CommandLineError,
        MissingEntryError,
        CorruptDataError,
    ) as error:
        exit_with_error(str(error), 1)
    except RedisError as error:
        exit_with_error(f"the engine went away: {error}", 1)


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
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Play whole games with bots, through the real pipeline, and print the final tables."""
    settings = load_settings(port=0, rate=10_000.0, burst=100_000)
    set_up_logging(settings, quiet=True)
    body = play_command.create_game_body(rules, seats, seed, board, option or ())
    with run_embedded_server(data, settings) as running:
        ledger = composition.open_ledger(running.settings)
        replay_command = "ledgerline replay" + (
            "" if data == DEFAULT_DATA else f" --data {shlex.quote(str(data))}"
        )
        play_command.play_games(
            running.url, ledger, body, games, as_json, running.failure_reason, replay_command
        )


@commands.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = None,
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Keep everything running for people, at the address it prints. Stop with Ctrl-C."""
    overrides = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = load_settings(**overrides)
    set_up_logging(settings)
    stop = _stop_on_signal()
    with run_embedded_server(data, settings) as running:
        print(f"Ledgerline is open at {running.url} (how to play: {running.url}/docs)", flush=True)
        while not stop.wait(0.5):
            if trouble := running.failure_reason():
                raise play_command.CommandLineError(trouble)


@commands.command()
def games(data: DataOption = DEFAULT_DATA, as_json: JsonOption = False) -> None:
    """List the games (the latest thousand) and how they stand."""
    with open_repository(data) as repository:
        replay_command.list_games(repository, as_json)


@commands.command()
def replay(
    game: Annotated[str, typer.Argument(help="The game's id, as play and games print it.")],
    to: Annotated[int | None, typer.Option(min=1, help="Stop after this entry.")] = None,
    viewer: Annotated[
        str | None, typer.Option("--as", help="See it as a seat does (0, 1, ..), or the public.")
    ] = None,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Show a game turn by turn from its log, then the table at that point."""
    with open_repository(data) as repository:
        replay_command.replay_game(repository, game, to, viewer, as_json)


@commands.command()
def fork(
    game: Annotated[str, typer.Argument(help="The game's id, as play and games print it.")],
    at: Annotated[int, typer.Option(min=1, help="Go on from where it stood after this entry.")],
    viewer: Annotated[
        str,
        typer.Option("--as", help="Deal by what a seat knew (0, 1, ..), or the public, while it goes on."),
    ] = "public",
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Start a new game from where another one stood; what was hidden is dealt afresh unless that is over."""
    settings = with_archive_url(load_settings(), data)
    with open_read_ledger(data) as ledger:
        key = settings.token_key.get_secret_value() or load_token_key(data)
        fork_command.fork_game(ledger, settings, game, at, viewer, key, as_json)


@commands.command()
def audit(
    game_or_file: Annotated[
        str, typer.Argument(metavar="GAME|FILE", help="A game's id, or a file that `export` wrote.")
    ],
    at: Annotated[int | None, typer.Option(min=1, help="Explain this entry: the disputed move.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page for an arbiter to this file.")] = None,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Check everything of a game that can be checked, and explain a move. Exit code 1: something is wrong."""
    if not audit_command.run_audit(game_or_file, lambda: open_repository(data), at, as_json, html):
        raise typer.Exit(1)


@commands.command()
def export(
    game: Annotated[str, typer.Argument(help="The game's id, as play and games print it.")],
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Write a finished game to one file that anybody can check: see docs/proof.md."""
    signer = Signer(load_settings().signing_key.get_secret_value() or load_signing_key(data))
    with open_repository(data) as repository:
        export_verify.export_game(repository, signer, game, file)


@commands.command()
def verify(
    file: Annotated[Path, typer.Argument(help="A file that `export` wrote, or one of the archive.")],
    key: Annotated[str | None, typer.Option(help="The house's public key: it must have signed.")] = None,
    head: Annotated[
        list[str] | None,
        typer.Option(help="NUMBER:HEAD that somebody kept while the game was played; may be repeated."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a game's file: its chain, its signature, its deal, what each was to see. Exit code 1: don't believe it."""
    if not export_verify.verify_file(file, key, head or (), as_json):
        raise typer.Exit(1)


@dead_letters_app.command("list")
def dead_list(
    most: Annotated[int, typer.Option(min=1, max=10_000, help="How many, the oldest first.")] = 1_000,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """List the commands that broke the referee and were put aside."""
    with open_read_ledger(data) as ledger:
        dead_letter_commands.list_dead_letters(ledger, most, as_json)


@dead_letters_app.command("show")
def dead_show(
    letter: Annotated[str, typer.Argument(help="As `dead list` shows it.")], data: DataOption = DEFAULT_DATA
) -> None:
    """Tell all that is known of one, as JSON."""
    with open_read_ledger(data) as ledger:
        dead_letter_commands.show_dead_letter(ledger, letter)


@dead_letters_app.command("retry")
def dead_retry(
    letters: DeadLetterReferences = None, select_all: AllOption = False, data: DataOption = DEFAULT_DATA
) -> None:
    """Put them on their way again, once the cause is mended; a second verdict there can't be."""
    with open_read_ledger(data) as ledger:
        dead_letter_commands.retry_dead_letters(ledger, letters or (), select_all)


@dead_letters_app.command("drop")
def dead_drop(
    letters: DeadLetterReferences = None, select_all: AllOption = False, data: DataOption = DEFAULT_DATA
) -> None:
    """Forget them for good."""
    with open_read_ledger(data) as ledger:
        dead_letter_commands.drop_dead_letters(ledger, letters or (), select_all)


@commands.command("trains-cases")
def trains_cases(
    folder: Annotated[Path, typer.Argument(help="A folder of cases with its index.json.")],
    as_json: JsonOption = False,
) -> None:
    """Answer a folder of Trains cases with our own core, and print a tally by kind."""
    tallies = report.run_folder(folder, quiet=as_json)
    if as_json:
        print(json.dumps(report.tally_json(tallies), ensure_ascii=False, indent=2))
    else:
        console.print(report.tally_table(tallies))
    if any(kind.failures for kind in tallies):
        raise typer.Exit(1)


@commands.command()
def referee() -> None:
    """Run a referee alone, on the engine of the settings (LEDGERLINE_REDIS_URL)."""
    _run_service(composition.run_referee)


@commands.command()
def bots() -> None:
    """Run a worker for bots alone, on the engine of the settings."""
    _run_service(composition.run_bots)


@commands.command()
def auditor() -> None:
    """Run an auditor alone: it puts finished games into the archive, on the engine of the settings."""
    _run_service(composition.run_auditor)


@commands.command()
def gateway() -> None:
    """Run a gateway alone, on the engine and the address of the settings."""
    _run_service(composition.run_gateway)


def _run_service(service: composition.ServiceRunner) -> None:
    settings = load_settings()
    set_up_logging(settings)
    tune_garbage_collector()
    service(settings, _stop_on_signal())


def _stop_on_signal() -> Event:
    """An event that is set when the process is told to stop."""
    stop = Event()

    def request_stop(*_: object) -> None:
        # A thread of its own: the handler may run while this one holds the event's lock.
        Thread(target=stop.set).start()

    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signal_number, request_stop)
    return stop
