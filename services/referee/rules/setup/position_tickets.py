"""The tickets that a position names: which of the board's they are, and which only this position has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from schemas.boards.form import TicketForm
from schemas.positions import Position, TicketGiven
from schemas.rule_options import RuleOptions
from services.referee.rules.board import Board, Ticket, ticket_decks

DEFAULT_DECK: Final = "puzzle"  # the name of the ticket deck where the rules have none


class IdentifiedTicket(NamedTuple):
    """A ticket that a position names."""

    field: str
    deck: str | None  # None: a seat holds it, or is offered it
    id: str  # the board's, or one of its own
    form: TicketGiven


def identify_tickets(board: Board, position: Position) -> list[IdentifiedTicket]:
    """Every ticket that a position names, with its id: an unused ticket of the board with these cities and
    points (and deck, for a ticket in a deck); else a new one that the board doesn't have."""
    board_tickets: dict[tuple[frozenset[str], int], list[Ticket]] = {}
    for ticket in board.tickets.values():
        board_tickets.setdefault((frozenset((ticket.a, ticket.b)), ticket.points), []).append(ticket)
    tickets: list[IdentifiedTicket] = []
    used_ids: set[str] = set()
    for field, deck, form in position_tickets(position):
        matching = board_tickets.get((frozenset(form.between), form.points), ())
        matching_ids = [ticket.id for ticket in matching if deck in (None, ticket.deck)]
        if matching_ids:
            unused_ids = [ticket_id for ticket_id in matching_ids if ticket_id not in used_ids]
            ticket_id = (unused_ids or matching_ids)[0]
            used_ids.add(ticket_id)
        else:
            ticket_id = _new_ticket_id(board, form)
        tickets.append(IdentifiedTicket(field, deck, ticket_id, form))
    return tickets


def _new_ticket_id(board: Board, form: TicketGiven) -> str:
    a, b = sorted(form.between)
    ticket_id = f"{a}:{b}:{form.points}"
    while ticket_id in board.tickets:  # a different ticket
        ticket_id += "."
    return ticket_id


def position_tickets(position: Position) -> Iterator[tuple[str, str | None, TicketGiven]]:
    """Every ticket that a position names: its field, its deck (None: a seat holds it, or is offered it), itself.
    Those of seats come first, seat by seat, then those that are offered."""
    for seat, forms in enumerate(position.tickets):
        yield from ((f"tickets.{seat}.{index}", None, form) for index, form in enumerate(forms))
    if position.offer is not None:
        offered = enumerate(position.offer.tickets)
        yield from ((f"offer.tickets.{index}", None, form) for index, form in offered)
    for deck, deck_forms in (position.ticket_decks or {}).items():
        yield from ((f"ticket_decks.{deck}.{index}", deck, form) for index, form in enumerate(deck_forms))


def extra_tickets(
    board: Board, rule_options: RuleOptions, tickets: Sequence[IdentifiedTicket]
) -> tuple[TicketForm, ...]:
    """The tickets that only this position has. One that a seat holds belongs to the first deck.

    They are public, so they are sorted: their order must not reveal who holds them."""
    extra_tickets = (ticket for ticket in tickets if ticket.id not in board.tickets)
    first_deck = deck_names(rule_options)[0]
    return tuple(
        TicketForm(ticket.id, ticket.form.between, ticket.form.points, ticket.deck or first_deck)
        for ticket in sorted(extra_tickets, key=attrgetter("id"))
    )


def deck_names(rule_options: RuleOptions) -> tuple[str, ...]:
    """The decks that tickets of a position may lie in: one even where the rules have none."""
    return ticket_decks(rule_options) or (DEFAULT_DECK,)
