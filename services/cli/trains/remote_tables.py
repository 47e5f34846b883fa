"""A tournament of remote players: its tables in the real pipeline, and how it goes on in lines.

Every seat is a client of the gateway, and every game is logged."""

from __future__ import annotations

import asyncio
import secrets
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Final

import httpx
from rich.table import Table as PrintedTable

from schemas.commands import Command, write_command
from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from schemas.trains.boards.form import BoardForm
from services.bots.seat_projection import GameProjections, ViewPageReader
from services.cli.exit import CommandLineError
from services.cli.options import DEFAULT_DATA
from services.cli.output import PlainTextConsole, console, print_line
from services.cli.playing.following import StallWatch
from services.referee.alike_names import imitates_bot, look_alike
from services.referee.games import GameState
from services.text.formatting import pluralize
from services.trains.given_cards import creation_command
from services.trains_server.remote_game import Table, Turn
from services.trains_server.remote_player import RemotePlayer
from services.trains_server.remote_tournament import PlayedGame, Progress, RemoteResult

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
        print_line(f"Round {played.round}: {names}. See it again: ledgerline replay {option}{played.game}")
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
