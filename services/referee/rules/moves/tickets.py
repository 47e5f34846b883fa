"""Destination tickets: offered, kept and given back (SETUP-2, SETUP-3, TICKET-*)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, product

from schemas.commands import DrawTickets, KeepTickets
from schemas.events import TicketsKept, TicketsNamed, TicketsOffered, TicketsReturned, TicketsShuffled
from schemas.field_types import Seat
from schemas.refusals import require
from services.referee.rules.moves.turns import end_turn
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


# -- drawing more ------------------------------------------------------------------------


def draw_offers(table: Table, seat: Seat) -> Sequence[DrawTickets]:
    for deck, count in table.figures.draw_tickets.items():
        if count and table.ticket_decks[deck]:
            return (_DRAW,)
    return ()


def draw_tickets(table: Table, seat: Seat, command: DrawTickets) -> Facts:
    """The draw of a ruleset whose tickets are drawn in one fixed mix: to name it is to name none."""
    fixed = {deck: count for deck, count in table.figures.draw_tickets.items() if count}
    named = {deck: count for deck, count in (command.decks or {}).items() if count}
    require(named in ({}, fixed), "TICKET-1", "these tickets are drawn without naming decks")
    require(draw_offers(table, seat), "TICKET-1", "no ticket is left")
    yield from offer_tickets(table, seat, table.figures.draw_tickets, table.figures.draw_keep)


def mix_offers(table: Table, seat: Seat) -> Sequence[DrawTickets]:
    """Every mix that brings at least one ticket."""
    figures = table.figures
    mixes = _mixes(tuple(figures.draw_tickets), figures.draw_named)
    return [draw for draw in mixes if brings(table, draw.decks or {})]


def draw_mix(table: Table, seat: Seat, command: DrawTickets) -> Facts:
    """The draw of a ruleset where the seat names how many of each deck (TICKET-3)."""
    figures = table.figures
    decks = named(command, figures.draw_tickets, figures.draw_named, "TICKET-3")
    require(any(table.ticket_decks.values()), "TICKET-1", "no ticket is left")
    require(brings(table, decks), "TICKET-3", "no ticket is left in what you named")
    yield from offer_tickets(table, seat, decks, figures.draw_keep)


def brings(table: Table, decks: Mapping[str, int]) -> bool:
    return any(count and table.ticket_decks[deck] for deck, count in decks.items())


def named(command: DrawTickets, known: Iterable[str], total: int, rule: str) -> Mapping[str, int]:
    """The mix that a command names, every deck in the table's order."""
    given, decks = command.decks or {}, tuple(known)
    fits = set(given) <= set(decks) and sum(given.values()) == total
    require(fits, rule, f"name how many tickets of {' and of '.join(decks)}, {total} in all")
    return {deck: given[deck] for deck in decks if given.get(deck)}


# -- the mix of the starting tickets -------------------------------------------------------


def name_offers(table: Table, seat: Seat) -> Sequence[DrawTickets]:
    return _mixes(tuple(table.figures.start_tickets), table.figures.start_named)


def name_tickets(table: Table, seat: Seat, command: DrawTickets) -> Facts:
    figures = table.figures
    decks = named(command, figures.start_tickets, figures.start_named, "SETUP-3")
    yield TicketsNamed(seat, decks)
    yield from table.rules.chosen(table)


# -- keeping -------------------------------------------------------------------------------


def keep_offers(table: Table, seat: Seat) -> Sequence[KeepTickets]:
    place = table.places[seat]
    return _choices(len(place.offer), place.least, keep_most(table, seat))


def keep_most(table: Table, seat: Seat) -> int:
    """How many of the offered tickets the seat may keep."""
    offered, most = len(table.places[seat].offer), table.figures.start_keep_most
    return offered if table.turn is not None or most is None else min(most, offered)


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
    most = keep_most(table, seat)
    require(len(command.keep) <= most, "SETUP-4", f"at most {most} of the offered tickets may be kept")
    yield TicketsKept(seat, tuple(offer[i] for i in sorted(command.keep)))
    if setting_up:
        yield from table.rules.chosen(table)
    else:
        yield from give_back(table, seat)
        yield from end_turn(table, seat)


def give_back(table: Table, seat: Seat) -> Facts:
    """What a seat didn't keep goes back where the table says."""
    setting_up, decks = table.turn is None, table.board.tickets
    to = table.figures.start_return if setting_up else "bottom"
    returned: dict[str, list[str]] = {}
    for ticket in table.places[seat].offer:
        assert ticket is not None, "only the referee moves tickets"
        returned.setdefault(decks[ticket].deck, []).append(ticket)
    for deck, tickets in returned.items():
        yield TicketsReturned(seat, deck, to, tuple(tickets))


def shuffle_tickets(table: Table, deck: str, tickets: Iterable[str | None]) -> Facts:
    """The tickets in a new order, as the whole deck."""
    order = table.rules.dealing.order(table, sorted(ticket for ticket in tickets if ticket is not None))
    yield TicketsShuffled(deck, order, table.rules.dealing.root(table, order))


@lru_cache(maxsize=200)
def _choices(offered: int, least: int, most: int) -> Sequence[KeepTickets]:
    """Every set of places of a size that is allowed, smallest first."""
    return tuple(
        KeepTickets(keep) for size in range(least, most + 1) for keep in combinations(range(offered), size)
    )


@lru_cache(maxsize=200)
def _mixes(decks: tuple[str, ...], total: int) -> Sequence[DrawTickets]:
    """Every way to make up the total from these decks."""
    counts = product(range(total + 1), repeat=len(decks))
    return tuple(
        DrawTickets({deck: n for deck, n in zip(decks, mix, strict=True) if n})
        for mix in counts
        if sum(mix) == total
    )


_DRAW = DrawTickets()

DRAW_TICKETS = Move(DrawTickets, draw_offers, draw_tickets)
DRAW_MIX = Move(DrawTickets, mix_offers, draw_mix)
NAME_TICKETS = Move(DrawTickets, name_offers, name_tickets)
KEEP_TICKETS = Move(KeepTickets, keep_offers, keep_tickets)
