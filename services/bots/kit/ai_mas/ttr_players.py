"""Players, missions and cards as an AI-MAS class sees them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from schemas.field_types import Seat
from services.bots.kit.ai_mas.ttr_codes import COLOR_CHARACTERS
from services.referee.rules import GameState


class TTRMission(NamedTuple):
    """A ticket: two cities by name, and its points."""

    source: str
    destination: str
    points: int
    id: str  # in commands of the ordinary kit


class TTRCard(NamedTuple):
    """A train card, by the character of its colour; e is an engine. A kind that europe hasn't has its own name."""

    color: str


class TTRPlayer(NamedTuple):
    """A player. Of the others, `hand` and `missions` are empty: only their numbers are known."""

    seat: Seat
    name: str
    wagons: int
    stations: int  # that it may still build
    points: int  # of its routes
    cards: int  # how many it holds
    mission_count: int
    remaining_ms: int | None  # of its clock, at the last entry; None without one
    hand: tuple[TTRCard, ...]
    missions: tuple[TTRMission, ...]


def player_of(state: GameState, seat: Seat, viewer: Seat) -> TTRPlayer:
    """A player as this viewer sees it."""
    seat_state, options, is_own = state.seats[seat], state.rule_options, seat == viewer
    hand = {card: count for card, count in seat_state.hand.items() if is_own and card is not None}
    return TTRPlayer(
        seat,
        seat_state.name,
        seat_state.cars,
        len(options.station_costs) - len(seat_state.stations),
        seat_state.running_score,
        seat_state.cards,
        len(seat_state.tickets),
        None if options.clock_ms is None else max(0, seat_state.clock_ms),
        tuple(
            TTRCard(COLOR_CHARACTERS.get(card, card)) for card, count in hand.items() for _ in range(count)
        ),
        missions_of(state, seat_state.tickets) if is_own else (),
    )


def missions_of(state: GameState, tickets: Iterable[str | None]) -> tuple[TTRMission, ...]:
    """The tickets that can be seen among these."""
    known = (state.board.tickets[ticket] for ticket in tickets if ticket is not None)
    cities = state.board.cities
    return tuple(TTRMission(cities[each.a], cities[each.b], each.points, each.id) for each in known)
