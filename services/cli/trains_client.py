"""`ledgerline trains-client`: one of our policies as a player at anybody's "Trains" server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Final

import typer

from schemas.boards.trains import read_trains_map, write_trains_map
from schemas.errors import InvalidInputError
from services.cli.exit import CommandLineError
from services.cli.options import JsonOption
from services.cli.output import print_json, print_line
from services.cli.trains_server import read_one_value
from services.referee.rules.board import load_board
from services.referee.rules.rulesets.trains import TRAINS
from services.trains_server.call_answers import read_name
from services.trains_server.peer_connection import PeerFailedError
from services.trains_server.policy_player import PolicyPlayer
from services.trains_server.strategy_player import STRATEGIES, StrategyPlayer
from services.trains_server.tcp_client import ClientAnswers, ClientPlayer, sign_up_and_play
from services.trains_server.time_limits import ClockLimits

app = typer.Typer()
POLICIES: Final = ", ".join(sorted(TRAINS.bot_policies))


@app.command("trains-client")
def trains_client(
    host: Annotated[str, typer.Argument(help="The server's address.")],
    port: Annotated[int, typer.Argument(min=1, max=65_535, help="Its port.")],
    name: Annotated[str, typer.Option(help="1 to 50 letters.")] = "Ledgerline",
    policy: Annotated[str, typer.Option(help=f"{POLICIES}.")] = "planner",
    map_file: Annotated[
        Path | None, typer.Option("--map", help="Suggest this map; else that of the board iberia.")
    ] = None,
    silence_s: Annotated[
        float, typer.Option(min=0.01, max=86_400, help="Give up after so many seconds without a call.")
    ] = 3_600.0,
    as_json: JsonOption = False,
) -> None:
    """Sign up at a server of the game Trains and play its tournament to the end; docs/trains.md has the protocol.

    The exit code is 1 where the server can't be reached, removes the player or breaks the protocol."""
    read_name(name)
    answers = ClientAnswers(find_player(policy), read_map_to_suggest(map_file))
    try:
        asyncio.run(
            sign_up_and_play(
                name, answers.answer, host=host, port=port, time_limits=ClockLimits(), silence_s=silence_s
            )
        )
    except OSError as error:
        raise CommandLineError(f"{host}:{port} can't be reached: {error.strerror or error}") from None
    except PeerFailedError as error:
        raise CommandLineError(f"the server {error}; that is how it removes a player") from None
    except InvalidInputError as error:
        raise CommandLineError(f"the server breaks the protocol: {error}") from None
    games, won = len(answers.games_won), sum(answers.games_won)
    if as_json:
        print_json({"won": answers.has_won, "games": games, "games_won": won})
    else:
        ending = "won" if answers.has_won else "didn't win"
        print_line(f"{name} {ending} the tournament, and won {won} of its {games} games.")


def find_player(policy: str) -> ClientPlayer:
    """What plays by this policy. Raises InvalidInputError: there is none."""
    if policy not in TRAINS.bot_policies:
        raise InvalidInputError("--policy", f"there is no policy {policy!r} for trains; there is {POLICIES}")
    return StrategyPlayer(STRATEGIES[policy]) if policy in STRATEGIES else PolicyPlayer(policy)


def read_map_to_suggest(path: Path | None) -> object:
    """The map as JSON. Raises InvalidInputError: the file holds none."""
    form = load_board(TRAINS.default_board).form if path is None else read_trains_map(read_one_value(path))
    return write_trains_map(form)
