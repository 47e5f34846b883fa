"""`ledgerline trains-cases`, `trains-server` and `trains-client`: the game "Trains" with other people's programs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import httpx
import typer
from typer.models import OptionInfo

from schemas.errors import InvalidInputError
from schemas.trains.boards.form import BoardForm
from schemas.trains.boards.trains import read_trains_map, write_trains_map
from services.bootstrap import composition
from services.bootstrap.embedded import run_embedded_server
from services.cli.exit import CommandLineError
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, in_groups, set_up_logging
from services.cli.output import console, print_json, print_line
from services.cli.trains.remote_tables import REQUEST_TIMEOUT_S, LoggedTables, PrintedProgress, print_result
from services.referee.games.trains.board import load_board
from services.referee.games.trains.rulesets.trains import TRAINS
from services.runtime.settings import Settings, read_settings
from services.trains.case_kinds import DECK
from services.trains.cases import read_values, run_folder, tally_json, tally_table, unanswered_lines
from services.trains.given_cards import choose_map
from services.trains.player_state import MAX_SEATS
from services.trains_server.peer_connection import ClockLimits, PeerFailedError
from services.trains_server.protocol_calls import read_name
from services.trains_server.remote_tournament import RemoteResult
from services.trains_server.server_cases import ALL_KINDS
from services.trains_server.tcp_client import (
    STRATEGIES,
    ClientAnswers,
    ClientPlayer,
    PolicyPlayer,
    StrategyPlayer,
    sign_up_and_play,
)
from services.trains_server.tcp_server import SignUp, SignUpRules, run_tcp_tournament

app = typer.Typer()
POLICIES: Final = ", ".join(sorted(TRAINS.bot_policies))
LOOPBACK: Final = "127.0.0.1"
RULES: Final = SignUpRules()
CARDS_DEALT: Final = 4 * MAX_SEATS  # at the start of the largest game


def _seconds(text: str) -> OptionInfo:
    return typer.Option(min=0.01, max=86_400, help=text)  # type: ignore[no-any-return]  # so it is declared


def _player_count(text: str) -> OptionInfo:
    return typer.Option(min=2, max=50, help=text)  # type: ignore[no-any-return]  # so it is declared


class SignUpOptions(NamedTuple):
    """The limits of a sign-up."""

    wait_s: Annotated[float, _seconds("Seconds of sign-up, once or twice.")] = RULES.wait_s
    enough: Annotated[int, _player_count("So many need only one wait.")] = RULES.min_first
    least: Annotated[int, _player_count("Fewer play no tournament.")] = RULES.min_players
    most: Annotated[int, _player_count("So many end the sign-up.")] = RULES.max_players
    name_s: Annotated[float, _seconds("Seconds from connecting to the name.")] = RULES.name_s
    answer_s: Annotated[float, _seconds("Seconds to answer a call, or be removed.")] = RULES.answer_s


class TableOptions(NamedTuple):
    """The map and the cards of every game, where players don't choose them."""

    map_file: Annotated[
        Path | None, typer.Option("--map", help="Play on this map, whatever players suggest.")
    ] = None
    deck: Annotated[Path | None, typer.Option(help="Every game's cards: a JSON list of colours.")] = None


class PlayerOptions(NamedTuple):
    """A player of ours at somebody's server."""

    name: Annotated[str, typer.Option(help="1 to 50 letters.")] = "Ledgerline"
    policy: Annotated[str, typer.Option(help=f"{POLICIES}.")] = "planner"
    map_file: Annotated[
        Path | None, typer.Option("--map", help="Suggest this map; else that of the board iberia.")
    ] = None


class Tournament(NamedTuple):
    """A tournament to be played: its sign-up, its map (None: what players suggest), its cards (None: shuffled)."""

    sign_up_rules: SignUpRules
    form: BoardForm | None
    cards: Sequence[str] | None

    def choose_map(self, forms: Sequence[BoardForm], players: int) -> BoardForm:
        """The map of the games; raises what `services.trains.given_cards.choose_map` does."""
        return choose_map([self.form] if self.form else forms, players, self.cards)


@app.command("trains-server")
@in_groups
def trains_server(
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Listen here; 0 takes a free port.")],
    table: TableOptions,
    sign_up: SignUpOptions,
    host: Annotated[str, typer.Option(help="Listen on this address. There is no TLS.")] = LOOPBACK,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Sign players up over TCP, let them play a knock-out of Trains, and print who won.

    Every game is an ordinary logged game, for `ledgerline replay` and `audit`. With --deck destinations come in
    order too. The protocol (docs/trains.md) has neither TLS nor passwords."""
    if sign_up.least > sign_up.most:
        raise InvalidInputError("--least", f"{sign_up.least} is more than --most, {sign_up.most}")
    tournament = Tournament(
        SignUpRules(*sign_up),
        read_trains_map(_read_one_value(table.map_file)) if table.map_file else None,
        _read_deck(table.deck) if table.deck else None,
    )
    settings = read_settings(port=0, rate=10_000.0, read_rate=10_000.0)
    set_up_logging(settings, quiet=True)
    progress = PrintedProgress(as_json)
    result = _play_on_embedded_server(data, settings, tournament, (host, port), progress)
    if as_json:
        print(json.dumps(result.protocol_json()))
    else:
        print_result(result, data)


def _read_one_value(path: Path) -> object:
    """The JSON value of a file. Raises InvalidInputError, naming the file."""
    values = read_values(path)
    if len(values) != 1:
        raise InvalidInputError(str(path), f"must hold one JSON value, not {len(values)}")
    return values[0]


def _read_deck(path: Path) -> tuple[str, ...]:
    """The cards of a file. Raises InvalidInputError, naming the file."""
    try:
        cards = DECK.read(_read_one_value(path))
    except InvalidInputError as error:
        raise InvalidInputError("--deck", f"{path}: {error.reason}") from None
    if len(cards) < CARDS_DEALT:
        raise InvalidInputError("--deck", f"{path}: {len(cards)} cards, a game may deal {CARDS_DEALT}")
    return cards


def _play_on_embedded_server(
    data: Path,
    settings: Settings,
    tournament: Tournament,
    address: tuple[str, int],
    progress: PrintedProgress,
) -> RemoteResult:
    """Run the services; sign players up at the address, and let them play.

    Raises InvalidInputError: nobody can listen at the address; CommandLineError: the server fails."""
    with (
        run_embedded_server(data, settings, processes=True) as running,
        httpx.Client(base_url=running.url, timeout=REQUEST_TIMEOUT_S, trust_env=False) as http,
    ):
        ledger = composition.open_ledger(running.settings)
        operator_key = settings.operator_key.get_secret_value()
        tournament_over_tcp = run_tcp_tournament(
            SignUp(tournament.sign_up_rules, ClockLimits(), progress),
            LoggedTables(http, ledger, tournament.cards, running.failure_reason, operator_key),
            tournament.choose_map,
            address,
        )
        try:
            return asyncio.run(tournament_over_tcp)
        except httpx.HTTPError as error:
            raise CommandLineError(f"the gateway doesn't answer: {error}") from None


@app.command("trains-client")
@in_groups
def trains_client(
    host: Annotated[str, typer.Argument(help="The server's address.")],
    port: Annotated[int, typer.Argument(min=1, max=65_535, help="Its port.")],
    player: PlayerOptions,
    silence_s: Annotated[
        float, typer.Option(min=0.01, max=86_400, help="Give up after so many seconds without a call.")
    ] = 3_600.0,
    as_json: JsonOption = False,
) -> None:
    """Sign up at a server of the game Trains and play its tournament to the end; docs/trains.md has the protocol.

    The exit code is 1 where the server can't be reached, removes the player or breaks the protocol."""
    name, policy, map_file = player
    read_name(name)
    board = load_board(TRAINS.default_board).form
    suggested = read_trains_map(_read_one_value(map_file)) if map_file else board
    answers = ClientAnswers(_find_player(policy), write_trains_map(suggested))
    played = sign_up_and_play(
        name, answers.answer, host=host, port=port, time_limits=ClockLimits(), silence_s=silence_s
    )
    try:
        asyncio.run(played)
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


def _find_player(policy: str) -> ClientPlayer:
    """A player by this policy. Raises InvalidInputError: there is none."""
    if policy not in TRAINS.bot_policies:
        raise InvalidInputError("--policy", f"there is no policy {policy!r} for trains; there is {POLICIES}")
    return StrategyPlayer(STRATEGIES[policy]) if policy in STRATEGIES else PolicyPlayer(policy)


@app.command("trains-cases")
def trains_cases(
    folder: Annotated[Path, typer.Argument(help="A folder of cases with its index.json.")],
    as_json: JsonOption = False,
) -> None:
    """Answer a folder of Trains cases with our own core, and over TCP on this machine; print a tally by kind.

    The exit code is 1 if a case failed or isn't answered, 2 if the folder's index can't be read."""
    tallies = run_folder(folder, as_json, ALL_KINDS)
    if as_json:
        print_json(tally_json(tallies))
    else:
        console.print(tally_table(tallies))
        for line in unanswered_lines(tallies):
            print_line(line)
    if any(tally.failures or tally.unanswered for tally in tallies):
        raise typer.Exit(1)
