"""A position: a state in the middle of a game, as people write it down to ask about it.

A field that is left out has the value of a game that is just set up, before any card is dealt:
empty hands, an empty market, the whole deck and the tickets that nobody holds shuffled, all cars,
no routes, full stacks of tokens. The top of a deck comes first; lists by seat may be shorter than
the seats. Where it is nobody's turn yet (`turn` is null), the game begins with the deal, from the decks as
they lie here and not shuffled. The last fields are of a game in progress: turns that are left, and a turn that has begun.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from schemas.commands import POSITION_FORMS
from schemas.contract import Schema, contract
from schemas.field_types import Bool, Int, Seat, Slug
from schemas.game_options import ExitReason
from schemas.trains.field_types import Card, Cards, CityId, RouteId

SmallCount = Annotated[Int, Field(ge=0, le=1000)]
Points = Annotated[Int, Field(ge=-10_000, le=10_000)]
SeatSet = Annotated[tuple[Seat, ...], Field(max_length=8)]
CardCounts = Mapping[Card, Annotated[Int, Field(ge=0, le=250)]]


@contract()
class TicketGiven:
    """A ticket by its cities and points; it need not be one of the board's."""

    between: tuple[CityId, CityId]
    points: Annotated[Int, Field(ge=1, le=100)]


@contract()
class StationGiven:
    seat: Seat
    neighbour: CityId | None = None


@contract()
class TunnelGiven:
    """A tunnel that the seat to act has begun: it is to pay the extra, or to decline."""

    route: RouteId
    cards: Cards  # the base payment, which is still in the hand
    revealed: Annotated[tuple[Card, ...], Field(min_length=1, max_length=10)]


GivenTickets = Annotated[tuple[TicketGiven, ...], Field(max_length=2000)]


@contract()
class OfferGiven:
    """Tickets that the seat to act has drawn: it is to say which of them it keeps."""

    tickets: Annotated[tuple[TicketGiven, ...], Field(min_length=1, max_length=20)]
    least: Annotated[Int, Field(ge=0, le=10)] = 1  # to keep


@POSITION_FORMS.bring
@contract()
class Position:
    """The state to start from. None is the value of a new game: see the top of this module."""

    turn: Seat | None = 0  # null: hands and starting tickets are dealt first
    hands: Annotated[tuple[CardCounts, ...], Field(max_length=8)] = ()
    market: Annotated[tuple[Card | None, ...], Field(max_length=10)] | None = None  # null is a gap
    deck: Annotated[tuple[Card, ...], Field(max_length=2000)] | None = None
    discard: CardCounts | None = None
    routes: Annotated[Mapping[RouteId, Seat], Field(max_length=1000)] | None = None
    cars: Annotated[tuple[SmallCount, ...], Field(max_length=8)] = ()
    tickets: Annotated[tuple[GivenTickets, ...], Field(max_length=8)] = ()
    ticket_decks: Annotated[Mapping[Slug, GivenTickets], Field(max_length=4)] | None = None
    stations: Annotated[Mapping[CityId, StationGiven], Field(max_length=100)] | None = None
    passengers: Annotated[Mapping[CityId, Seat], Field(max_length=100)] | None = None
    tokens: (
        Annotated[
            Mapping[CityId, Annotated[tuple[Annotated[Int, Field(ge=1, le=50)], ...], Field(max_length=10)]],
            Field(max_length=500),
        ]
        | None
    ) = None
    merchandise: Annotated[tuple[SmallCount, ...], Field(max_length=8)] = ()
    points: Annotated[tuple[Points, ...], Field(max_length=8)] = ()
    order: Annotated[tuple[Seat, ...], Field(max_length=8)] | None = None  # of the turns
    last_turns: SeatSet | None = None  # who has a last turn after this one; null: they haven't begun
    passed: SeatSet = ()  # whose turns changed nothing since the last change
    gone: Annotated[tuple[ExitReason | None, ...], Field(max_length=8)] = ()  # by seat
    passengers_left: Annotated[tuple[SmallCount, ...], Field(max_length=8)] | None = (
        None  # still to be placed
    )
    second_card: Bool = False  # the seat to act has drawn one card, and is to draw another
    offer: OfferGiven | None = None
    tunnel: TunnelGiven | None = None

    def has_turn_state(self) -> bool:
        """Whether it says more of the turns than whose begins."""
        given = (self.order, self.last_turns, self.passengers_left, self.offer, self.tunnel)
        return any(part is not None for part in given) or bool(self.passed or self.gone or self.second_card)


POSITION_SCHEMA: Schema[Position] = Schema(Position, "position")
