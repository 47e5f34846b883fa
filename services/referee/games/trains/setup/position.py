"""A game that starts from a valid position (position_check.py), set up (schemas/trains/positions.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Final, NamedTuple, TypeVar

from schemas.trains.boards.form import TicketForm
from schemas.trains.events import DeckLaid, HandLaid, PositionLaid, TicketsLaid
from schemas.trains.positions import Position, TicketGiven
from schemas.trains.rule_options import RuleOptions
from services.referee.games.shuffle import in_canonical_order, shuffled
from services.referee.games.state import EventStream
from services.referee.games.trains.board import Board, Ticket, initial_tokens, points_for_route, ticket_decks
from services.referee.games.trains.setup.position_turns import turn_state_events

T = TypeVar("T")
U = TypeVar("U")
# Epochs of a position's own shuffles. Those of the play count from 0, so none is used twice.
FIRST_POSITION_EPOCH: Final = 1 << 32


def set_up_position(
    board: Board, rule_options: RuleOptions, seed: str, seats: int, position: Position
) -> EventStream:
    """The events that set up a valid position in a game just created."""
    token_stacks = position.tokens
    tickets = identify_tickets(board, position)
    yield PositionLaid(
        turn=position.turn,
        market=_padded(position.market or (), rule_options.market, None),
        discards={card: count for card, count in (position.discard or {}).items() if count},
        owners=position.routes or {},
        cars=_padded(position.cars, seats, rule_options.cars),
        points=(
            *position.points,
            *_route_scores(board, rule_options, seats, position)[len(position.points) :],
        ),
        stations=position.stations or {},
        passengers=(position.passengers or {}) if rule_options.passengers else {},
        tokens=initial_tokens(rule_options, board)
        if token_stacks is None
        else _sort_highest_on_top(token_stacks if rule_options.passengers else {}),
        merchandise=_padded(position.merchandise, seats, 0),
        tickets=extra_tickets(board, rule_options, tickets),
    )
    yield DeckLaid(_deck_order(rule_options, seed, position))
    held_ids = iter([ticket.id for ticket in tickets if ticket.deck is None])  # seat by seat, then an offer
    for seat in range(seats):
        hand = in_canonical_order(position.hands[seat].items()) if seat < len(position.hands) else []
        ticket_count = len(position.tickets[seat]) if seat < len(position.tickets) else 0
        yield HandLaid(seat, tuple(hand), tuple(islice(held_ids, ticket_count)))
    yield from _set_up_ticket_decks(board, rule_options, seed, position, tickets)
    yield from turn_state_events(rule_options, board, seats, position, [*held_ids])


def _route_scores(board: Board, rule_options: RuleOptions, seats: int, position: Position) -> list[int]:
    """The points of each seat for its routes; 0 where routes score only at the end."""
    scored = [0] * seats
    for route_id, seat in (position.routes or {}).items():
        scored[seat] += points_for_route(rule_options, board.routes[route_id])
    return scored if rule_options.points_at_once else [0] * seats


def _sort_highest_on_top(stacks: Mapping[str, Iterable[int]]) -> dict[str, tuple[int, ...]]:
    return {city: tuple(sorted(stack, reverse=True)) for city, stack in stacks.items()}


def _deck_order(rule_options: RuleOptions, seed: str, position: Position) -> tuple[str, ...]:
    """The deck that was given; else all cards that are nowhere else, shuffled."""
    if position.deck is not None:
        return position.deck
    remaining = Counter(rule_options.cards)
    for placed_cards in (*position.hands, position.discard or {}):
        remaining.subtract(placed_cards)
    remaining.subtract(card for card in position.market or () if card)
    remaining.subtract(position.tunnel.revealed if position.tunnel else ())
    return shuffled(in_canonical_order((+remaining).items()), seed, FIRST_POSITION_EPOCH)


def _set_up_ticket_decks(
    board: Board,
    rule_options: RuleOptions,
    seed: str,
    position: Position,
    tickets: Sequence[IdentifiedTicket],
) -> EventStream:
    """The ticket decks that were given; for others all tickets of the board that are nowhere else, shuffled."""
    placed_ids = {ticket.id for ticket in tickets}
    for epoch, deck in enumerate(deck_names(rule_options), start=FIRST_POSITION_EPOCH + 1):
        if deck in (position.ticket_decks or {}):
            yield TicketsLaid(deck, tuple(ticket.id for ticket in tickets if ticket.deck == deck))
        else:
            remaining = sorted(
                t.id for t in board.tickets.values() if t.deck == deck and t.id not in placed_ids
            )
            yield TicketsLaid(deck, shuffled(remaining, seed, epoch))


def _padded(values: Sequence[T], count: int, default: U) -> tuple[T | U, ...]:
    """The values, filled up with the default to `count`."""
    return (*values, *(default,) * (count - len(values)))


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
