"""A game that starts from a valid position (position_check.py), set up (schemas/positions.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, TypeVar

from schemas.events import DeckLaid, HandLaid, PositionLaid, TicketsLaid
from schemas.positions import Position
from schemas.rule_options import RuleOptions
from services.referee.rules.board import Board, initial_tokens, points_for_route
from services.referee.rules.ruleset import EventStream
from services.referee.rules.setup.position_tickets import (
    IdentifiedTicket,
    deck_names,
    extra_tickets,
    identify_tickets,
)
from services.referee.rules.setup.position_turns import turn_state_events
from services.referee.rules.shuffle import in_canonical_order, shuffled

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
    """What each seat scored for its routes; 0 where routes score only at the end."""
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
