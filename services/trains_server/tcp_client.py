"""A client of the protocol: it signs up at a server and answers its calls, by a known strategy or a bot's policy."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Protocol

from schemas.commands import Command, CreateGame, SeatPlan
from schemas.errors import InvalidInputError
from schemas.refusals import CommandRefusedError
from schemas.trains.boards.form import BOARD_SCHEMA
from schemas.trains.commands import ClaimRoute, KeepTickets, RequestCards
from schemas.trains.positions import Position, TicketGiven
from services.bots.policies import POLICIES
from services.bots.seat_random import SeatRandom
from services.bots.trains.trains_strategies import (
    BUY_NOW,
    HOLD_10,
    Connection,
    Destination,
    Strategy,
    choose_connection,
    choose_destinations,
)
from services.referee.games import GameState, fold_events, legal, redact_for
from services.referee.games.trains.board import build_board
from services.referee.games.trains.rulesets import TRAINS
from services.trains.given_cards import OPTIONS, PAIR_POINTS, begin_game
from services.trains.player_state import (
    MORE_CARDS,
    STATE,
    PlayerState,
    command_json,
    connection_json,
    parse_connection,
    route_owners,
    routes_by_connection,
)
from services.trains_server.peer_connection import PeerConnection, PeerFailedError, TimeLimits
from services.trains_server.protocol_calls import (
    CARDS,
    FLAG,
    GIVEN_BACK_COUNT,
    MAX_CALL_BYTES,
    VOID,
    Call,
    Setup,
    read_call,
    read_offer,
    read_setup,
)

OWN_SEAT: Final = 0  # in the games that a policy thinks in
MIN_SEATS: Final = TRAINS.rule_options.seats_least
SERVER: Final = "the server"  # who is waited for


class ClientPlayer(Protocol):
    """A player behind a client: it decides."""

    def begin(self, setup: Setup) -> None:
        """A game begins."""
        ...

    def give_back(self, offered: list[Destination]) -> list[Destination]:
        """Three of the five destinations."""
        ...

    def act(self, player_state: PlayerState) -> str | list[str | int]:
        """ "more cards", or a connection: city, city, colour, length."""
        ...


Answerer = Callable[[Call], Awaitable[object]]


class ClientAnswers:
    """Answers a server's calls with what a player decides, and a map that it suggests (as JSON)."""

    def __init__(self, player: ClientPlayer, map_json: object) -> None:
        self.player, self.map_json = player, map_json
        self.games_won: list[bool] = []  # of the games that are over
        self.has_won: bool | None = None  # the tournament; None until it is over

    async def answer(self, call: Call) -> object:
        """The answer to a call, as JSON. Raises InvalidInputError: the call is wrong."""
        match call:
            case Call("start", [flag]):
                FLAG.read(flag)
                return self.map_json
            case Call("setup", [map_json, rails, cards]):
                self.player.begin(read_setup(map_json, rails, cards))
            case Call("pick", [offer]):
                return [list(each) for each in self.player.give_back(read_offer(offer))]
            case Call("play", [player_state]):
                return self.player.act(STATE.read(player_state))
            case Call("more", [cards]):
                CARDS.read(cards)
            case Call("win", [flag]):
                self.games_won.append(FLAG.read(flag))
            case Call("end", [flag]):
                self.has_won = FLAG.read(flag)
            case _:
                raise InvalidInputError("call", f"{call.name} doesn't take {len(call.arguments)} arguments")
        return VOID


async def sign_up_and_play(
    name: str, answer: Answerer, *, host: str, port: int, time_limits: TimeLimits, silence_s: float
) -> None:
    """Sign up under this name, and answer calls until the tournament is over.

    Raises OSError: nobody listens; PeerFailedError: the server removed the player, sent no JSON, or nothing for `silence_s`;
    InvalidInputError: its call isn't in the protocol."""
    connection = PeerConnection(*await asyncio.open_connection(host, port))
    try:
        await connection.send(name)
        while True:
            received = connection.receive(MAX_CALL_BYTES)
            call = read_call(await time_limits.within(silence_s, SERVER, received))
            await connection.send(await answer(call))
            if call.name == "end":
                break
    except TimeoutError:
        raise PeerFailedError(f"called for nothing within {silence_s:g} s") from None
    finally:
        await connection.close()


# -- players ---------------------------------------------------------------------------------

STRATEGIES: Final = {"hold-10": HOLD_10, "buy-now": BUY_NOW}


class StrategyPlayer:
    """Plays by a strategy, from what the protocol says, without the rules' help."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._connections: tuple[Connection, ...] = ()

    def begin(self, setup: Setup) -> None:
        """A game begins."""
        self._connections = tuple(sorted(routes_by_connection(build_board(setup.form))))

    def give_back(self, offered: list[Destination]) -> list[Destination]:
        """The destinations that it doesn't keep."""
        kept = choose_destinations(self._strategy, offered, len(offered) - GIVEN_BACK_COUNT)
        return [destination for index, destination in enumerate(offered) if index not in kept]

    def act(self, player_state: PlayerState) -> str | list[str | int]:
        """Its turn, as the answer to `play`. Raises InvalidInputError: no game has begun."""
        if not self._connections:
            raise InvalidInputError("play", "comes before any setup with a map")
        own = player_state.this
        taken = {parse_connection(wanted) for row in (own.acquired, *player_state.acquired) for wanted in row}
        possible = (
            each
            for each in self._connections
            if each.length <= own.rails and each.length <= own.cards.get(each.color, 0) and each not in taken  # type: ignore[call-overload]  # the colours of both are the map's
        )
        wanted = choose_connection(self._strategy, sum(own.cards.values()), possible)
        return MORE_CARDS if wanted is None else connection_json(wanted)


class PolicyPlayer:
    """Plays by a policy, in games made of what the protocol says. `secret` (64 hex digits) is the source of its chance."""

    def __init__(self, policy: str, secret: str | None = None) -> None:
        self._policy, self._secret = POLICIES[policy], secret or secrets.token_hex(32)
        self._setup: Setup | None = None
        self._choices = 0

    def begin(self, setup: Setup) -> None:
        """A game begins."""
        self._setup = setup

    def give_back(self, offered: list[Destination]) -> list[Destination]:
        """The destinations that it doesn't keep. Raises InvalidInputError: the map has no such destinations."""
        setup = self._require_setup()
        ids = city_ids(setup)
        below = [
            ticket_given(ids, destination, points=1) for destination in offered[:2]
        ]  # for another seat (SETUP-4)
        decks = {"regular": (*(ticket_given(ids, destination) for destination in offered), *below)}
        cards = tuple(setup.cards) + tuple(Counter(TRAINS.rule_options.cards).elements())
        choice = self._choose(
            Position(turn=None, deck=cards, ticket_decks=decks), {**OPTIONS, "start_keep": 2}
        )
        assert isinstance(choice, KeepTickets), "nothing else is legal"
        return [destination for index, destination in enumerate(offered) if index not in choice.keep]

    def act(self, player_state: PlayerState) -> str | list[str | int]:
        """Its turn, as the answer to `play`. Raises InvalidInputError: there can be no such state on this map."""
        setup, own = self._require_setup(), player_state.this
        ids, board = city_ids(setup), build_board(setup.form)
        rows = (own.acquired, *player_state.acquired)
        used = [sum(wanted[3] for wanted in row) for row in rows]
        tickets = [ticket_given(ids, Destination(*each)) for each in (own.destination1, own.destination2)]
        position = Position(
            hands=({color: count for color, count in own.cards.items() if count},),
            cars=(own.rails, *(max(0, setup.rails - spaces) for spaces in used[1:])),
            routes=route_owners(routes_by_connection(board), player_state),
            tickets=(tuple(tickets),),
        )
        cars = max(setup.rails, own.rails + used[0], *used)
        choice = self._choose(position, {"cars": cars}, len(rows))
        assert isinstance(choice, ClaimRoute | RequestCards), "nothing else is legal"
        return command_json(choice, board)

    def _choose(self, position: Position, options: Mapping[str, object], seats: int = MIN_SEATS) -> Command:
        plans = tuple(SeatPlan() for _ in range(max(MIN_SEATS, seats)))
        board = BOARD_SCHEMA.write(self._require_setup().form)
        creation = CreateGame(plans, TRAINS.name, board, options=options, position=position)
        try:
            _, events = begin_game(creation)
        except CommandRefusedError as refusal:
            raise InvalidInputError("call", f"there can be no such game: {refusal.reason}") from None
        view, shown = GameState(), (redact_for(OWN_SEAT, event) for event in events)
        fold_events(view, 0, filter(None, shown))
        self._choices += 1
        seat_random = SeatRandom(self._secret, self._choices)
        return self._policy(view, OWN_SEAT, legal(view, OWN_SEAT), seat_random)

    def _require_setup(self) -> Setup:
        if self._setup is None:
            raise InvalidInputError("call", "comes before any setup")
        return self._setup


def city_ids(setup: Setup) -> dict[str, str]:
    """The ids of a map's cities by their names."""
    return {city.name: city.id for city in setup.form.cities}


def ticket_given(ids: Mapping[str, str], destination: Destination, points: int = PAIR_POINTS) -> TicketGiven:
    """The ticket of a destination. Raises InvalidInputError: the map doesn't have its cities."""
    for city in destination:
        if city not in ids:
            raise InvalidInputError("destination", f"the map has no city {city!r}")
    return TicketGiven((ids[destination.a], ids[destination.b]), points)
