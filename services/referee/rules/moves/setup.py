"""Dealing (SETUP-1, SETUP-2)."""

from __future__ import annotations

from schemas.events import HandDealt, TicketsShuffled
from services.referee.rules.moves.tickets import offer_tickets
from services.referee.rules.ruleset import Facts
from services.referee.rules.shuffle import shuffled
from services.referee.rules.table import Table


def deal_hands(table: Table) -> Facts:
    size = table.figures.hand
    for seat in range(len(table.places)):
        if size:
            yield HandDealt(seat, tuple(table.deck[: -size - 1 : -1]))


def offer_starting_tickets(table: Table) -> Facts:
    """Shuffle every deck of tickets and offer each seat its choice."""
    assert table.seed is not None, "only the referee shuffles"
    figures = table.figures
    for deck in dict.fromkeys((*figures.start_tickets, *figures.draw_tickets)):
        tickets = sorted(ticket.id for ticket in table.board.tickets.values() if ticket.deck == deck)
        yield TicketsShuffled(deck, shuffled(tickets, table.seed, table.epoch))
    for seat in range(len(table.places)):
        yield from offer_tickets(table, seat, figures.start_tickets, figures.start_keep)
