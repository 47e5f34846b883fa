"""A seat's score in its parts, for `ledgerline ask`."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.events import SeatScore
from schemas.position_queries import (
    SeatCounted,
    StationCounted,
    TicketCounted,
)
from services.referee.rules import GameState


def score_breakdown(state: GameState, seat_score: SeatScore) -> SeatCounted:
    """One seat's score, its tickets and stations named by their cities."""
    seat_state = state.seats[seat_score.seat]
    lent = zip(seat_state.stations.items(), seat_score.lent, strict=True)
    return SeatCounted(
        seat=seat_score.seat,
        routes=seat_score.routes,
        tickets=tuple(_count_tickets(state, seat_score)),
        ticket_points=seat_score.tickets,
        longest=seat_score.longest,
        longest_bonus=seat_score.bonus,
        stations=tuple(StationCounted(city, neighbour, route) for (city, neighbour), route in lent),
        station_points=seat_score.stations,
        merchandise=seat_score.merchandise,
        most_tickets_bonus=seat_score.most,
        total=seat_score.total,
        place=seat_score.place,
    )


def _count_tickets(state: GameState, seat_score: SeatScore) -> Iterator[TicketCounted]:
    """In the order in which the seat got them."""
    for ticket_id in state.seats[seat_score.seat].tickets:
        if ticket_id is not None:
            ticket = state.board.tickets[ticket_id]
            yield TicketCounted((ticket.a, ticket.b), ticket.points, ticket_id in seat_score.made)
