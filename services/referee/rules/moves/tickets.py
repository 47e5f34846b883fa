"""Destination tickets: offered, kept and given back (SETUP-2, SETUP-3, TICKET-*)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations

from schemas.commands import DrawTickets, KeepTickets
from schemas.events import TicketsKept, TicketsOffered, TicketsReturned
from schemas.refusals import require
from schemas.words import Seat
from services.referee.rules.moves.turns import end_turn, first_turn
from services.referee.rules.ruleset import Facts, Move
from services.referee.rules.table import Table


def offer_tickets(table: Table, seat: Seat, deal: Mapping[str, int], least: int) -> Facts:
    """Turn to the seat this many tickets of each deck, or what is left of it."""
    decks, tickets = [], []
    for deck, count in deal.items():
        top = table.ticket_decks[deck][::-1][:count]
        decks += [deck] * len(top)
        tickets += top
    yield TicketsOffered(seat, tuple(decks), tuple(tickets), min(least, len(tickets)))


def draw_offers(table: Table, seat: Seat) -> Sequence[DrawTickets]:
    for deck, count in table.figures.draw_tickets.items():
        if count and table.ticket_decks[deck]:
            return (_DRAW,)
    return ()


def draw_tickets(table: Table, seat: Seat, command: DrawTickets) -> Facts:
    """The draw of a ruleset whose tickets are drawn in one fixed mix."""
    require(command.decks is None, "TICKET-1", "these tickets are drawn without naming decks")
    require(draw_offers(table, seat), "TICKET-1", "no ticket is left")
    yield from offer_tickets(table, seat, table.figures.draw_tickets, table.figures.draw_keep)


def keep_offers(table: Table, seat: Seat) -> Sequence[KeepTickets]:
    place = table.places[seat]
    return _choices(len(place.offer), place.least)


def keep_tickets(table: Table, seat: Seat, command: KeepTickets) -> Facts:
    offer, least = table.places[seat].offer, table.places[seat].least
    setting_up = table.turn is None
    fits = len(set(command.keep)) == len(command.keep) and all(i < len(offer) for i in command.keep)
    require(
        fits,
        "SETUP-2" if setting_up else "TICKET-1",
        f"keep names places of the {len(offer)} offered tickets, from 0, each once",
    )
    require(
        len(command.keep) >= least,
        "SETUP-3" if setting_up else "TICKET-1",
        f"at least {least} of the offered tickets must be kept",
    )
    yield TicketsKept(seat, tuple(offer[i] for i in sorted(command.keep)))
    if setting_up:
        yield from when_all_have_chosen(table)
    else:
        yield from give_back(table, seat)
        yield from end_turn(table, seat)


def when_all_have_chosen(table: Table) -> Facts:
    """Given back in seat order once all have chosen, so the order of answers changes nothing."""
    if not table.awaits:
        for seat in range(len(table.places)):
            yield from give_back(table, seat)
        yield from first_turn(table)


def give_back(table: Table, seat: Seat) -> Facts:
    """What a seat didn't keep goes to the bottom of its deck."""
    returned: dict[str, list[str]] = {}
    for ticket in table.places[seat].offer:
        assert ticket is not None, "only the referee moves tickets"
        returned.setdefault(table.board.tickets[ticket].deck, []).append(ticket)
    for deck, tickets in returned.items():
        yield TicketsReturned(seat, deck, tuple(tickets))


@lru_cache(maxsize=200)
def _choices(offered: int, least: int) -> Sequence[KeepTickets]:
    """Every set of places of at least the least size, smallest first."""
    return tuple(
        KeepTickets(keep) for size in range(least, offered + 1) for keep in combinations(range(offered), size)
    )


_DRAW = DrawTickets()

DRAW_TICKETS = Move(DrawTickets, draw_offers, draw_tickets)
KEEP_TICKETS = Move(KeepTickets, keep_offers, keep_tickets)
