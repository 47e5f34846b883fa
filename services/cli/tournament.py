"""`ledgerline tournament`: policies against each other in the same deals, and what that shows."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from schemas.errors import InvalidInputError
from schemas.refusals import CommandRefusedError
from services.bootstrap import composition
from services.bootstrap.embedded import run_embedded_server
from services.cli.bot_games import require_own_boards
from services.cli.logged_games import play_logged
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, load_settings, set_up_logging
from services.cli.output import print_json
from services.cli.play import create_game_body
from services.cli.tournament_report import print_report, report_json
from services.runtime.executors import core_count
from services.tournament.core_game import GameSetting
from services.tournament.fast_games import play_fast
from services.tournament.game_results import CSV_FIELDS, GameResult, csv_rows
from services.tournament.knock_out_games import PlayedKnockOut, PlayGames, knock_out_setting, play_knock_out
from services.tournament.report_page import render_page
from services.tournament.schedule import PlannedGame, plan_games
from services.tournament.standings import Standings, compute_standings

app = typer.Typer()
ON_THE_RULES: Final = "Played on the rules alone (--fast): no game was logged."
LOGGED: Final = "Every game is logged."
SeatsOption = Annotated[
    int | None,
    typer.Option(min=2, max=8, help="Seats at each table; 2 if left out, in a knock-out the most."),
]
GamesOption = Annotated[
    int | None,
    typer.Option(min=1, max=100_000, help="At least so many, in whole blocks; 100 if left out."),
]
RuleOption = Annotated[list[str] | None, typer.Option(help="NAME=VALUE: a rule option; may be repeated.")]
ProcessesOption = Annotated[
    int | None, typer.Option(min=1, max=256, help="Of --fast; else as many as there are cores.")
]
KnockOutOption = Annotated[
    bool,
    typer.Option("--knock-out", help="Rounds, whose winners play the next; a policy may be named often."),
]
FastOption = Annotated[
    bool, typer.Option("--fast", help="Play on the rules alone: the same deals, but no logs.")
]
CsvOption = Annotated[Path | None, typer.Option("--csv", help="Write every seat of every game here.")]


@app.command()
def tournament(
    policies: Annotated[str, typer.Option(help="The policies, separated by commas.")] = "planner,greedy",
    rules: Annotated[str | None, typer.Option(help="usa, europe, marklin or trains.")] = None,
    seats: SeatsOption = None,
    games: GamesOption = None,
    seed: Annotated[str, typer.Option(help="The deals follow from it.")] = "tournament",
    board: Annotated[str | None, typer.Option(help="A board's name, or a file.")] = None,
    option: RuleOption = None,
    knock_out: KnockOutOption = False,
    fast: FastOption = False,
    processes: ProcessesOption = None,
    csv_file: CsvOption = None,
    page: Annotated[Path | None, typer.Option(help="Write a page with charts here.")] = None,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Let policies play against each other: every deal in every seating, with 95 % intervals; or a knock-out."""
    names = [name.strip() for name in policies.split(",")]
    body = create_game_body(rules, policies, seed, board, option or ())
    setting = GameSetting(str(body["ruleset"]), body.get("board"), body.get("options"))  # type: ignore[arg-type]  # an object of JSON
    setting = knock_out_setting(setting) if knock_out else setting
    with _open_player(setting, data, fast, processes, as_json) as play_games:
        if knock_out:
            played = _play_knock_out(names, setting.ruleset, seats, games, seed, play_games)
            what, results = f"knock-out of {len(names)} players", played.games
        else:
            planned = plan_games(names, seats or 2, games or 100, seed)
            what, played, results = f"{seats or 2} seats", None, list(play_games(planned))
    how = f"{setting.ruleset}, {what}, seed {seed}. {ON_THE_RULES if fast else LOGGED}"
    standings = compute_standings(results)
    _write_files(results, standings, how, csv_file, page)
    if as_json:
        print_json(report_json(names, how, standings, results, played))
    else:
        print_report(names, how, standings, results, played)


def _play_knock_out(
    policies: Sequence[str],
    ruleset: str,
    seats: int | None,
    games: int | None,
    seed: str,
    play_games: PlayGames,
) -> PlayedKnockOut:
    if games is not None:
        raise InvalidInputError("--games", "a knock-out has as many as its players need")
    return play_knock_out(policies, ruleset, seats, seed, play_games)


@contextmanager
def _open_player(
    setting: GameSetting, data: Path, fast: bool, processes: int | None, quiet: bool
) -> Iterator[PlayGames]:
    """What plays games of this setting, and shows how many are over."""

    def play_on_the_rules(planned: Sequence[PlannedGame]) -> list[GameResult]:
        return _with_progress(
            _naming_options(play_fast(setting, planned, processes or core_count())), len(planned), quiet
        )

    if fast:
        yield play_on_the_rules
        return
    settings = load_settings()
    set_up_logging(settings, quiet=True)
    if not isinstance(setting.board, str | None):
        require_own_boards(settings)
    with (
        run_embedded_server(data, settings, processes=True, gateway=False) as running,
        closing(composition.open_ledger(running.settings)) as ledger,
    ):

        def play_on_the_server(planned: Sequence[PlannedGame]) -> list[GameResult]:
            played = play_logged(setting, planned, ledger, running.failure_reason)
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
