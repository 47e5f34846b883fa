"""Routes, tunnels and stations: what may be claimed and built, and what it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from tests.rules.plain.board import GRAY, Route
from tests.rules.plain.cards import provide
from tests.rules.plain.table import LOCOMOTIVE, Table, Tunnel

PLUS_FOUR, PASSENGER = "locomotive4", "passenger"


def wild_cards(t: Table, spaces: int) -> set[str]:
    """ROUTE-7: a "+4" is wild on long routes only."""
    return {LOCOMOTIVE, PLUS_FOUR} if spaces >= t.options["plus_four_least"] else {LOCOMOTIVE}


def color_paid(t: Table, cards: Mapping[str, int], spaces: int) -> set[str]:
    """The kinds of cards among these that aren't wild."""
    return {card for card, count in cards.items() if count} - wild_cards(t, spaces)


def check_payment(t: Table, route: Route, cards: Mapping[str, int]) -> None:
    """ROUTE-2, ROUTE-7, FERRY-1."""
    colors = color_paid(t, cards, route.length)
    t.same("ROUTE-2", f"cards paid for {route.id}", sum(cards.values()), route.length)
    t.need(len(colors) <= 1, "ROUTE-2", f"{route.id} is paid in several colours: {dict(cards)}")
    t.need(not colors & {PLUS_FOUR, PASSENGER}, "ROUTE-7", f"{route.id} is paid with {dict(cards)}")
    if route.color != GRAY:
        t.need(colors <= {route.color}, "ROUTE-2", f"{route.id} is {route.color}, paid with {dict(cards)}")
    t.need(
        cards.get(LOCOMOTIVE, 0) >= route.locomotives, "FERRY-1", f"{route.id} asks for {route.locomotives}"
    )


def is_open(t: Table, seat: int, route: Route) -> str | None:
    """The rule by which the seat can't have the route; None if it can."""
    if route.id in t.owners:
        return "ROUTE-1"
    if t.options["parallel_owned"]:
        return None
    owners = [t.owners[other] for other in t.board.parallels[route.id] if other in t.owners]
    if seat in owners:
        return "DOUBLE-1"
    return "DOUBLE-2" if owners and len(t.seats) < t.options["parallel_seats"] else None


def check_claim(t: Table, seat: int, name: str) -> Route:
    """The route, which must be there, open, and not longer than the seat's cars last."""
    if name not in t.board.routes:
        t.stop("ROUTE-1", f"{name} isn't on the board")
    route = t.board.routes[name]
    if rule := is_open(t, seat, route):
        t.differ(rule, f"{name} is claimed by seat {seat}, with {t.owners}")
    t.need(t.seats[seat].cars >= route.length, "ROUTE-4", f"seat {seat} has {t.seats[seat].cars} cars")
    return route


def points_for(t: Table, route: Route) -> int:
    return int(t.options["route_points"][route.length - 1])


def claim(t: Table, base: Mapping[str, int] | None = None, *, checked: bool = True) -> None:
    """A route is paid for and taken; `base` is what was put down for a tunnel before."""
    event = t.take("route_claimed", "ROUTE-6")
    seat = event["seat"]
    cards: Counter[str] = Counter(event["cards"])
    route = check_claim(t, seat, event["route"])
    if checked:
        check_payment(t, route, cards)
    if route.tunnel and base is None and t.options["tunnel_cards"]:
        t.differ("TUNNEL-1", f"{route.id} is claimed, and no cards are turned up")
    t.pay(seat, cards, "ROUTE-3")
    t.owners[route.id] = seat
    t.untaken = None
    t.seats[seat].cars -= route.length
    points = points_for(t, route) if t.options["points_at_once"] else 0
    t.same("ROUTE-6", f"points for {route.id}", event["points"], points)
    t.seats[seat].points += points
    place_passenger(t, seat, route)


def place_passenger(t: Table, seat: int, route: Route) -> None:
    """PASSENGER-1: with the claim a passenger may be set down."""
    if t.next_type() != "passenger_placed":
        return
    event = t.take("passenger_placed", "PASSENGER-1")
    city, at = event["city"], t.seats[seat]
    t.same("PASSENGER-1", "seat of the passenger", event["seat"], seat)
    t.need(city in route.ends and city in t.board.cities, "PASSENGER-1", f"{city} isn't a city of {route.id}")
    t.need(city not in t.passengers, "PASSENGER-1", f"a passenger stands in {city}")
    t.need(at.passengers > 0, "PASSENGER-1", f"seat {seat} has no passenger left")
    at.passengers -= 1
    t.passengers[city] = seat


# -- tunnels -------------------------------------------------------------------------------


def dig(t: Table) -> bool:
    """TUNNEL-1, TUNNEL-2: cards are turned up for a tunnel. Whether it asks for more."""
    turned_up = t.options["tunnel_cards"]
    provide(t, turned_up, "TUNNEL-1")
    event = t.take("tunnel_revealed", "TUNNEL-1")
    seat = event["seat"]
    cards: Counter[str] = Counter(event["cards"])
    route = check_claim(t, seat, event["route"])
    t.need(route.tunnel, "TUNNEL-1", f"{route.id} is no tunnel")
    check_payment(t, route, cards)
    t.need(cards <= t.seats[seat].hand, "ROUTE-3", f"seat {seat} names {cards}")
    t.same("TUNNEL-1", "cards turned up", list(event["revealed"]), t.deck[:turned_up])
    revealed, t.deck = t.deck[:turned_up], t.deck[turned_up:]
    asking = {LOCOMOTIVE, *color_paid(t, cards, route.length)}
    extra = sum(card in asking for card in revealed)
    t.same("TUNNEL-2", "extra cards", event["extra"], extra)
    t.tunnel = Tunnel(route.id, cards, revealed, extra)
    if not extra:
        settle(t, seat)
    return bool(extra)


def settle(t: Table, seat: int) -> None:
    """TUNNEL-3: the tunnel is claimed, with what it asks for besides."""
    tunnel = t.tunnel
    assert tunnel is not None
    if t.next_type() == "route_claimed":
        event = t.events[t.read]
        t.same("TUNNEL-3", "the route claimed", event["route"], tunnel.route)
        t.same("TUNNEL-3", "its seat", event["seat"], seat)
        paid: Counter[str] = Counter(event["cards"])
        besides = paid - tunnel.cards
        asked = {LOCOMOTIVE, *color_paid(t, tunnel.cards, 0)}
        t.need(tunnel.cards <= paid, "TUNNEL-1", f"{dict(paid)} isn't what was put down, and more")
        t.same("TUNNEL-3", "cards paid besides", besides.total(), tunnel.extra)
        t.need(set(besides) <= asked, "TUNNEL-2", f"the tunnel is paid besides with {dict(besides)}")
    claim(t, tunnel.cards, checked=False)


def discard_revealed(t: Table) -> None:
    """TUNNEL-4: at the end of the turn."""
    if t.tunnel:
        t.take("revealed_discarded", "TUNNEL-4")
        t.discards.update(t.tunnel.revealed)
        t.tunnel = None


# -- stations ------------------------------------------------------------------------------


def build_station(t: Table) -> None:
    """STATION-1, STATION-2, STATION-3."""
    event = t.take("station_built", "STATION-1")
    seat, city = event["seat"], event["city"]
    cards: Counter[str] = Counter(event["cards"])
    at, costs = t.seats[seat], t.options["station_costs"]
    t.need(city in t.board.cities, "STATION-1", f"there is no city {city}")
    t.need(city not in t.station_owners, "STATION-1", f"{city} has a station")
    if len(at.stations) >= len(costs):
        t.stop("STATION-1", f"seat {seat} has built all its stations")
    t.same("STATION-2", "cards for the station", cards.total(), costs[len(at.stations)])
    t.need(len(set(cards) - {LOCOMOTIVE}) <= 1, "STATION-2", f"paid in several colours: {dict(cards)}")
    neighbour = event["neighbour"]
    neighbours = {end for route in t.board.routes_at.get(city, ()) for end in route.ends} - {city}
    t.need(neighbour is None or neighbour in neighbours, "STATION-3", f"{neighbour} isn't next to {city}")
    t.pay(seat, cards, "ROUTE-3")
    at.stations[city] = neighbour
    t.station_owners[city] = seat
