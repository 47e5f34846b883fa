"""A game of Trains with given cards and known strategies, played by the ordinary core; and the choice of its map.

Only chance is replaced: the game starts from a position before the deal, with the cards in the given order and the
destinations in the order of their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan, StartGame, TakeSeat
from schemas.errors import InvalidInputError, LedgerlineError
from schemas.events import Event
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from schemas.stored.codec import pack_envelope
from schemas.trains.boards.form import BOARD_SCHEMA, BoardForm
from schemas.trains.commands import ClaimRoute, KeepTickets
from schemas.trains.positions import Position, TicketGiven
from services.bots.policies import Policy
from services.bots.seat_random import SeatRandom
from services.bots.trains.trains_strategies import buy_now, hold_10
from services.referee.games import GameState, decide_envelope, legal
from services.referee.games.trains.board import build_board, with_pair_tickets
from services.referee.games.trains.rulesets import TRAINS
from services.referee.games.trains.setup.validation import require_within_limits
from services.tournament.knock_out import GameOutcome, game_outcome
from services.trains.player_state import MAX_SEATS

GAME_ID: Final = "given-cards"
NO_SEED: Final = "00" * 32  # nothing is shuffled
OPTIONS: Final = {"order": "seated", "start_return": "top"}
PAIR_POINTS: Final = TRAINS.rule_options.pair_tickets or 0
# with eight players, of whom each keeps two; what is given back is offered again
MAX_OFFERED_IN_ALL: Final = 5 + 2 * 7
NOT_ON_ANY_MAP: Final = ClaimRoute("no-such-route", {"red": 3})


class TooFewDestinationsError(LedgerlineError):
    """The map can't give every player destinations to choose from (SETUP-4)."""


def cheat(state: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom) -> Command:
    """Keep destinations by Hold-10, then claim a connection that doesn't exist."""
    if any(isinstance(command, KeepTickets) for command in commands):
        return hold_10(state, seat, commands, seat_random)
    return NOT_ON_ANY_MAP


PLAYERS: Final[Mapping[str, Policy]] = {"Hold-10": hold_10, "Buy-Now": buy_now, "Cheat": cheat}


def play_game(form: BoardForm, players: Sequence[Policy], cards: Sequence[str]) -> GameOutcome:
    """Play a game; players are in turn order, `cards` begins with the top of the deck.

    Raises TooFewDestinationsError, and CommandRefusedError if the rules allow no such game."""
    state = start_game(form, len(players), cards)
    seat_random = SeatRandom(NO_SEED, 0)
    while not state.result:
        (seat,) = state.pending_choices
        command = players[seat](state, seat, legal(state, seat), seat_random)
        decide_envelope(state, CommandEnvelope("move", GAME_ID, seat, command), 0, NO_SEED)
    return game_outcome(state)


def start_game(form: BoardForm, seats: int, cards: Sequence[str] | None) -> GameState:
    """The state with hands dealt, in which the first player has to choose its destinations. Raises what `play_game` does."""
    try:
        return begin_game(creation_command(form, seats, cards))[0]
    except CommandRefusedError as refusal:
        raise TooFewDestinationsError(refusal.reason) if refusal.rule == "SETUP-4" else refusal from None


def begin_game(creation: CreateGame) -> tuple[GameState, list[Event]]:
    """The created game with its seats taken and started, and its events. Raises CommandRefusedError."""
    state, events = GameState(), list[Event]()
    seats: Iterable[Command] = (TakeSeat(f"player {seat + 1}", seat) for seat in range(len(creation.seats)))
    for command in (creation, *seats, StartGame()):
        events += decide_envelope(state, CommandEnvelope("start", GAME_ID, None, command), 0, NO_SEED)
    return state, events


def creation_command(form: BoardForm, seats: int, cards: Sequence[str] | None) -> CreateGame:
    """The creation of a game in the order of seats. With given cards the destinations come in order too; None shuffles all."""
    position = None if cards is None else _given_decks(form, cards)
    return CreateGame(
        tuple(SeatPlan() for _ in range(seats)),
        TRAINS.name,
        BOARD_SCHEMA.write(form, exclude_defaults=True),
        options={"order": "seated"} if cards is None else OPTIONS,
        position=position,
    )


def _given_decks(form: BoardForm, cards: Sequence[str]) -> Position:
    board = build_board(form)
    require_within_limits(TRAINS.rule_options, board)  # or the pairs would be too many
    destinations = [
        TicketGiven((ticket.a, ticket.b), ticket.points)
        for ticket in islice(with_pair_tickets(board, PAIR_POINTS).tickets.values(), MAX_OFFERED_IN_ALL)
    ]
    return Position(turn=None, deck=tuple(cards), ticket_decks={"regular": tuple(destinations)})


def choose_map(suggestions: Iterable[BoardForm], players: int, cards: Sequence[str] | None) -> BoardForm:
    """The first suggested map on which the largest game of so many players can begin, with these cards (None: shuffled).

    Raises what forbids a game on the last of them: TooFewDestinationsError (also if nothing is suggested),
    CommandRefusedError, or InvalidInputError (the map is too large for a log)."""
    refusal: LedgerlineError = TooFewDestinationsError("nobody suggests a map")
    for form in suggestions:
        try:
            _require_game(form, min(players, MAX_SEATS), cards)
        except (TooFewDestinationsError, CommandRefusedError, InvalidInputError) as error:
            refusal = error
        else:
            return form
    raise refusal


def _require_game(form: BoardForm, seats: int, cards: Sequence[str] | None) -> None:
    """Raise unless such a game can be logged and begin."""
    pack_envelope(CommandEnvelope("new", GAME_ID, None, creation_command(form, seats, cards)))
    start_game(form, seats, cards)
