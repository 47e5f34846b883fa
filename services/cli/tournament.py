"""`ledgerline tournament`: policies against each other in the same deals, and what that shows."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from schemas.errors import InvalidInputError
from schemas.refusals import CommandRefusedError
from services.bootstrap import composition
from services.bootstrap.embedded import run_embedded_server
from services.cli.logged_games import play_logged
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, load_settings, set_up_logging
from services.cli.output import console, print_json, print_line
from services.cli.play import create_game_body
from services.cli.tournament_report import (
    in_words,
    knock_out_json,
    rounds_table,
    standings_json,
    standings_table,
    winners_line,
)
from services.runtime.executors import core_count
from services.tournament.core_game import GameSetting
from services.tournament.fast_games import play_fast
from services.tournament.game_results import CSV_FIELDS, GameResult, csv_rows
from services.tournament.knock_out_games import PlayGames, knock_out_setting, play_knock_out
from services.tournament.report_page import render_page
from services.tournament.schedule import PlannedGame, plan_games
from services.tournament.standings import Standings, compute_standings

app = typer.Typer()


@app.command()
def tournament(
    policies: Annotated[str, typer.Option(help="The policies, separated by commas.")] = "planner,greedy",
    rules: Annotated[str | None, typer.Option(help="usa, europe, marklin or trains.")] = None,
    seats: Annotated[
        int | None,
        typer.Option(min=2, max=8, help="Seats at each table; 2 if left out, in a knock-out the most."),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(min=1, max=100_000, help="At least so many, in whole blocks; 100 if left out."),
    ] = None,
    seed: Annotated[str, typer.Option(help="The deals follow from it.")] = "tournament",
    board: Annotated[str | None, typer.Option(help="A board's name, or a file.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE: a rule option; may be repeated.")
    ] = None,
    knock_out: Annotated[
        bool,
        typer.Option("--knock-out", help="Rounds, whose winners play the next; a policy may be named often."),
    ] = False,
    fast: Annotated[
        bool, typer.Option("--fast", help="Play on the rules alone: the same deals, but no logs.")
    ] = False,
    processes: Annotated[
        int | None, typer.Option(min=1, max=256, help="Of --fast; else as many as there are cores.")
    ] = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", help="Write every seat of every game here.")
    ] = None,
    page: Annotated[Path | None, typer.Option(help="Write a page with charts here.")] = None,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Let policies play against each other: every deal in every seating, with 95 % intervals; or a knock-out."""
    names = [name.strip() for name in policies.split(",")]
    body = create_game_body(rules, policies, seed, board, option or ())
    setting = GameSetting(str(body["ruleset"]), body.get("board"), body.get("options"))  # type: ignore[arg-type]  # an object of JSON
    played_how = (
        "Played on the rules alone (--fast): no game was logged." if fast else "Every game is logged."
    )
    if knock_out:
        if games is not None:
            raise InvalidInputError("--games", "a knock-out has as many as its players need")
        how = f"{setting.ruleset}, knock-out of {len(names)} players, seed {seed}. {played_how}"
        setting = knock_out_setting(setting)
        with _open_player(setting, data, fast, processes or core_count(), as_json) as play_games:
            played = play_knock_out(names, setting.ruleset, seats, seed, play_games)
        results = played.games
    else:
        how = f"{setting.ruleset}, {seats or 2} seats, seed {seed}. {played_how}"
        planned = plan_games(names, seats or 2, games or 100, seed)
        with _open_player(setting, data, fast, processes or core_count(), as_json) as play_games:
            results = list(play_games(planned))
    standings = compute_standings(results)
    _write_files(results, standings, how, csv_file, page)
    if as_json:
        document = {"how": how, "standings": standings_json(standings), "games": list(map(asdict, results))}
        print_json(document | ({"knock_out": knock_out_json(names, played)} if knock_out else {}))
        return
    if knock_out:
        console.print(rounds_table(names, played))
        print_line(winners_line(names, played))
    console.print(standings_table(standings))
    print_line(f"The winner's score: {in_words(standings.winner_score, 1)}. {len(results)} games. {how}")


@contextmanager
def _open_player(
    setting: GameSetting, data: Path, fast: bool, processes: int, quiet: bool
) -> Iterator[PlayGames]:
    """What plays games of this setting, and shows how many are over."""

    def play_on_the_rules(planned: Sequence[PlannedGame]) -> list[GameResult]:
        return _with_progress(_naming_options(play_fast(setting, planned, processes)), len(planned), quiet)

    if fast:
        yield play_on_the_rules
        return
    settings = load_settings(
        port=0, rate=10_000.0, burst=100_000, read_rate=10_000.0, read_burst=100_000, open_games=1_000_000
    )
    set_up_logging(settings, quiet=True)
    with (
        run_embedded_server(data, settings) as running,
        closing(composition.open_ledger(running.settings)) as views,
    ):
        operator_key = settings.operator_key.get_secret_value()

        def play_on_the_server(planned: Sequence[PlannedGame]) -> list[GameResult]:
            played = play_logged(setting, planned, running.url, views, running.failure_reason, operator_key)
            return _with_progress(played, len(planned), quiet)

        yield play_on_the_server


def _naming_options(played: Iterable[GameResult]) -> Iterable[GameResult]:
    """The same; a game that can't be created is the fault of the options."""
    try:
        yield from played
    except CommandRefusedError as error:
        raise InvalidInputError("tournament", error.reason, error.rule) from None


def _with_progress(played: Iterable[GameResult], total: int, quiet: bool) -> list[GameResult]:
    """All results; on a terminal a bar shows how many there are, and the time left."""
    progress = Progress(
        TextColumn("games"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=quiet or not Console(stderr=True).is_terminal,
    )
    with progress:
        return list(progress.track(played, total=total))


def _write_files(
    results: Sequence[GameResult], standings: Standings, how: str, csv_file: Path | None, page: Path | None
) -> None:
    """Raises InvalidInputError, naming the option, where a file can't be written."""
    try:
        option = "--csv"
        if csv_file is not None:
            with csv_file.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, CSV_FIELDS)
                writer.writeheader()
                writer.writerows(csv_rows(results))
        option = "--page"
        if page is not None:
            page.write_text(render_page("Tournament", how, results, standings), encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(option, f"can't be written: {error.strerror}") from None
