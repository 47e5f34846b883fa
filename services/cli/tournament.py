"""`ledgerline tournament`: policies against each other in the same deals, and what that shows."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from schemas.errors import InvalidInputError
from schemas.refusals import CommandRefusedError
from services.bootstrap import composition
from services.bootstrap.embedded import run_embedded_server
from services.cli.logged_games import play_logged
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, load_settings, set_up_logging
from services.cli.output import console, print_json, print_line
from services.cli.play import create_game_body
from services.runtime.executors import core_count
from services.tournament.core_game import GameSetting
from services.tournament.fast_games import play_fast
from services.tournament.game_results import CSV_FIELDS, GameResult, csv_rows
from services.tournament.report_page import render_page
from services.tournament.schedule import PlannedGame, plan_games
from services.tournament.standings import Estimate, Standings, compute_standings

app = typer.Typer()


@app.command()
def tournament(
    policies: Annotated[str, typer.Option(help="The policies, separated by commas.")] = "planner,greedy",
    rules: Annotated[str | None, typer.Option(help="usa, europe, marklin or trains.")] = None,
    seats: Annotated[int, typer.Option(min=2, max=8, help="Seats at each table.")] = 2,
    games: Annotated[int, typer.Option(min=1, max=100_000, help="At least so many, in whole blocks.")] = 100,
    seed: Annotated[str, typer.Option(help="The deals follow from it.")] = "tournament",
    board: Annotated[str | None, typer.Option(help="A board's name, or a file.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE: a rule option; may be repeated.")
    ] = None,
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
    """Let policies play against each other: every deal in every seating, with 95 % intervals."""
    names = [name.strip() for name in policies.split(",")]
    body = create_game_body(rules, policies, seed, board, option or ())
    setting = GameSetting(str(body["ruleset"]), body.get("board"), body.get("options"))  # type: ignore[arg-type]  # an object of JSON
    planned = plan_games(names, seats, games, seed)
    if fast:
        played: Iterable[GameResult] = play_fast(setting, planned, processes or core_count())
        results = _with_progress(_naming_options(played), len(planned), as_json)
    else:
        results = _play_with_server(setting, planned, data, as_json)
    standings = compute_standings(results)
    how = f"{setting.ruleset}, {seats} seats, seed {seed}. " + (
        "Played on the rules alone (--fast): no game was logged." if fast else "Every game is logged."
    )
    _write_files(results, standings, how, csv_file, page)
    if as_json:
        print_json({"how": how, "standings": _standings_json(standings), "games": list(map(asdict, results))})
    else:
        console.print(standings_table(standings))
        print_line(f"The winner's score: {_in_words(standings.winner_score, 1)}. {len(results)} games. {how}")


def _play_with_server(
    setting: GameSetting, planned: Sequence[PlannedGame], data: Path, quiet: bool
) -> list[GameResult]:
    settings = load_settings(port=0, rate=10_000.0, burst=100_000, read_rate=10_000.0, read_burst=100_000)
    settings = settings.model_copy(update={"open_games": max(settings.open_games, 2 * len(planned))})
    set_up_logging(settings, quiet=True)
    with run_embedded_server(data, settings) as running:
        played = play_logged(
            setting,
            planned,
            running.url,
            composition.open_ledger(running.settings),
            running.failure_reason,
            settings.operator_key.get_secret_value(),
        )
        return _with_progress(played, len(planned), quiet)


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


def standings_table(standings: Standings) -> Table:
    """The standings as a table."""
    table = Table("policy", title="Standings, with 95 % intervals over seed blocks")
    for heading in ("seats played", "wins %", "score", "tickets made %", "rating"):
        table.add_column(heading, justify="right")
    for each in standings.policies:
        table.add_row(
            each.policy,
            str(each.games),
            _in_words(each.win_rate, 100),
            _in_words(each.score, 1),
            _in_words(each.tickets_made, 100),
            f"{each.rating:.1f}",
        )
    return table


def _in_words(value: Estimate, factor: float) -> str:
    text = f"{value.mean * factor:.1f}"
    return text if value.margin is None else f"{text} ± {value.margin * factor:.1f}"


def _standings_json(standings: Standings) -> dict[str, object]:
    return {
        "policies": [asdict(each) for each in standings.policies],
        "winner_score": asdict(standings.winner_score),
        "beats": [{"policy": a, "over": b, "share": share} for (a, b), share in standings.beats.items()],
    }
