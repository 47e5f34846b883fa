"""A train game's table as its creation makes it; the deal; a position or a moment of another game in place of it."""

from __future__ import annotations

from collections import Counter

from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import DeckShuffled, GameCreated, HandDealt
from schemas.field_types import HIDDEN
from schemas.trains.boards.form import BOARD_SCHEMA
from schemas.trains.events import (
    ChoiceLaid,
    DeckKnown,
    DeckLaid,
    DeckRecreated,
    HandLaid,
    HandReturned,
    MomentLaid,
    PositionLaid,
    TicketsLaid,
    TicketsShuffled,
)
from services.referee.games.appliers.table import applies
from services.referee.games.trains import board as boards
from services.referee.games.trains.appliers.playing import assign_route
from services.referee.games.trains.train_state import TrainGame, TrainSeat, TrainState, Tunnel


def lay_table(state: TrainGame, event: GameCreated) -> None:
    """Nothing is shuffled yet. Raises CorruptDataError where this server has not the board of the log."""
    board = _board_of(event)
    if board.digest != event.board_digest:
        raise CorruptDataError(f"game {event.game} was played on another version of the board {event.board}")
    if state.rule_options.pair_tickets:
        board = boards.with_pair_tickets(board, state.rule_options.pair_tickets)
    state.own = TrainState()
    state.own.lay(board, state.rule_options, len(event.seats))
    for seat_state in state.seats:
        seat_state.own = TrainSeat()
        seat_state.own.lay(state.rule_options)


def _board_of(event: GameCreated) -> boards.Board:
    """The board of a game. Raises CorruptDataError: this server can't read it."""
    try:
        if event.board_form is not None:
            return boards.build_board(BOARD_SCHEMA.read(event.board_form))
        return boards.load_board(event.board or "")
    except InvalidInputError as error:
        raise CorruptDataError(f"game {event.game} can't be played here: {error}") from None


def deck_shuffled(state: TrainGame, event: DeckShuffled) -> None:
    """The shuffled discards lie under the rest of the deck."""
    table = state.own
    table.deck[:0] = reversed(event.order)
    table.discards = dict.fromkeys(state.rule_options.cards, 0)


@applies(DeckRecreated)
def deck_recreated(state: TrainGame, event: DeckRecreated) -> None:
    table = state.own
    table.deck = list(reversed(event.order))
    table.discards = dict.fromkeys(state.rule_options.cards, 0)
    state.epoch += 1


@applies(TicketsShuffled)
def tickets_shuffled(state: TrainGame, event: TicketsShuffled) -> None:
    state.own.ticket_decks[event.deck] = list(reversed(event.order))
    state.epoch += 1


def hand_dealt(state: TrainGame, event: HandDealt) -> None:
    """The top cards of the deck go into the hand."""
    hand = state.seats[event.seat].own.hand
    for card in event.cards:
        state.own.deck.pop()
        hand[card] += 1


@applies(HandReturned)
def hand_returned(state: TrainGame, event: HandReturned) -> None:
    hand = state.seats[event.seat].own.hand
    for card in event.cards:
        hand[card] -= 1
    is_view = not state.shuffle_key  # which shows no card of a deck, though its seat has held these
    table = state.own
    table.deck += [HIDDEN] * len(event.cards) if is_view else reversed(event.cards)
    table.untaken = None


# -- a position in place of a deal -----------------------------------------------------


@applies(PositionLaid)
def position_laid(state: TrainGame, event: PositionLaid) -> None:
    table = state.own
    table.position_starter = event.turn
    table.board = boards.with_tickets(table.board, event.tickets)
    table.market = list(event.market)
    table.discards = dict.fromkeys(state.rule_options.cards, 0)
    table.discards.update(event.discards.items())
    for route, seat in event.owners.items():
        assign_route(state, route, seat)
    for seat, seat_state in enumerate(state.seats):
        seat_state.own.cars, seat_state.own.points = event.cars[seat], event.points[seat]
        seat_state.own.merchandise = event.merchandise[seat]
    for city, station in event.stations.items():
        table.station_owners[city] = station.seat
        state.seats[station.seat].own.stations[city] = station.neighbour
    for city, seat in event.passengers.items():
        table.passenger_owners[city] = seat
        state.seats[seat].own.passengers_left -= 1
    table.tokens = {city: tuple(stack) for city, stack in event.tokens.items()}


@applies(DeckLaid)
def deck_laid(state: TrainGame, event: DeckLaid) -> None:
    state.own.deck = list(reversed(event.order))


@applies(TicketsLaid)
def tickets_laid(state: TrainGame, event: TicketsLaid) -> None:
    state.own.ticket_decks[event.deck] = list(reversed(event.order))


@applies(HandLaid)
def hand_laid(state: TrainGame, event: HandLaid) -> None:
    seat_state = state.seats[event.seat].own
    for card, count in Counter(event.cards).items():
        seat_state.hand[card] += count
    seat_state.tickets = list(event.tickets)


# -- a fork: more than a position can hold ----------------------------------------------


@applies(MomentLaid)
def moment_laid(state: TrainGame, event: MomentLaid) -> None:
    """No choice is pending, and no time passes, until the game is started."""
    state.fork_turn_state, state.turn_order = (event.turn, event.awaits), event.order
    table = state.own
    table.tunnel = Tunnel(*event.tunnel) if event.tunnel is not None else None
    table.in_last_turns, table.seats_with_last_turn, table.seats_passed = (
        event.ending,
        set(event.last),
        set(event.passed),
    )
    for seat, seat_state in enumerate(state.seats):
        seat_state.own.start_tickets_chosen, seat_state.exit_reason = event.chosen[seat], event.gone[seat]
        seat_state.clock_ms, seat_state.own.passengers_left = event.clocks[seat], event.passengers[seat]
        for card, count in event.shown[seat].items():
            seat_state.own.hand[card] += count


@applies(ChoiceLaid)
def choice_laid(state: TrainGame, event: ChoiceLaid) -> None:
    seat_state = state.seats[event.seat].own
    seat_state.offer, seat_state.min_keep = list(event.offer), event.least
    seat_state.requested_mix = (event.mix or {}) if event.named else None


@applies(DeckKnown)
def deck_known(state: TrainGame, event: DeckKnown) -> None:
    """For a viewer who may know them: the deck has these tickets at these indexes anyway."""
    table = state.own
    deck = table.ticket_decks[event.deck]
    table.ticket_decks[event.deck] = [
        ticket if known_ticket is None else known_ticket
        for known_ticket, ticket in zip(reversed(event.order), deck, strict=True)
    ]
