"""`ledgerline trains-cases`, `trains-server` and `trains-client`: the game "Trains" with other people's programs."""

from __future__ import annotations

import asyncio
import json
import secrets
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import httpx
import typer
from rich.table import Table as PrintedTable
from typer.models import OptionInfo

from schemas.commands import Command, write_command
from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from schemas.trains.boards.form import BoardForm
from schemas.trains.boards.trains import read_trains_map, write_trains_map
from services.bootstrap import composition
from services.bootstrap.embedded import run_embedded_server
from services.bots.seat_projection import GameProjections, ViewPageReader
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, in_groups, set_up_logging
from services.cli.output import (
    CommandLineError,
    PlainTextConsole,
    console,
    no_such,
    own_command,
    print_json,
    print_line,
)
from services.cli.playing.following import StallWatch
from services.referee.games import GameState
from services.referee.games.trains.board import load_board
from services.referee.games.trains.rulesets import TRAINS
from services.referee.player_names import imitates_bot, look_alike
from services.runtime.settings import Settings, read_settings
from services.text.formatting import pluralize
from services.trains.cases import DECK, read_values, run_folder, tally_json, tally_table, unanswered_lines
from services.trains.given_cards import choose_map, creation_command
from services.trains.player_state import MAX_SEATS
from services.trains_server.peer_connection import ClockLimits, PeerFailedError
from services.trains_server.protocol_calls import read_name
from services.trains_server.remote_tournament import (
    PlayedGame,
    Progress,
    RemotePlayer,
    RemoteResult,
    Table,
    Turn,
)
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
    order too. The protocol (docs/how-to/trains.md) has neither TLS nor passwords."""
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
    """Sign up at a server of the game Trains and play its tournament to the end; docs/how-to/trains.md has the protocol.

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
        raise InvalidInputError("--policy", no_such("policy for trains", policy, sorted(TRAINS.bot_policies)))
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


REQUEST_TIMEOUT_S: Final = 30.0  # then the same request is sent again
RETRY_DELAY_S: Final = 0.2
WITHOUT_VERDICT: Final = (httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.ACCEPTED)
MAX_SEAT_NAME: Final = 40  # characters; a player of Trains may have 50


class LoggedTable:
    """One game. Its seats send their commands with their tokens, and each sees its own verified view."""

    def __init__(
        self, http: httpx.Client, views: ViewPageReader, game: str, tokens: Sequence[str], stalls: StallWatch
    ) -> None:
        self.game = game
        self._http, self._views, self._tokens, self._stalls = http, views, tokens, stalls
        self._projections = GameProjections(game, range(len(tokens)))
        self._latest: Seat = 0  # whose view was read last

    async def next_turn(self) -> Turn | None:
        """The next seat to act, with its state; None once the game is over. Raises CommandLineError: the server fails."""
        return await asyncio.to_thread(self._next_turn)

    async def send(self, seat: Seat, command: Command) -> GameState:
        """Send a seat's command; returns the state after it. Raises CommandLineError: the server fails."""
        return await asyncio.to_thread(self._send, seat, command)

    async def final_state(self) -> GameState:
        """The state at the end, as the last seat that acted sees it."""
        return self._projections.current(self._latest).state

    def _next_turn(self) -> Turn | None:
        state = self._read(self._latest)
        if state.result:
            return None
        (seat,) = state.pending_choices
        return Turn(seat, self._read(seat))

    def _send(self, seat: Seat, command: Command) -> GameState:
        """Send a command. One that the rules refuse is answered as a problem, and its entry removes the seat."""
        before = self._projections.current(seat).sequence
        headers = {
            "Authorization": f"Bearer {self._tokens[seat]}",
            "Idempotency-Key": f"trains-{secrets.token_hex(8)}",
        }
        path = f"/v1/games/{self.game}/commands"
        refusal: InvalidInputError | None = None
        try:
            post_until_answered(self._http, path, write_command(command), headers, self._stalls)
        except InvalidInputError as error:
            refusal = error
        state = self._read(seat)
        if self._projections.current(seat).sequence == before:
            raise CommandLineError(f"game {self.game} doesn't go on: {refusal}")
        return state

    def _read(self, seat: Seat) -> GameState:
        self._latest = seat
        return self._projections.refresh(self._views, seat).state


class LoggedTables:
    """Opens tables at a gateway; `cards` is the deck of each, or None for shuffled ones."""

    def __init__(
        self,
        http: httpx.Client,
        views: ViewPageReader,
        cards: Sequence[str] | None,
        failure_reason: Callable[[], str],
        operator_key: str = "",
    ) -> None:
        self._http, self._views, self._cards = http, views, cards
        self._failure_reason, self._operator_key = failure_reason, operator_key

    async def open_table(self, form: BoardForm, names: Sequence[str]) -> Table:
        """Create a game, and seat these players. Raises CommandLineError: the server fails; InvalidInputError: it refuses."""
        return await asyncio.to_thread(self._open, form, names)

    def _open(self, form: BoardForm, names: Sequence[str]) -> LoggedTable:
        stalls = StallWatch(self._failure_reason)

        def post(path: str, body: dict[str, object] | None, bearer: str) -> dict[str, str]:
            headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
            answer: dict[str, str] = post_until_answered(self._http, path, body, headers, stalls).json()
            return answer

        body = write_command(creation_command(form, len(names), self._cards))
        del body["type"]
        created = post("/v1/games", {**body, "visibility": "public"}, self._operator_key)
        game = created["game"]
        tokens = [
            post(f"/v1/games/{game}/join", {"name": name, "seat": seat}, "")["token"]
            for seat, name in enumerate(seat_names(names))
        ]
        post(f"/v1/games/{game}/start", None, created["token"])
        return LoggedTable(self._http, self._views, game, tokens, stalls)


def seat_names(names: Sequence[str]) -> list[str]:
    """The players' names for their seats: one that is long, or looks like an earlier one or a bot's, gets its seat's
    number."""
    shown: list[str] = []
    for seat, name in enumerate(names):
        is_own = not imitates_bot(name) and not any(look_alike(name, earlier) for earlier in shown)
        number = "" if is_own and len(name) <= MAX_SEAT_NAME else f" at seat {seat + 1}"
        shown.append(name[: MAX_SEAT_NAME - len(number)] + number)
    return shown


class PrintedProgress(Progress):
    """Prints a line on standard error for everything that happens; `quiet`, only where it listens."""

    def __init__(self, quiet: bool) -> None:
        self._quiet, self._console = quiet, PlainTextConsole(stderr=True)
        self._games, self._over = 0, 0

    def listen(self, host: str, port: int) -> None:
        """Players can connect now: print where, and that there is no TLS."""
        self._console.print(f"Players may sign up at {host}:{port}.")
        if not _is_loopback(host):
            warning = "There is no TLS: whoever is on the way can read along, and answer for a player."
            self._console.print(warning)

    def sign_up(self, name: str, count: int) -> None:
        """Somebody has signed up, as the last of so many."""
        self._print(f"{name} has signed up: {count} so far.")

    def begin_round(self, number: int, groups: Sequence[Sequence[RemotePlayer]]) -> None:
        """A round begins, with these games."""
        self._games, self._over = len(groups), 0
        players, games = pluralize(sum(map(len, groups)), "player"), pluralize(len(groups), "game")
        self._print(f"Round {number}: {players}, {games}.")

    def open_game(self, number: int, table: Table, players: Sequence[RemotePlayer]) -> None:
        """A game of the round begins."""
        names = ", ".join(player.name for player in players)
        self._print(f"Round {number}: game {table.game} begins, {names}.")

    def finish_game(self, played: PlayedGame) -> None:
        """A game is over."""
        self._over += 1
        self._print(f"Round {played.round}: game {played.game} is over, {self._over} of {self._games}.")

    def _print(self, line: str) -> None:
        if not self._quiet:
            self._console.print(line)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def print_result(result: RemoteResult, data: Path) -> None:
    """Print the players with what became of them, the games, and the result in the form of the protocol."""
    console.print(_players_table(result))
    for played in sorted(result.games):
        names = ", ".join(result.players[index].name for index in played.players)
        option = "" if data == DEFAULT_DATA else f"--data {shlex.quote(str(data))} "
        print_line(
            f"Round {played.round}: {names}. See it again: {own_command()} replay {option}{played.game}"
        )
    if not result.has_map:
        print_line("Nobody suggested a map that has enough destinations and can be played.")


def _players_table(result: RemoteResult) -> PrintedTable:
    """A row for each player, in the order of sign-up."""
    table = PrintedTable("player", "rounds", "result", title="The tournament")
    for index, player in enumerate(result.players):
        rounds = max((played.round for played in result.games if index in played.players), default=0)
        if player.failure:
            became = f"removed ({player.failure})"
        else:
            became = "winner" if player.name in result.winners else "knocked out"
        table.add_row(player.name, str(rounds), became)
    return table


def post_until_answered(
    http: httpx.Client,
    path: str,
    body: Mapping[str, object] | None,
    headers: Mapping[str, str],
    stall_watch: StallWatch,
) -> httpx.Response:
    """Send a request again under one key until there is a verdict, and return the answer.

    Raises InvalidInputError where it is refused, CommandLineError where the server fails."""
    headers = {"Idempotency-Key": secrets.token_hex(12), **headers}
    while True:
        try:
            response = http.post(path, json=body, headers=headers)
        except httpx.TimeoutException:
            stall_watch.check("the gateway")
            continue
        if response.status_code not in WITHOUT_VERDICT:
            _require_ok(response)
            stall_watch.note_progress()
            return response
        stall_watch.check("the referee")
        time.sleep(RETRY_DELAY_S)


def _require_ok(response: httpx.Response) -> None:
    if response.is_server_error:
        raise CommandLineError(f"the gateway can't create games now: {response.text[:200]}")
    if response.is_error:
        problem = response.json()
        raise InvalidInputError(problem.get("rule", ""), problem.get("detail", problem["title"]))
