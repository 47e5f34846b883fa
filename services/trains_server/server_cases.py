"""Cases of the kind 10-xserver: tournaments over real TCP on loopback, with players of known strategies.

A player of the kind `player-bad-CALL` never answers that call. It says so here as it falls silent, so that nobody
waits for a clock, and no machine is too slow for the others' answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Final, TypeVar

from pydantic import Field

from schemas.commands import Command, CommandEnvelope
from schemas.contract import Schema
from schemas.field_types import Seat, Text
from schemas.refusals import CommandRefusedError
from schemas.trains.boards.form import BoardForm
from schemas.trains.boards.trains import read_trains_map
from services.bots.trains.trains_strategies import BUY_NOW, HOLD_10
from services.referee.games import GameState, decide_envelope
from services.trains.cases import CASE_S, DECK, KINDS, CaseSolver, read_value, require_values
from services.trains.given_cards import GAME_ID, NO_SEED, choose_map, start_game
from services.trains.player_state import PlayerState
from services.trains_server.peer_connection import ClockLimits, PeerFailedError
from services.trains_server.protocol_calls import CALLS, Call
from services.trains_server.remote_tournament import Progress, Table, Turn
from services.trains_server.tcp_client import ClientAnswers, StrategyPlayer, sign_up_and_play
from services.trains_server.tcp_server import SignUp, SignUpRules, run_tcp_tournament

T = TypeVar("T")
LOOPBACK: Final = "127.0.0.1"
ANSWERED_PLAYS: Final = 3  # of a player that never answers the call `play`
BAD: Final = "player-bad-"
_Kind = Annotated[Text, Field(pattern=f"^(Hold-10|Buy-Now|Cheat|{BAD}({'|'.join(CALLS)}))$")]
_Player = tuple[Annotated[Text, Field(pattern="^[A-Za-z]{1,50}$")], _Kind]
PLAYERS: Final[Schema[tuple[tuple[str, str], ...]]] = Schema(
    Annotated[tuple[_Player, ...], Field(min_length=2, max_length=50)], "players"
)


class Cheat(StrategyPlayer):
    """Asks for a connection that doesn't exist at its first turn."""

    def act(self, player_state: PlayerState) -> list[str | int]:
        """A connection of no map."""
        return ["Nowhere", "Somewhere", "red", 3]


class ToldSilence:
    """Time limits that end when somebody says that it is silent, however long the others take."""

    def __init__(self) -> None:
        self._silent: dict[str, asyncio.Event] = {}

    def silence_of(self, who: str) -> asyncio.Event:
        """Set when this one answers no more."""
        return self._silent.setdefault(who, asyncio.Event())

    async def within(self, limit_s: float, who: str, answer: Awaitable[T]) -> T:
        """See `TimeLimits`. Raises TimeoutError once `who` is silent."""
        answering = asyncio.ensure_future(answer)
        answering.add_done_callback(lambda done: done.cancelled() or done.exception())  # it is known
        silent = asyncio.ensure_future(self.silence_of(who).wait())
        try:
            await asyncio.wait((answering, silent), return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                raise TimeoutError
            return answering.result()
        finally:
            answering.cancel()
            silent.cancel()


class SilentAnswers:
    """Answers a server's calls until it falls silent at one of them."""

    def __init__(self, answers: ClientAnswers, call: str, silence: asyncio.Event) -> None:
        self._answers, self._call, self._silence = answers, call, silence
        self._left = ANSWERED_PLAYS if call == "play" else 0

    async def answer(self, call: Call) -> object:
        """See `ClientAnswers`; or it never returns."""
        if call.name == self._call:
            if not self._left:
                self._silence.set()
                await asyncio.get_running_loop().create_future()
            self._left -= 1
        return await self._answers.answer(call)


def answer_server_case(values: Sequence[object]) -> object:
    """The result of a tournament over TCP, in the form of the protocol. Raises InvalidInputError: a bad value."""
    map_json, players_json, cards_json = require_values(values, "map, players, cards")
    read_trains_map(map_json)  # the players suggest it as it is
    players, cards = read_value(PLAYERS, players_json), read_value(DECK, cards_json)
    return asyncio.run(play_case(map_json, players, cards))


class Arrivals(Progress):
    """Has the port once the server listens, and the names as they sign up."""

    def __init__(self) -> None:
        self.port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.names: asyncio.Queue[str] = asyncio.Queue()

    def listen(self, host: str, port: int) -> None:
        """See `Progress`."""
        self.port.set_result(port)

    def sign_up(self, name: str, count: int) -> None:
        """See `Progress`."""
        self.names.put_nowait(name)


async def play_case(map_json: object, players: Sequence[tuple[str, str]], cards: Sequence[str]) -> object:
    """Let these players, each a name and a kind, sign up one after the other and play. A name that has signed up already is
    refused."""
    limits, arrivals = ToldSilence(), Arrivals()
    names = {name for name, _ in players}
    sign_up = SignUp(SignUpRules(max_players=len(names), of_one_address=len(names)), limits, arrivals)
    refusals: list[CommandRefusedError] = []

    def choose(forms: Sequence[BoardForm], count: int) -> BoardForm:
        try:
            return choose_map(forms, count, cards)
        except CommandRefusedError as refusal:
            refusals.append(refusal)
            raise

    server = asyncio.ensure_future(run_tcp_tournament(sign_up, CoreTables(cards), choose, (LOOPBACK, 0)))
    clients = []
    try:
        await asyncio.wait((server, arrivals.port), return_when=asyncio.FIRST_COMPLETED)
        for name, kind in players:
            answers = _answers_of(kind, map_json, limits.silence_of(name))
            client = asyncio.ensure_future(_play(name, answers, arrivals.port.result()))
            clients.append(client)
            arrival = asyncio.ensure_future(arrivals.names.get())
            await asyncio.wait((arrival, client, server), return_when=asyncio.FIRST_COMPLETED)
            arrival.cancel()  # of one who was refused, or came too late
        result = await server
    finally:
        for task in (*clients, server):
            task.cancel()
        await asyncio.gather(*clients, server, return_exceptions=True)
    if refusals:
        raise refusals[0]
    return result.protocol_json()


async def _play(name: str, answers: ClientAnswers | SilentAnswers, port: int) -> None:
    with suppress(PeerFailedError, OSError):  # it is removed
        await sign_up_and_play(
            name, answers.answer, host=LOOPBACK, port=port, time_limits=ClockLimits(), silence_s=CASE_S
        )


def _answers_of(kind: str, map_json: object, silence: asyncio.Event) -> ClientAnswers | SilentAnswers:
    player = Cheat(HOLD_10) if kind == "Cheat" else StrategyPlayer(HOLD_10 if kind == "Hold-10" else BUY_NOW)
    answers = ClientAnswers(player, map_json)
    return SilentAnswers(answers, kind.removeprefix(BAD), silence) if kind.startswith(BAD) else answers


ALL_KINDS: Final[Mapping[str, CaseSolver]] = {**KINDS, "10-xserver": answer_server_case}


# -- tables for cases and tests: on the rules alone, with given cards and no log -----------------


class CoreTable:
    """A game that is decided in this process."""

    game = ""

    def __init__(self, state: GameState) -> None:
        self._state = state

    async def next_turn(self) -> Turn | None:
        """See `Table`. The state has all cards; nothing of others is read from it."""
        if self._state.result:
            return None
        (seat,) = self._state.pending_choices
        return Turn(seat, self._state)

    async def send(self, seat: Seat, command: Command) -> GameState:
        """See `Table`."""
        decide_envelope(self._state, CommandEnvelope("move", GAME_ID, seat, command), 0, NO_SEED)
        return self._state

    async def final_state(self) -> GameState:
        """See `Table`."""
        return self._state


class CoreTables:
    """Opens tables that all have these cards."""

    def __init__(self, cards: Sequence[str]) -> None:
        self._cards = cards

    async def open_table(self, form: BoardForm, names: Sequence[str]) -> Table:
        """See `TableOpener`."""
        return CoreTable(start_game(form, len(names), self._cards))
