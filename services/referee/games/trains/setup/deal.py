"""The deal: hands, and the three ways to choose starting tickets (SETUP-1 to SETUP-4)."""

from __future__ import annotations

from schemas.events import HandDealt
from schemas.field_types import Seat
from schemas.trains.events import HandReturned, MixAsked
from services.referee.games.shuffle import in_canonical_order
from services.referee.games.state import EventStream
from services.referee.games.trains.board import ticket_decks
from services.referee.games.trains.moves.tickets import (
    offer_tickets,
    return_tickets,
    return_tickets_to,
    shuffle_tickets,
)
from services.referee.games.trains.moves.turns import fill_market, first_turn, shuffle_discards_under
from services.referee.games.trains.train_state import TrainGame


def shuffle_all(state: TrainGame) -> EventStream:
    """Shuffles the cards, then every deck of tickets."""
    yield from shuffle_discards_under(state)
    for deck in ticket_decks(state.rule_options):
        tickets = [ticket.id for ticket in state.own.board.tickets.values() if ticket.deck == deck]
        yield from shuffle_tickets(state, deck, tickets)


def deal_hands(state: TrainGame) -> EventStream:
    """The top cards of the deck to every seat, in turn order; then the market (SETUP-1)."""
    hand_size = state.rule_options.hand
    for seat in state.turn_order:
        if hand_size:
            yield HandDealt(seat, tuple(state.own.deck[: -hand_size - 1 : -1]))
    yield from fill_market(state)


# -- all at the same time ------------------------------------------------------------------


def offer_to_all(state: TrainGame) -> EventStream:
    """Tickets for all to choose from (SETUP-2)."""
    for seat in state.turn_order:
        yield from offer_start_tickets(state, seat)


def continue_after_all_choices(state: TrainGame) -> EventStream:
    """Once all have chosen: tickets go back in seat order, so that being quick gains nothing (SETUP-3)."""
    if state.pending_choices:
        return
    yield from return_all_tickets(state)
    yield from first_turn(state)


def return_all_tickets(state: TrainGame) -> EventStream:
    """In turn order; where `start_return` says so, the decks are shuffled then."""
    for seat in state.turn_order:
        yield from return_tickets(state, seat)
    if state.rule_options.start_return == "shuffled":
        for deck, tickets in state.own.ticket_decks.items():
            yield from shuffle_tickets(state, deck, tickets)


# -- all at the same time, after each has named its mix (SETUP-3) ------------------------------


def ask_for_mixes(state: TrainGame) -> EventStream:
    """Every seat names how many tickets of each deck it wants (SETUP-2)."""
    for seat in state.turn_order:
        yield MixAsked(seat)


def continue_after_all_mixes(state: TrainGame) -> EventStream:
    """Once all have named a mix: offers in seat order; then all choose at the same time."""
    if state.pending_choices:
        return
    seats_with_mix = [seat for seat in state.active_seats if state.seats[seat].own.requested_mix is not None]
    for seat in seats_with_mix:
        yield from offer_tickets(
            state, seat, state.seats[seat].own.requested_mix or {}, state.rule_options.start_keep
        )
    if not seats_with_mix:
        yield from continue_after_all_choices(state)


# -- one after the other (SETUP-4) ---------------------------------------------------------------


def offer_to_first(state: TrainGame) -> EventStream:
    """The first seat chooses its tickets (SETUP-4)."""
    yield from offer_start_tickets(state, state.turn_order[0])


def offer_start_tickets(state: TrainGame, seat: Seat) -> EventStream:
    """The seat's offer of starting tickets."""
    yield from offer_tickets(state, seat, state.rule_options.start_tickets, state.rule_options.start_keep)


def return_on_top(state: TrainGame, seat: Seat) -> EventStream:
    """Destinations and hand of a seat that hasn't chosen go back for the next one; later the cards of its last request,
    while the next seat hasn't acted (CONDUCT-2)."""
    table = state.own
    if state.turn is None and not state.seats[seat].own.start_tickets_chosen:
        yield from return_tickets_to(state, seat, "top")
        if cards := in_canonical_order(state.seats[seat].own.hand.items()):
            yield HandReturned(seat, tuple(cards))
    elif table.untaken is not None and table.untaken[0] == seat:
        yield HandReturned(*table.untaken)


def continue_after_seat_choice(state: TrainGame) -> EventStream:
    """Tickets that a seat gave back are shuffled in before the next seat is offered some (SETUP-4). If it gave
    nothing back, since it was removed, the tickets stay in their order (CONDUCT-2). Without a next seat the play begins."""
    if state.pending_choices:
        return
    if any(seat_state.own.offer for seat_state in state.seats):
        yield from return_all_tickets(state)
    for seat in state.active_seats:
        if not state.seats[seat].own.start_tickets_chosen:
            yield from offer_start_tickets(state, seat)
            return
    yield from first_turn(state)
