"""`ledgerline trains-server`: a tournament of other people's "Trains" players, over TCP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import httpx
import typer
from typer.models import OptionInfo

from schemas.boards.form import BoardForm
from schemas.boards.trains import read_trains_map
from schemas.errors import InvalidInputError
from services.bootstrap import composition
from services.bootstrap.embedded import run_embedded_server
from services.cli.exit import CommandLineError
from services.cli.game_requests import REQUEST_TIMEOUT_S
from services.cli.logged_tables import LoggedTables
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, load_settings, set_up_logging
from services.cli.trains_progress import PrintedProgress, print_result
from services.runtime.settings import Settings
from services.trains.case_kinds import DECK
from services.trains.cases import read_values
from services.trains.player_state import MAX_SEATS
from services.trains.tournament import choose_map
from services.trains_server.remote_tournament import RemoteResult
from services.trains_server.sign_up import SignUp, SignUpRules
from services.trains_server.tcp_server import run_tcp_tournament
from services.trains_server.time_limits import ClockLimits

app = typer.Typer()
LOOPBACK: Final = "127.0.0.1"
RULES: Final = SignUpRules()
CARDS_DEALT: Final = 4 * MAX_SEATS  # at the start of the largest game


def seconds(text: str) -> OptionInfo:
    """An option that takes seconds."""
    return typer.Option(min=0.01, max=86_400, help=text)  # type: ignore[no-any-return]  # so it is declared


def player_count(text: str) -> OptionInfo:
    """An option that takes a number of players."""
    return typer.Option(min=2, max=50, help=text)  # type: ignore[no-any-return]  # so it is declared


class Tournament(NamedTuple):
    """What is played: the sign-up, the map (None: what players suggest), the cards (None: shuffled)."""

    sign_up_rules: SignUpRules
    form: BoardForm | None
    cards: Sequence[str] | None

    def choose_map(self, forms: Sequence[BoardForm], players: int) -> BoardForm:
        """The map of the games. Raises what `services.trains.tournament.choose_map` does."""
        return choose_map([self.form] if self.form else forms, players, self.cards)


@app.command("trains-server")
def trains_server(
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Listen here; 0 takes a free port.")],
    host: Annotated[str, typer.Option(help="Listen on this address. There is no TLS.")] = LOOPBACK,
    map_file: Annotated[
        Path | None, typer.Option("--map", help="Play on this map, whatever players suggest.")
    ] = None,
    deck: Annotated[Path | None, typer.Option(help="Every game's cards: a JSON list of colours.")] = None,
    wait_s: Annotated[float, seconds("Seconds of sign-up, once or twice.")] = RULES.wait_s,
    enough: Annotated[int, player_count("So many need only one wait.")] = RULES.min_first,
    least: Annotated[int, player_count("Fewer play no tournament.")] = RULES.min_players,
    most: Annotated[int, player_count("So many end the sign-up.")] = RULES.max_players,
    name_s: Annotated[float, seconds("Seconds from connecting to the name.")] = RULES.name_s,
    answer_s: Annotated[float, seconds("Seconds to answer a call, or be removed.")] = RULES.answer_s,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Sign players up over TCP, let them play a knock-out of Trains, and print who won.

    Every game is an ordinary logged game, for `ledgerline replay` and `audit`. With --deck destinations come in
    order too. The protocol (docs/trains.md) has neither TLS nor passwords."""
    if least > most:
        raise InvalidInputError("--least", f"{least} is more than --most, {most}")
    tournament = Tournament(
        SignUpRules(wait_s, enough, least, most, name_s, answer_s),
        read_trains_map(read_one_value(map_file)) if map_file else None,
        read_deck(deck) if deck else None,
    )
    settings = load_settings(port=0, rate=10_000.0, burst=100_000, read_rate=10_000.0, read_burst=100_000)
    set_up_logging(settings, quiet=True)
    progress = PrintedProgress(as_json)
    result = play_on_embedded_server(data, settings, tournament, (host, port), progress)
    if as_json:
        print(json.dumps(result.protocol_json()))
    else:
        print_result(result, data)


def read_one_value(path: Path) -> object:
    """The JSON value of a file. Raises InvalidInputError, naming the file."""
    values = read_values(path)
    if len(values) != 1:
        raise InvalidInputError(str(path), f"must hold one JSON value, not {len(values)}")
    return values[0]


def read_deck(path: Path) -> tuple[str, ...]:
    """The cards of a file. Raises InvalidInputError, naming the file."""
    try:
        cards = DECK.read(read_one_value(path))
    except InvalidInputError as error:
        raise InvalidInputError("--deck", f"{path}: {error.reason}") from None
    if len(cards) < CARDS_DEALT:
        raise InvalidInputError("--deck", f"{path}: {len(cards)} cards, a game may deal {CARDS_DEALT}")
    return cards


def play_on_embedded_server(
    data: Path,
    settings: Settings,
    tournament: Tournament,
    address: tuple[str, int],
    progress: PrintedProgress,
) -> RemoteResult:
    """Run the services, and the tournament on them.

    Raises InvalidInputError: nobody can listen at the address; CommandLineError: the server fails."""
    with run_embedded_server(data, settings, processes=True) as running:
        ledger = composition.open_ledger(running.settings)
        operator_key = settings.operator_key.get_secret_value()
        try:
            with httpx.Client(base_url=running.url, timeout=REQUEST_TIMEOUT_S, trust_env=False) as http:
                tables = LoggedTables(http, ledger, tournament.cards, running.failure_reason, operator_key)
                return asyncio.run(play_over_tcp(tournament, tables, address, progress))
        except httpx.HTTPError as error:
            raise CommandLineError(f"the gateway doesn't answer: {error}") from None


async def play_over_tcp(
    tournament: Tournament, tables: LoggedTables, address: tuple[str, int], progress: PrintedProgress
) -> RemoteResult:
    """Sign players up at the address, and let them play at these tables."""
    sign_up = SignUp(tournament.sign_up_rules, ClockLimits(), progress.sign_up)
    host, port = address
    return await run_tcp_tournament(
        sign_up,
        tables,
        tournament.choose_map,
        host=host,
        port=port,
        on_listening=lambda port: progress.listen(host, port),
        progress=progress,
    )
