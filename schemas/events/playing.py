"""Facts of the play: cards, market, tickets, routes, tunnels, stations, passengers, turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from schemas.contract import Contract, contract
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


@contract(type="market_filled", code=7)
class MarketFilled(Contract):
    """Cards from the deck were turned up into these places of the market."""

    slots: tuple[Slot, ...]
    cards: tuple[Card, ...]


@contract(type="market_flushed", code=8)
class MarketFlushed(Contract):
    """All face-up cards went to the discard pile (MARKET-2)."""


@contract(type="tickets_offered", code=9)
class TicketsOffered(Contract):
    """Tickets from the tops of their decks; the seat keeps at least `least` of them."""

    seat: Seat
    decks: tuple[Slug, ...]  # the deck of each, in order
    tickets: TicketRow  # private
    least: Annotated[Int, Field(ge=0, le=10)]


@contract(type="tickets_kept", code=10)
class TicketsKept(Contract):
    seat: Seat
    kept: TicketRow  # private


@contract(type="tickets_returned", code=11)
class TicketsReturned(Contract):
    """What was offered and not kept went back."""

    seat: Seat
    deck: Slug
    to: Literal["bottom", "out", "shuffled", "top"]  # of its deck; shuffled: among it, or out of the game
    tickets: TicketRow  # private


@contract(type="mix_asked", code=39)
class MixAsked(Contract):
    """The seat is to say how many starting tickets of each deck it wants (SETUP-3)."""

    seat: Seat


@contract(type="tickets_named", code=24)
class TicketsNamed(Contract):
    """The seat said how many tickets of each deck it wants; they come when all have (SETUP-3)."""

    seat: Seat
    decks: Mapping[Slug, Int] | None  # private


@contract(type="turn_started", code=12)
class TurnStarted(Contract):
    seat: Seat


@contract(type="card_drawn", code=13)
class CardDrawn(Contract):
    """A card was taken blind from the deck."""

    seat: Seat
    card: Card | None  # private


@contract(type="market_card_taken", code=14)
class MarketCardTaken(Contract):
    seat: Seat
    slot: Slot
    card: Card


@contract(type="route_claimed", code=15)
class RouteClaimed(Contract):
    """The cards are on the table for all to see."""

    seat: Seat
    route: RouteId
    cards: Cards
    points: Int


@contract(type="tunnel_revealed", code=25)
class TunnelRevealed(Contract):
    """A tunnel was begun: these cards lie beside it, and ask for so many more (TUNNEL-1, TUNNEL-2)."""

    seat: Seat
    route: RouteId
    cards: Cards  # the base payment; the seat holds it until the tunnel is paid or declined
    revealed: tuple[Card, ...]
    extra: Int


@contract(type="tunnel_declined", code=26)
class TunnelDeclined(Contract):
    seat: Seat


@contract(type="revealed_discarded", code=27)
class RevealedDiscarded(Contract):
    """The cards that were turned up for a tunnel went to the discard pile (TUNNEL-4)."""


@contract(type="station_built", code=28)
class StationBuilt(Contract):
    seat: Seat
    city: CityId
    cards: Cards
    neighbour: CityId | None  # whose route it borrows; null leaves that to the end


@contract(type="passenger_placed", code=29)
class PassengerPlaced(Contract):
    seat: Seat
    city: CityId


@contract(type="passenger_moved", code=30)
class PassengerMoved(Contract):
    """A passenger travelled, took the top token of these cities, and left the game."""

    seat: Seat
    city: CityId
    path: tuple[RouteId, ...]
    cards: Int  # passenger cards played for others' routes
    taken: tuple[CityId, ...]
    points: Int


@contract(type="cards_given", code=31)
class CardsGiven(Contract):
    """The next cards of the deck went to the seat that asked (CARD-6)."""

    seat: Seat
    cards: CardRow  # private


@contract(type="request_unmet", code=32)
class RequestUnmet(Contract):
    """The deck has too few cards for the seat that asked (CARD-6)."""

    seat: Seat


@contract(type="passed", code=16)
class Passed(Contract):
    seat: Seat
