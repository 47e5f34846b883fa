"""Commands of a seat in a train game: cards, tickets, routes, tunnels, stations, passengers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, model_validator

from schemas.contract import CommandContract, command
from schemas.field_types import Int, Slug
from schemas.trains.field_types import Card, Cards, CityId, RouteId

Payment = Annotated[Cards, Field(min_length=1)]


@command(type="draw_blind", code=4, sender="player")
class DrawBlind(CommandContract):
    """Take the top card of the deck, unseen by the others."""


@command(type="draw_market", code=5, sender="player")
class DrawMarket(CommandContract):
    """Take a face-up card, by its slot (from 0) or by its kind."""

    slot: Annotated[Int, Field(ge=0, le=9)] | None = None
    color: Card | None = None

    @model_validator(mode="after")
    def _require_slot_or_color(self) -> DrawMarket:
        if (self.slot is None) == (self.color is None):
            raise ValueError("give either slot or color")
        return self


@command(type="draw_tickets", code=6, sender="player")
class DrawTickets(CommandContract):
    """Ask for more destination tickets; which decks, where the ruleset has several."""

    decks: Annotated[Mapping[Slug, Annotated[Int, Field(ge=0, le=10)]], Field(max_length=4)] | None = None


@command(type="keep_tickets", code=7, sender="player")
class KeepTickets(CommandContract):
    """Keep these of the offered tickets, by their indexes in the offer (from 0)."""

    keep: Annotated[tuple[Annotated[Int, Field(ge=0, le=9)], ...], Field(max_length=10)]


@command(type="claim_route", code=8, sender="player")
class ClaimRoute(CommandContract):
    """Lay cars on a route, paying with these cards."""

    route: RouteId
    cards: Payment
    passenger: CityId | None = None  # placed in this city of the route (PASSENGER-1)


@command(type="pay_tunnel", code=12, sender="player")
class PayTunnel(CommandContract):
    """Pay the extra cards that the tunnel asks for (TUNNEL-3)."""

    cards: Payment


@command(type="decline_tunnel", code=13, sender="player")
class DeclineTunnel(CommandContract):
    """Give the tunnel up, and take the cards back."""


@command(type="build_station", code=14, sender="player")
class BuildStation(CommandContract):
    """Build a station in a city; the neighbour whose route it borrows may be named."""

    city: CityId
    cards: Payment
    neighbour: CityId | None = None


@command(type="move_passenger", code=15, sender="player")
class MovePassenger(CommandContract):
    """Send the passenger in this city along these routes, in order (PASSENGER-2)."""

    city: CityId
    path: Annotated[tuple[RouteId, ...], Field(min_length=1, max_length=100)]


@command(type="request_cards", code=16, sender="player")
class RequestCards(CommandContract):
    """Ask for the next two cards of the deck (CARD-6)."""
