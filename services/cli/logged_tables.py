"""Tables for remote players in the real pipeline: every seat is a client of the gateway, every game is logged."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import httpx

from schemas.boards.form import BoardForm
from schemas.commands import PlayerCommand, write_command
from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from services.bots.seat_projection import GameProjections, ViewPageReader
from services.cli.exit import CommandLineError
from services.cli.game_requests import post_until_answered
from services.cli.stall_watch import StallWatch
from services.referee.rules import GameState
from services.trains.given_cards import creation_command
from services.trains_server.table_port import Table, Turn

T = TypeVar("T")
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
        """See `Table`. Raises CommandLineError: the server fails."""
        return await asyncio.to_thread(self._next_turn)

    async def send(self, seat: Seat, command: PlayerCommand) -> GameState:
        """See `Table`. Raises CommandLineError: the server fails."""
        return await asyncio.to_thread(self._send, seat, command)

    async def final_state(self) -> GameState:
        """See `Table`."""
        return self._projections.current(self._latest).state

    def _next_turn(self) -> Turn | None:
        state = self._read(self._latest)
        if state.result:
            return None
        (seat,) = state.pending_choices
        return Turn(seat, self._read(seat))

    def _send(self, seat: Seat, command: PlayerCommand) -> GameState:
        """What the rules refuse is answered as a problem, and its entry removes the seat."""
        before = self._projections.current(seat).sequence
        headers = {
            "Authorization": f"Bearer {self._tokens[seat]}",
            "Idempotency-Key": f"trains-{secrets.token_hex(8)}",
        }
        path = f"/games/{self.game}/commands"
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
        """See `TableOpener`. Raises CommandLineError: the server fails; InvalidInputError: it refuses the game."""
        return await asyncio.to_thread(self._open, form, names)

    def _open(self, form: BoardForm, names: Sequence[str]) -> LoggedTable:
        stalls = StallWatch(self._failure_reason)

        def post(path: str, body: dict[str, object] | None, bearer: str) -> dict[str, str]:
            headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
            answer: dict[str, str] = post_until_answered(self._http, path, body, headers, stalls).json()
            return answer

        body = write_command(creation_command(form, len(names), self._cards))
        del body["type"]
        created = post("/games", {**body, "visibility": "public"}, self._operator_key)
        game = created["game"]
        tokens = [
            post(f"/games/{game}/join", {"name": seat_name(name, seat), "seat": seat}, "")["token"]
            for seat, name in enumerate(names)
        ]
        post(f"/games/{game}/start", None, created["token"])
        return LoggedTable(self._http, self._views, game, tokens, stalls)


def seat_name(name: str, seat: Seat) -> str:
    """The player's name as a seat may have it: a long one is cut, and numbered, so that no two are the same."""
    return name if len(name) <= MAX_SEAT_NAME else f"{name[: MAX_SEAT_NAME - 2]}-{seat + 1}"
