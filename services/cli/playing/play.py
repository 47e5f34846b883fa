"""`ledgerline play`: create games of bots, follow them, print how they end."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from reprlib import repr as short_repr
from typing import Annotated, Final, NamedTuple

import typer
from rich.table import Table

from schemas.commands import POLICIES
from schemas.errors import InvalidInputError
from schemas.field_types import is_json_value
from services.bootstrap import composition
from services.bootstrap.embedded import run_embedded_server
from services.bots.seat_projection import ViewPageReader
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, in_groups, set_up_logging
from services.cli.output import console, no_such, print_json, print_line
from services.cli.playing.bot_games import create_bot_games, require_own_boards, with_seeds
from services.cli.playing.following import LineDisplay, LiveDisplay, SilentDisplay, WatchedGame, follow_games
from services.cli.tables.game_tables import final_score_table
from services.cli.trains.board import read_played_board
from services.ledger import ViewFollower
from services.referee.games import RULESETS
from services.runtime.settings import read_settings
from services.tournament.simulated_games import read_row
from services.verification.game_repository import GameRepository

app = typer.Typer()
DEFAULT_SEATS: Final = "greedy,greedy,random,random"


class GameOptions(NamedTuple):
    """The rules, board and deal of games of bots."""

    rules: Annotated[
        str | None, typer.Option(help=f"{', '.join(RULESETS)}; else the board's own, or the first of them.")
    ] = None
    board: Annotated[
        str | None, typer.Option(help="A board's name, or a file: docs/reference/boards.md has the forms.")
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
    seats: Annotated[str, typer.Option(help="The bots' policies, one for each seat.")] = DEFAULT_SEATS,
    games: Annotated[int, typer.Option(min=1, max=1000, help="How many games, side by side.")] = 1,
    like: Annotated[
        str | None,
        typer.Option(metavar="FILE:N", help="Game N of a file of `simulate`: its rules, deal and seats."),
    ] = None,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Play whole games with bots, through the real pipeline, and print the final scores."""
    settings = read_settings()
    set_up_logging(settings, quiet=True)
    if like is not None:
        if any(game) or seats != DEFAULT_SEATS or games != 1:
            raise InvalidInputError("--like", "says the game: leave the options for its rules and seats out")
        game, seats = _read_like(like)
    body = create_game_body(game, seats)
    if not isinstance(body.get("board", ""), str):
        require_own_boards(settings)
    began_s = time.monotonic()
    with run_embedded_server(data, settings, processes=games > 1, gateway=False) as running:
        ledger = composition.open_ledger(running.settings)
        created = create_bot_games(ledger, [*with_seeds(body, games)], running.failure_reason)
        games_read = GameRepository(ledger, composition.open_archive_reader(running.settings))
        watched = watch_games(created, games_read, ledger, as_json, running.failure_reason)
        took_s = time.monotonic() - began_s
    if as_json:
        documents = [game.summary_json() for game in watched]
        many = {"games": documents, "seconds": round(took_s, 3)}
        print_json(documents[0] if len(documents) == 1 else many)
    elif games > 1:
        _print_summary(watched, took_s)
        print_line("All of them: ledgerline games")
    else:
        for each in watched:
            console.print(final_score_table(each.state))
            summary = f"Game {each.id}: {each.event_count} events in {each.sequence} entries."
            print_line(f"{summary} See it again: ledgerline replay {each.id}")


def _print_summary(watched: Sequence[WatchedGame], took_s: float) -> None:
    """How often each policy has won, a shared win in parts, and its mean points."""
    seats, wins, points = Counter[str](), Counter[str](), Counter[str]()
    for game in watched:
        assert game.state.result is not None, "all were followed to their ends"
        winners = sum(score.place == 1 for score in game.state.result.scores)
        for score in game.state.result.scores:
            policy = game.state.seats[score.seat].policy or ""
            seats[policy] += 1
            points[policy] += score.total
            wins[policy] += (score.place == 1) / winners  # type: ignore[assignment]  # counts of halves
    table = Table("policy", "seats", "wins", "mean points", title=f"{len(watched)} games")
    for policy, count in sorted(seats.items(), key=lambda item: -wins[item[0]] / item[1]):
        table.add_row(policy, str(count), f"{wins[policy]:g}", f"{points[policy] / count:.1f}")
    console.print(table)
    print_line(f"{len(watched)} games in {took_s:.1f} s, {len(watched) / took_s:.1f} a second.")


def _read_like(like: str) -> tuple[GameOptions, str]:
    """The game and seats of FILE:N. Raises InvalidInputError."""
    file, colon, number = like.rpartition(":")
    if not colon or not number.isdecimal():
        raise InvalidInputError("--like", f"{short_repr(like)} isn't FILE:N, such as games.csv:17")
    row = read_row(Path(file), int(number), "--like")
    options, policies = row["options"], row["policies"]
    if not isinstance(options, dict) or not isinstance(policies, str | list):
        raise InvalidInputError("--like", f"{file} isn't a file that ledgerline simulate wrote")
    given = [f"{name}={json.dumps(value)}" for name, value in options.items()]
    seats = policies if isinstance(policies, str) else ",".join(map(str, policies))
    board = str(row["board"]) or None
    return GameOptions(str(row["rules"]), board, str(row["seed"]), given or None), seats


def create_game_body(game: GameOptions, seats: str) -> dict[str, object]:
    """The body of a creation of a game of bots. Raises InvalidInputError, naming the option."""
    body: dict[str, object] = {}
    rules = game.rules
    if game.board is not None:
        body["board"], default_rules = read_played_board(game.board)
        rules = rules or default_rules
    rules = rules or next(iter(RULESETS))
    if rules not in RULESETS:
        raise InvalidInputError("--rules", no_such("ruleset", rules, RULESETS))
    policies = [policy.strip() for policy in seats.split(",")]
    for policy in policies:
        if policy not in POLICIES:
            raise InvalidInputError("--seats", no_such("policy", policy, POLICIES))
    body["ruleset"] = rules
    body["seats"] = [{"kind": "bot", "policy": policy} for policy in policies]
    body["visibility"] = "public"  # bots have nothing to hide from those who come to the server
    if game.seed is not None:
        if not is_json_value(game.seed):
            raise InvalidInputError("--seed", "can't be written as UTF-8")
        body["seed"] = game.seed
    if game.option:
        body["options"] = dict(_parse_option(option, rules) for option in game.option)
    return body


def _parse_option(option: str, ruleset: str) -> tuple[str, object]:
    """A rule option as NAME=VALUE; the value is JSON or a plain word."""
    name, equals, value = option.partition("=")
    if not equals:
        raise InvalidInputError("--option", f"{short_repr(option)} isn't NAME=VALUE, such as clock_ms=60000")
    known = RULESETS[ruleset].options_schema.write(RULESETS[ruleset].rule_options)
    if name not in known:
        raise InvalidInputError("--option", no_such(f"option of {ruleset}", name, known))
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
    if not as_json and console.is_terminal:
        display = LiveDisplay(watched)
    elif not as_json and len(watched) == 1:
        display = LineDisplay()
    follow_games(views, pages, watched, display, failure_reason)
    return watched
