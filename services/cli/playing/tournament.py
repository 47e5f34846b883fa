"""`ledgerline tournament`: policies against each other in the same deals, and what that shows."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer
from rich.table import Table

from schemas.errors import InvalidInputError
from schemas.refusals import CommandRefusedError
from services.bootstrap import composition
from services.bootstrap.embedded import run_embedded_server
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, in_groups, set_up_logging
from services.cli.output import console, counted, print_json, print_line
from services.cli.playing.bot_games import create_bot_games, require_own_boards
from services.cli.playing.following import SilentDisplay, WatchedGame, follow_games
from services.cli.playing.play import GameOptions, create_game_body
from services.ledger import RedisLedger
from services.referee.games import RULESETS
from services.runtime.executors import core_count
from services.runtime.settings import read_settings
from services.tournament.game_results import (
    GameResult,
    PlannedGame,
    csv_fields,
    csv_rows,
    plan_games,
    result_of,
)
from services.tournament.knock_out import (
    KnockOutGame,
    PlayedKnockOut,
    PlayGames,
    knock_out_setting,
    outcome_of,
    play_knock_out,
)
from services.tournament.report_page import render_page
from services.tournament.standings import Estimate, Standings, compute_standings
from services.tournament.viewed_game import GameSetting, play_fast

app = typer.Typer()
BATCH: Final = 50  # games side by side


class EntrantOptions(NamedTuple):
    """The policies of a tournament, and how they meet."""

    policies: Annotated[str, typer.Option(help="The policies, separated by commas.")] = "planner,greedy"
    seats: Annotated[
        int | None,
        typer.Option(
            min=2, max=8, help="Seats at each table; as few as can be if left out, in a knock-out the most."
        ),
    ] = None
    games: Annotated[
        int | None,
        typer.Option(min=1, max=100_000, help="At least so many, in whole blocks; 100 if left out."),
    ] = None
    knock_out: Annotated[
        bool,
        typer.Option("--knock-out", help="Rounds, whose winners play the next; a policy may be named often."),
    ] = False


class PlaceOptions(NamedTuple):
    """The place where a tournament's games are played: on the server, or on the rules alone."""

    fast: Annotated[
        bool, typer.Option("--fast", help="Play on the rules alone: the same deals, but no logs.")
    ] = False
    processes: Annotated[
        int | None, typer.Option(min=1, max=256, help="Of --fast; else as many as there are cores.")
    ] = None
    data: DataOption = DEFAULT_DATA


class FileOptions(NamedTuple):
    """The files of a tournament."""

    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write every seat of every game here.")] = (
        None
    )
    page: Annotated[Path | None, typer.Option(help="Write a page with charts here.")] = None


@app.command()
@in_groups
def tournament(
    entrants: EntrantOptions,
    game: GameOptions,
    place: PlaceOptions,
    files: FileOptions,
    as_json: JsonOption = False,
) -> None:
    """Let policies play against each other: every deal in every seating, with 95 % intervals; or a knock-out.

    Without --seed it is always the same deals."""
    names, seed = [name.strip() for name in entrants.policies.split(",")], game.seed or "tournament"
    body = create_game_body(game, entrants.policies)
    setting = GameSetting(str(body["ruleset"]), body.get("board"), body.get("options"))  # type: ignore[arg-type]  # an object of JSON
    setting = knock_out_setting(setting) if entrants.knock_out else setting
    with _open_player(setting, place) as play_games:
        if entrants.knock_out:
            if entrants.games is not None:
                raise InvalidInputError("--games", "a knock-out has as many as its players need")
            played = play_knock_out(names, setting.ruleset, entrants.seats, seed, play_games)
            what, results = f"knock-out of {len(names)} players", played.games
        else:
            seats = entrants.seats or max(2, RULESETS[setting.ruleset].rule_options.seats_least)
            planned = plan_games(names, seats, entrants.games or 100, seed)
            what, played, results = f"{seats} seats", None, list(play_games(planned))
    logged = "Every game is logged."
    if place.fast:
        logged = "Played on the rules alone (--fast): no game was logged."
    how = f"{setting.ruleset}, {what}, seed {seed}. {logged}"
    standings = compute_standings(results)
    _write_files(results, standings, how, files)
    if as_json:
        document = {
            "how": how,
            "standings": _standings_json(standings),
            "games": list(map(asdict, results)),
        }
        print_json(document | ({"knock_out": _knock_out_json(names, played)} if played is not None else {}))
        return
    if played is not None:
        console.print(_rounds_table(names, played))
        print_line(_winners_line(names, played))
    console.print(_standings_table(standings))
    print_line(f"The winner's score: {_in_words(standings.winner_score, 1)}. {len(results)} games. {how}")


@contextmanager
def _open_player(setting: GameSetting, place: PlaceOptions) -> Iterator[PlayGames]:
    """Yield a function that plays games of this setting, and shows how many are over."""

    def play_on_the_rules(planned: Sequence[PlannedGame]) -> list[GameResult]:
        try:
            played = play_fast(setting, planned, min(place.processes or core_count(), len(planned)))
            return [*counted("games", played, len(planned))]
        except CommandRefusedError as error:  # a game that can't be created is the fault of the options
            raise InvalidInputError("tournament", error.reason, error.rule) from None

    if place.fast:
        yield play_on_the_rules
        return
    settings = read_settings()
    set_up_logging(settings, quiet=True)
    if not isinstance(setting.board, str | None):
        require_own_boards(settings)
    with (
        run_embedded_server(place.data, settings, processes=True, gateway=False) as running,
        closing(composition.open_ledger(running.settings)) as ledger,
    ):

        def play_on_the_server(planned: Sequence[PlannedGame]) -> list[GameResult]:
            played = _play_logged(setting, planned, ledger, running.failure_reason)
            return [*counted("games", played, len(planned))]

        yield play_on_the_server


def _write_files(results: Sequence[GameResult], standings: Standings, how: str, files: FileOptions) -> None:
    """Raises InvalidInputError, naming the option, where a file can't be written."""
    try:
        option = "--csv"
        if files.csv_file is not None:
            with files.csv_file.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, csv_fields(results))
                writer.writeheader()
                writer.writerows(csv_rows(results))
        option = "--page"
        if files.page is not None:
            files.page.write_text(render_page("Tournament", how, results, standings), encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(option, f"can't be written: {error.strerror}") from None


def _standings_table(standings: Standings) -> Table:
    table = Table("policy", title="Standings, with 95 % intervals over seed blocks")
    counted = dict.fromkeys(name for each in standings.policies for name in each.shares)
    for heading in (
        "seats played",
        "wins %",
        "score",
        *(f"{name} %" for name in counted),
        "rating",
    ):
        table.add_column(heading, justify="right")
    for each in standings.policies:
        wins, score = _in_words(each.win_rate, 100), _in_words(each.score, 1)
        shares = [_in_words(each.shares[name], 100) for name in counted]
        table.add_row(each.policy, str(each.games), wins, score, *shares, f"{each.rating:.0f}")
    return table


def _in_words(value: Estimate, factor: float) -> str:
    """A mean with its interval, as the page of a tournament has it."""
    text = f"{value.mean * factor:.1f}"
    if value.low is None or value.high is None:
        return text
    return f"{text} ({value.low * factor:.1f} to {value.high * factor:.1f})"


def _standings_json(standings: Standings) -> dict[str, object]:
    return {
        "policies": [asdict(each) for each in standings.policies],
        "winner_score": asdict(standings.winner_score),
        "beats": [{"policy": a, "over": b, "share": share} for (a, b), share in standings.beats.items()],
    }


def _rounds_table(policies: Sequence[str], played: PlayedKnockOut) -> Table:
    """A row for each game of each round; players by their numbers, in the order of sign-up."""
    table = Table("round", "players", "winners", "removed", "game", title="Knock-out")
    for number, games in enumerate(played.rounds, 1):
        for game in games:
            ranks, removed = _ranks(game)
            groups = (game.players, ranks[0] if ranks else (), removed)
            names = (_player_names(policies, group) for group in groups)
            table.add_row(str(number), *names, game.result.game or "")
    return table


def _winners_line(policies: Sequence[str], played: PlayedKnockOut) -> str:
    winners, removed = played.result
    line = f"Winners: {_player_names(policies, winners)}." if winners else "Nobody has won."
    return line + (f" Removed: {_player_names(policies, removed)}." if removed else "")


def _knock_out_json(policies: Sequence[str], played: PlayedKnockOut) -> dict[str, object]:
    """Every round's games; players are indices into `policies`."""
    return {
        "policies": list(policies),
        "rounds": [
            [
                {"players": game.players, "game": game.result.game, "ranks": ranks, "removed": removed}
                for game in games
                for ranks, removed in [_ranks(game)]
            ]
            for games in played.rounds
        ],
        "winners": played.result.winners,
        "removed": played.result.removed,
    }


def _ranks(game: KnockOutGame) -> tuple[list[list[int]], list[int]]:
    """The players of each rank, and those that were removed."""
    outcome = outcome_of(game.result)
    return (
        [[game.players[seat] for seat in rank] for rank in outcome.ranks],
        [game.players[seat] for seat in outcome.removed],
    )


def _player_names(policies: Sequence[str], players: Sequence[int]) -> str:
    return ", ".join(f"{player + 1} {policies[player]}" for player in players)


def _play_logged(
    setting: GameSetting,
    games: Sequence[PlannedGame],
    ledger: RedisLedger,
    failure_reason: Callable[[], str],
) -> Iterator[GameResult]:
    """Play games through the real pipeline; the results come in their order. A play-off that follows doesn't count.

    Raises InvalidInputError where a game can't be created, CommandLineError where the server fails."""
    rest = iter(games)
    while batch := list(islice(rest, BATCH)):
        bodies = [_creation_body(setting, planned) for planned in batch]
        ids = create_bot_games(ledger, bodies, failure_reason)
        watched = [WatchedGame(game) for game in ids]
        follow_games(ledger, ledger, watched, SilentDisplay(), failure_reason)
        for planned, game in zip(batch, watched, strict=False):
            yield result_of(planned, game.id, game.state)


def _creation_body(setting: GameSetting, planned: PlannedGame) -> dict[str, object]:
    body: dict[str, object] = {"ruleset": setting.ruleset, "seed": planned.seed, "visibility": "unlisted"}
    if setting.board is not None:
        body["board"] = setting.board
    if setting.options:
        body["options"] = dict(setting.options)
    return {**body, "seats": [{"kind": "bot", "policy": policy} for policy in planned.policies]}
