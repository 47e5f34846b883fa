"""`ledgerline play`: create games of bots, follow them, print how they end."""

from __future__ import annotations

import json
import os.path
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from reprlib import repr as short_repr
from typing import Annotated, NamedTuple

import typer

from schemas.commands import POLICIES
from schemas.errors import InvalidInputError
from schemas.field_types import is_json_value
from schemas.trains.boards.form import BOARD_SCHEMA
from services.bootstrap import composition
from services.bootstrap.embedded import run_embedded_server
from services.bots.seat_projection import ViewPageReader
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, in_groups, set_up_logging
from services.cli.output import console, print_json
from services.cli.playing.bot_games import create_bot_games, require_own_boards, with_seeds
from services.cli.playing.following import LineDisplay, LiveDisplay, SilentDisplay, WatchedGame, follow_games
from services.cli.tables import final_score_table
from services.ledger import ViewFollower
from services.referee.games import RULESETS
from services.referee.games.trains.board import board_names, load_board
from services.runtime.settings import read_settings
from services.trains.board_files import read_board_file
from services.verification.game_repository import GameRepository

app = typer.Typer()


class GameOptions(NamedTuple):
    """The rules, board and deal of games of bots."""

    rules: Annotated[
        str | None, typer.Option(help="usa, europe, marklin or trains; else the board's own, or usa.")
    ] = None
    board: Annotated[
        str | None, typer.Option(help="A board's name, or a file: docs/boards.md has the forms.")
    ] = None
    seed: Annotated[
        str | None, typer.Option(help="Shuffle by this seed; the same seed gives the same deals.")
    ] = None
    option: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE: a rule option that is set otherwise; may be repeated."),
    ] = None


@app.command()
@in_groups
def play(
    game: GameOptions,
    seats: Annotated[
        str, typer.Option(help="The bots' policies, one for each seat.")
    ] = "greedy,greedy,random,random",
    games: Annotated[int, typer.Option(min=1, max=1000, help="How many games, side by side.")] = 1,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Play whole games with bots, through the real pipeline, and print the final scores."""
    settings = read_settings()
    set_up_logging(settings, quiet=True)
    body = create_game_body(game, seats)
    if not isinstance(body.get("board", ""), str):
        require_own_boards(settings)
    with run_embedded_server(data, settings, processes=games > 1, gateway=False) as running:
        ledger = composition.open_ledger(running.settings)
        created = create_bot_games(ledger, [*with_seeds(body, games)], running.failure_reason)
        games_read = GameRepository(ledger, composition.open_archive_reader(running.settings))
        watched = watch_games(created, games_read, ledger, as_json, running.failure_reason)
    if as_json:
        documents = [game.summary_json() for game in watched]
        print_json(documents[0] if len(documents) == 1 else {"games": documents})
    else:
        replay_command = "ledgerline replay"
        if data != DEFAULT_DATA:
            replay_command += f" --data {shlex.quote(str(data))}"
        for each in watched:
            console.print(final_score_table(each.state))
            summary = f"Game {each.id}: {each.event_count} events in {each.sequence} entries."
            console.print(f"{summary} See it again: {replay_command} {each.id}")


def create_game_body(game: GameOptions, seats: str) -> dict[str, object]:
    """The body of a creation of a game of bots. Raises InvalidInputError, naming the option."""
    body: dict[str, object] = {}
    rules = game.rules
    if game.board is not None:
        body["board"], default_rules = read_board(game.board)
        rules = rules or default_rules
    rules = rules or "usa"
    if rules not in RULESETS:
        raise InvalidInputError(
            "--rules", f"there is no ruleset {short_repr(rules)}; there is {', '.join(RULESETS)}"
        )
    policies = [policy.strip() for policy in seats.split(",")]
    for policy in policies:
        if policy not in POLICIES:
            raise InvalidInputError(
                "--seats", f"there is no policy {short_repr(policy)}; there is {', '.join(POLICIES)}"
            )
    body["ruleset"] = rules
    body["seats"] = [{"kind": "bot", "policy": policy} for policy in policies]
    body["visibility"] = "public"  # bots have nothing to hide from those who come to the server
    if game.seed is not None:
        if not is_json_value(game.seed):
            raise InvalidInputError("--seed", "can't be written as UTF-8")
        body["seed"] = game.seed
    if game.option:
        body["options"] = dict(_parse_option(option) for option in game.option)
    return body


def read_board(board: str) -> tuple[object, str]:
    """A board's name, or the form in its file as JSON; and the ruleset that it is usually played with."""
    if board in board_names():
        return board, load_board(board).default_ruleset
    if Path(board).suffix or os.path.exists(board):  # noqa: PTH110 - Path's own raises for a name too long
        form = read_board_file(Path(board))
        return BOARD_SCHEMA.write(form, exclude_defaults=True), form.rules
    raise InvalidInputError(
        "--board", f"{short_repr(board)} is neither a file nor a board; there is {', '.join(board_names())}"
    )


def _parse_option(option: str) -> tuple[str, object]:
    """A rule option as NAME=VALUE; the value is JSON or a plain word."""
    name, equals, value = option.partition("=")
    if not equals:
        raise InvalidInputError("--option", f"{short_repr(option)} isn't NAME=VALUE, such as clock_ms=60000")
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = value
    if not is_json_value({name: parsed}):
        raise InvalidInputError(
            "--option", f"{short_repr(option)} has a value that is neither text nor a finite number"
        )
    return name, parsed


def watch_games(
    games: Sequence[str],
    views: ViewFollower,
    pages: ViewPageReader,
    as_json: bool,
    failure_reason: Callable[[], str],
) -> list[WatchedGame]:
    """Follow games to their ends; their play-offs come last.

    `failure_reason` says why the server can't go on; empty while it can.
    Raises CommandLineError where the server fails."""
    watched = [WatchedGame(game) for game in games]
    display = SilentDisplay()
    if not as_json:
        display = LiveDisplay(watched) if console.is_terminal else LineDisplay(watched)
    follow_games(views, pages, watched, display, failure_reason)
    return watched
