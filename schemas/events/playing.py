"""Events of play: cards, market, tickets, routes, tunnels, stations, passengers, turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from schemas.contract import PUBLIC, EventContract, Private, event
from schemas.field_types import (  # fmt: skip
    Card,
    CardRow,
    Cards,
    CityId,
    Int,
    RouteId,
    Seat,
    Slot,
    Slug,
    TicketRow,
)


@event(type="market_filled", code=7, visibility=PUBLIC, draws="cards")
class MarketFilled(EventContract):
    """Cards from the deck were turned up into these slots of the market."""

    slots: tuple[Slot, ...]
    cards: tuple[Card, ...]


@event(type="market_flushed", code=8, visibility=PUBLIC)
class MarketFlushed(EventContract):
    """All face-up cards went to the discard pile (MARKET-2)."""


@event(type="tickets_offered", code=9, visibility=Private(owner="seat", hides=("tickets",)))
class TicketsOffered(EventContract):
    """Tickets from the tops of their decks; the seat keeps at least `least` of them."""

    seat: Seat
    decks: tuple[Slug, ...]  # the deck of each, in order
    tickets: TicketRow  # private
    least: Annotated[Int, Field(ge=0, le=10)]


@event(type="tickets_kept", code=10, visibility=Private(owner="seat", hides=("kept",)))
class TicketsKept(EventContract):
    seat: Seat
    kept: TicketRow  # private


@event(type="tickets_returned", code=11, visibility=Private(owner="seat", hides=("tickets",)))
class TicketsReturned(EventContract):
    """The seat gave back the offered tickets that it didn't keep."""

    seat: Seat
    deck: Slug
    to: Literal["bottom", "out", "shuffled", "top"]  # of its deck; shuffled: among it, or out of the game
    tickets: TicketRow  # private


@event(type="mix_asked", code=39, visibility=PUBLIC)
class MixAsked(EventContract):
    """The seat must name how many starting tickets of each deck it wants (SETUP-3)."""

    seat: Seat


@event(type="tickets_named", code=24, visibility=Private(owner="seat", hides=("decks",)))
class TicketsNamed(EventContract):
    """The seat named how many tickets of each deck it wants; they are offered when all have (SETUP-3)."""

    seat: Seat
    decks: Mapping[Slug, Int] | None  # private


@event(type="turn_started", code=12, visibility=PUBLIC)
class TurnStarted(EventContract):
    seat: Seat


@event(type="card_drawn", code=13, visibility=Private(owner="seat", hides=("card",)), draws="card")
class CardDrawn(EventContract):
    """A card was taken blind from the deck."""

    seat: Seat
    card: Card | None  # private


@event(type="market_card_taken", code=14, visibility=PUBLIC)
class MarketCardTaken(EventContract):
    seat: Seat
    slot: Slot
    card: Card


@event(type="route_claimed", code=15, visibility=PUBLIC)
class RouteClaimed(EventContract):
    """A route was paid for and taken; all see the cards."""

    seat: Seat
    route: RouteId
    cards: Cards
    points: Int


@event(type="tunnel_revealed", code=25, visibility=PUBLIC, draws="revealed")
class TunnelRevealed(EventContract):
    """A tunnel was begun: these cards lie beside it, and ask for so many more (TUNNEL-1, TUNNEL-2)."""

    seat: Seat
    route: RouteId
    cards: Cards  # the base payment, which stays in hand until the tunnel is paid or declined
    revealed: tuple[Card, ...]
    extra: Int


@event(type="tunnel_declined", code=26, visibility=PUBLIC)
class TunnelDeclined(EventContract):
    seat: Seat


@event(type="revealed_discarded", code=27, visibility=PUBLIC)
class RevealedDiscarded(EventContract):
    """The cards that were turned up for a tunnel went to the discard pile (TUNNEL-4)."""


@event(type="station_built", code=28, visibility=PUBLIC)
class StationBuilt(EventContract):
    seat: Seat
    city: CityId
    cards: Cards
    neighbour: CityId | None  # whose route it borrows; null leaves that to the end


@event(type="passenger_placed", code=29, visibility=PUBLIC)
class PassengerPlaced(EventContract):
    seat: Seat
    city: CityId


@event(type="passenger_moved", code=30, visibility=PUBLIC)
class PassengerMoved(EventContract):
    """A passenger travelled, took the top token of these cities, and left the game."""

    seat: Seat
    city: CityId
    path: tuple[RouteId, ...]
    cards: Int  # passenger cards played for others' routes
    taken: tuple[CityId, ...]
    points: Int


@event(type="cards_given", code=31, visibility=Private(owner="seat", hides=("cards",)), draws="cards")
class CardsGiven(EventContract):
    """The next cards of the deck went to the seat that asked (CARD-6)."""

    seat: Seat
    cards: CardRow  # private


@event(type="request_unmet", code=32, visibility=PUBLIC)
class RequestUnmet(EventContract):
    """The deck has too few cards for the seat that asked (CARD-6)."""

    seat: Seat


@event(type="passed", code=16, visibility=PUBLIC)
class Passed(EventContract):
    seat: Seat
