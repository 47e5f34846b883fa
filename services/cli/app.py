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

from schemas.codec import Corrupt
from services.archive import ArchiveAway, Signer
from services.bootstrap import composition
from services.bootstrap.embedded import house, signing_key, token_key
from services.cli import audit as audit_command
from services.cli import dead_letters as dead_letter_commands
from services.cli import disputes, export_verify, jobs
from services.cli import fork as fork_command
from services.cli import play as play_command
from services.cli import replay as replay_command
from services.cli.exit import fail
from services.cli.options import (
    DATA,
    AsJson,
    Data,
    open_games,
    open_to_read,
    set_logs,
    settings_of,
    with_archive,
)
from services.cli.tables import out
from services.ledger import Gap
from services.ledger.connection import EngineUnavailable
from services.runtime.gc_tuning import collect_seldom
from services.trains import report

commands = typer.Typer()
dead_letters = typer.Typer(no_args_is_help=True, help="Look after commands that broke the referee.")
commands.add_typer(dead_letters, name="dead")
commands.add_typer(jobs.commands, name="jobs")
commands.add_typer(disputes.app, name="disputes")

Letters = Annotated[list[str] | None, typer.Argument(help="As `dead list` shows them: p07/1700000000000-0.")]
Every = Annotated[bool, typer.Option("--all", help="Every one of them (a thousand at a time).")]


def run(app: typer.Typer) -> None:
    """Run the app with these commands added to its own; what goes wrong is one clear line."""
    app.registered_commands += commands.registered_commands
    app.registered_groups += commands.registered_groups
    try:
        app()
    except replay_command.NoSuchGame as error:
        fail(str(error), 2)
    except (EngineUnavailable, ArchiveAway, play_command.Failed, Gap, Corrupt) as error:
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
    settings = settings_of(port=0, rate=10_000.0, burst=100_000)
    set_logs(settings, quiet=True)
    body = play_command.creation(rules, seats, seed, board, option or ())
    with house(data, settings) as running:
        ledger = composition.open_ledger(running.settings)
        again = "ledgerline replay" + ("" if data == DATA else f" --data {shlex.quote(str(data))}")
        play_command.play(running.url, ledger, body, games, as_json, running.trouble, again)


@commands.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = None,
    data: Data = DATA,
) -> None:
    """Keep everything running for people, at the address it prints. Stop with Ctrl-C."""
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = settings_of(**given)
    set_logs(settings)
    stop = _until_told()
    with house(data, settings) as running:
        print(f"Ledgerline is open at {running.url} (how to play: {running.url}/docs)", flush=True)
        while not stop.wait(0.5):
            if trouble := running.trouble():
                raise play_command.Failed(trouble)


@commands.command()
def games(data: Data = DATA, as_json: AsJson = False) -> None:
    """List the games (the latest thousand) and how they stand."""
    with open_games(data) as kept:
        replay_command.list_games(kept, as_json)


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
    with open_games(data) as kept:
        replay_command.replay(kept, game, to, viewer, as_json)


@commands.command()
def fork(
    game: Annotated[str, typer.Argument(help="The game's id, as play and games print it.")],
    at: Annotated[int, typer.Option(min=1, help="Go on from where it stood after this entry.")],
    viewer: Annotated[
        str,
        typer.Option("--as", help="Deal by what a seat knew (0, 1, ..), or the public, while it goes on."),
    ] = "public",
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """Start a new game from where another one stood; what was hidden is dealt afresh unless that is over."""
    settings = with_archive(settings_of(), data)
    with open_to_read(data) as ledger:
        key = settings.token_key.get_secret_value() or token_key(data)
        fork_command.fork(ledger, settings, game, at, viewer, key, as_json)


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
    if not audit_command.run(named, lambda: open_games(data), at, as_json, html):
        raise typer.Exit(1)


@commands.command()
def export(
    game: Annotated[str, typer.Argument(help="The game's id, as play and games print it.")],
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    data: Data = DATA,
) -> None:
    """Write a finished game to one file that anybody can check: see docs/proof.md."""
    signer = Signer(settings_of().signing_key.get_secret_value() or signing_key(data))
    with open_games(data) as kept:
        export_verify.export(kept, signer, game, file)


@commands.command()
def verify(
    file: Annotated[Path, typer.Argument(help="A file that `export` wrote, or one of the archive.")],
    key: Annotated[str | None, typer.Option(help="The house's public key: it must have signed.")] = None,
    head: Annotated[
        list[str] | None,
        typer.Option(help="NUMBER:HEAD that somebody kept while the game was played; may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a game's file: its chain, its signature, its deal, what each was to see. Exit code 1: don't believe it."""
    if not export_verify.verify(file, key, head or (), as_json):
        raise typer.Exit(1)


@dead_letters.command("list")
def dead_list(
    most: Annotated[int, typer.Option(min=1, max=10_000, help="How many, the oldest first.")] = 1_000,
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """List the commands that broke the referee and were put aside."""
    with open_to_read(data) as ledger:
        dead_letter_commands.list_dead(ledger, most, as_json)


@dead_letters.command("show")
def dead_show(
    letter: Annotated[str, typer.Argument(help="As `dead list` shows it.")], data: Data = DATA
) -> None:
    """Tell all that is known of one, as JSON."""
    with open_to_read(data) as ledger:
        dead_letter_commands.show(ledger, letter)


@dead_letters.command("retry")
def dead_retry(letters: Letters = None, every: Every = False, data: Data = DATA) -> None:
    """Put them on their way again, once the cause is mended; a second verdict there can't be."""
    with open_to_read(data) as ledger:
        dead_letter_commands.retry(ledger, letters or (), every)


@dead_letters.command("drop")
def dead_drop(letters: Letters = None, every: Every = False, data: Data = DATA) -> None:
    """Forget them for good."""
    with open_to_read(data) as ledger:
        dead_letter_commands.drop(ledger, letters or (), every)


@commands.command("trains-cases")
def trains_cases(
    folder: Annotated[Path, typer.Argument(help="A folder of cases with its index.json.")],
    as_json: AsJson = False,
) -> None:
    """Answer a folder of Trains cases with our own core, and print a tally by kind."""
    tallies = report.run_folder(folder, quiet=as_json)
    if as_json:
        print(json.dumps(report.document(tallies), ensure_ascii=False, indent=2))
    else:
        out.print(report.grid(tallies))
    if any(kind.failures for kind in tallies):
        raise typer.Exit(1)


@commands.command()
def referee() -> None:
    """Run a referee alone, on the engine of the settings (LEDGERLINE_REDIS_URL)."""
    _alone(composition.run_referee)


@commands.command()
def bots() -> None:
    """Run a worker for bots alone, on the engine of the settings."""
    _alone(composition.run_bots)


@commands.command()
def auditor() -> None:
    """Run an auditor alone: it puts finished games into the archive, on the engine of the settings."""
    _alone(composition.run_auditor)


@commands.command()
def gateway() -> None:
    """Run a gateway alone, on the engine and the address of the settings."""
    _alone(composition.run_gateway)


def _alone(service: composition.Service) -> None:
    settings = settings_of()
    set_logs(settings)
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
