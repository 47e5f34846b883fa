"""`ledgerline simulate`: whole games on the rules alone, on all cores, as rows of a file."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Annotated, NamedTuple

import typer

from schemas.errors import InvalidInputError
from schemas.refusals import CommandRefusedError
from services.cli.options import JsonOption, in_groups
from services.cli.output import CommandLineError, counted, own_command, path_here, print_json, print_line
from services.cli.playing.play import DEFAULT_SEATS, GameOptions, create_game_body
from services.runtime.executors import core_count
from services.tournament.simulated_games import open_rows, plan_simulation, row_of
from services.tournament.viewed_game import EndlessGameError, GameSetting, play_fast

app = typer.Typer()


class SimulationOptions(NamedTuple):
    """How many games, of whom, and where they go."""

    seats: Annotated[
        str, typer.Option(help="The bots' policies; each deal is played in every rotation of them.")
    ] = DEFAULT_SEATS
    games: Annotated[int, typer.Option(min=1, max=100_000_000, help="How many games.")] = 1_000
    out: Annotated[
        Path, typer.Option(help="The file, a row for each game: .csv, .jsonl, or .parquet (needs pyarrow).")
    ] = Path("games.csv")
    processes: Annotated[
        int | None, typer.Option(min=1, max=256, help="As many as there are cores, if left out.")
    ] = None


@app.command()
@in_groups
def simulate(simulation: SimulationOptions, game: GameOptions, as_json: JsonOption = False) -> None:
    """Play many whole games on the rules alone, without logs, into a file for your own analysis.

    Without --seed it is always the same games. Any of them is played into a real log by
    `ledgerline play --like games.csv:17`."""
    body = create_game_body(game, simulation.seats)
    setting = GameSetting(str(body["ruleset"]), body.get("board"), body.get("options"))  # type: ignore[arg-type]  # an object of JSON
    names = [name.strip() for name in simulation.seats.split(",")]
    where = {"rules": setting.ruleset, "board": game.board or "", "options": setting.options or {}}
    planned = plan_simulation(names, simulation.games, game.seed or "simulate")
    processes, start, written = simulation.processes or core_count(), monotonic(), 0
    try:
        with open_rows(simulation.out) as write:
            played = play_fast(setting, planned, min(processes, simulation.games))
            for result in counted("games", played, simulation.games):
                written += 1
                write(row_of(written, result, where))
    except CommandRefusedError as error:  # a game that can't be created is the fault of the options
        raise InvalidInputError("simulate", error.reason, error.rule) from None
    except EndlessGameError as error:
        raise CommandLineError(f"{error}; {simulation.out} has the {written} games before it") from None
    except KeyboardInterrupt:
        print_line(f"{simulation.out} has the {written} games before the stop.")
        raise
    took = monotonic() - start
    if as_json:
        print_json({"games": written, "out": str(simulation.out), "seconds": round(took, 3)})
        return
    print_line(f"{written} games in {took:.1f} s, {written / took:.0f} a second, in {simulation.out}.")
    print_line(f"Play one into a log: {own_command()} play --like {path_here(simulation.out)}:{written}")
