"""Setting up: hands, and the three ways that starting tickets are chosen (SETUP-1 to SETUP-4)."""

from __future__ import annotations

from schemas.events import HandDealt, MixAsked
from schemas.field_types import Seat
from services.referee.rules.board import ticket_decks
from services.referee.rules.moves.market import fill_market, shuffle_deck
from services.referee.rules.moves.tickets import give_back, offer_tickets, shuffle_tickets
from services.referee.rules.moves.turns import first_turn
from services.referee.rules.ruleset import Facts
from services.referee.rules.table import Table


def shuffle_all(table: Table) -> Facts:
    """All chance of the start: the cards, then every deck of tickets."""
    yield from shuffle_deck(table)
    for deck in ticket_decks(table.figures):
        tickets = [ticket.id for ticket in table.board.tickets.values() if ticket.deck == deck]
        yield from shuffle_tickets(table, deck, tickets)


def deal_hands(table: Table) -> Facts:
    size = table.figures.hand
    for seat in table.order:
        if size:
            yield HandDealt(seat, tuple(table.deck[: -size - 1 : -1]))


# -- all at the same time ------------------------------------------------------------------


def offer_to_all(table: Table) -> Facts:
    """Hands, then the market, then tickets for all to choose from (SETUP-1, SETUP-2)."""
    yield from deal_hands(table)
    yield from fill_market(table)
    for seat in table.order:
        yield from offer_tickets(table, seat, table.figures.start_tickets, table.figures.start_keep)


def out_of_the_game(table: Table, seat: Seat) -> Facts:
    """What a removed seat was offered goes with it: nobody waits for it (CONDUCT-2)."""
    yield from ()


def when_all_have_chosen(table: Table) -> Facts:
    """Given back in seat order once all have chosen, so the order of answers changes nothing."""
    if table.awaits:
        return
    yield from give_all_back(table)
    yield from first_turn(table)


def give_all_back(table: Table) -> Facts:
    """In seat order; where the table says so, shuffled in with the rest of their decks."""
    for seat in table.order:
        yield from give_back(table, seat)
    if table.figures.start_return == "shuffled":
        for deck, tickets in table.ticket_decks.items():
            yield from shuffle_tickets(table, deck, tickets)


# -- all at the same time, after each has named its mix (SETUP-3) ------------------------------


def ask_for_mixes(table: Table) -> Facts:
    """Hands and market; then every seat says how many tickets of each deck it wants."""
    yield from deal_hands(table)
    yield from fill_market(table)
    for seat in table.order:
        yield MixAsked(seat)


def when_all_have_named(table: Table) -> Facts:
    """Dealt in seat order once all have named; then as where all choose at the same time."""
    if table.awaits:
        return
    waiting = [seat for seat in table.playing if table.places[seat].mix is not None]
    for seat in waiting:
        yield from offer_tickets(table, seat, table.places[seat].mix or {}, table.figures.start_keep)
    if not waiting:
        yield from when_all_have_chosen(table)


# -- one after the other (SETUP-4) ---------------------------------------------------------------


def offer_to_first(table: Table) -> Facts:
    """Hands; then the first seat chooses its tickets."""
    yield from deal_hands(table)
    yield from fill_market(table)
    yield from offer_to(table, table.order[0])


def offer_to(table: Table, seat: Seat) -> Facts:
    yield from offer_tickets(table, seat, table.figures.start_tickets, table.figures.start_keep)


def when_the_seat_has_chosen(table: Table) -> Facts:
    """What a seat gives back lies among the next one's choice."""
    if table.awaits:
        return
    yield from give_all_back(table)
    for seat in table.playing:
        if not table.places[seat].chosen:
            yield from offer_to(table, seat)
            return
    yield from first_turn(table)
