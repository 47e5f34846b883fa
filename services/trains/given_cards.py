"""A game of Trains with given cards and known strategies, played by the ordinary core.

Only chance is replaced: the events of the start are made here, with the cards in the given order and the
destinations in the order of their names. The core decides everything else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from schemas.boards.form import BOARD_SCHEMA, BoardForm
from schemas.commands import ClaimRoute, Command, CommandEnvelope, CreateGame, KeepTickets, SeatPlan, TakeSeat
from schemas.errors import LedgerlineError
from schemas.events import DeckShuffled, Event, GameCreated, GameStarted, TicketsShuffled
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError, require
from services.bots.policies import Policy
from services.bots.policies.random_source import SeatRandom
from services.bots.policies.trains_strategies import buy_now, hold_10
from services.referee.rules import RULESETS, GameState, decide_and_apply, decide_envelope, fold_events, legal
from services.referee.rules.rulesets.trains import TRAINS
from services.referee.rules.setup.create_game import NewGameContext, create_game
from services.tournament.knock_out import GameOutcome, game_outcome

GAME_ID: Final = "given-cards"
NO_SEED: Final = "00" * 32  # nothing is shuffled
OPTIONS: Final = {"order": "seated", "start_return": "top"}
NOT_ON_ANY_MAP: Final = ClaimRoute("no-such-route", {"red": 3})


class TooFewDestinationsError(LedgerlineError):
    """The map can't give every player destinations to choose from (SETUP-4)."""


def cheat(state: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom) -> Command:
    """Keep destinations as Hold-10 does, then claim a connection that doesn't exist."""
    if any(isinstance(command, KeepTickets) for command in commands):
        return hold_10(state, seat, commands, seat_random)
    return NOT_ON_ANY_MAP


PLAYERS: Final[Mapping[str, Policy]] = {"Hold-10": hold_10, "Buy-Now": buy_now, "Cheat": cheat}


def play_game(form: BoardForm, players: Sequence[Policy], cards: Sequence[str]) -> GameOutcome:
    """Play a game of these players, the first of the turn order first; `cards` begins with the top of the deck.

    Raises TooFewDestinationsError, and CommandRefusedError where the rules allow no such game."""
    state = start_game(form, len(players), cards)
    seat_random = SeatRandom(NO_SEED, 0)
    while not state.result:
        (seat,) = state.pending_choices
        command = players[seat](state, seat, legal(state, seat), seat_random)
        decide_envelope(state, CommandEnvelope("move", GAME_ID, seat, command), 0, NO_SEED)
    return game_outcome(state)


def start_game(form: BoardForm, seats: int, cards: Sequence[str]) -> GameState:
    """The state with hands dealt, in which the first player has to choose its destinations.

    Raises TooFewDestinationsError, and CommandRefusedError where the rules allow no such game."""
    state = GameState()
    plans = tuple(SeatPlan() for _ in range(seats))
    try:
        fold_events(
            state,
            0,
            creation_events(CreateGame(plans, TRAINS.name, BOARD_SCHEMA.write(form), options=OPTIONS), cards),
        )
    except CommandRefusedError as refusal:
        raise TooFewDestinationsError(refusal.reason) if refusal.rule == "SETUP-4" else refusal from None
    for seat in range(seats):
        decide_and_apply(state, None, TakeSeat(f"player {seat + 1}"))
    dealt_count = seats * state.rule_options.hand
    require(
        len(cards) >= dealt_count,
        "GAME-6",
        f"cards: {len(cards)} in all, {dealt_count} are dealt at the start",
    )
    destinations = tuple(state.board.tickets)
    shuffled = (DeckShuffled(tuple(cards), None), TicketsShuffled("regular", destinations, None))
    fold_events(state, 0, (GameStarted(tuple(range(seats))), *shuffled))
    fold_events(state, 0, state.ruleset.setup(state))
    return state


def creation_events(command: CreateGame, cards: Sequence[str]) -> Iterable[Event]:
    """The events that create a game with exactly these cards, which need not have every colour."""
    for event in create_game(RULESETS, NewGameContext(GAME_ID, 0, 0, NO_SEED), command):
        if isinstance(event, GameCreated):
            rule_options = replace(event.parameters, cards=Counter(cards))
            yield replace(event, parameters=rule_options)
        else:
            yield event
