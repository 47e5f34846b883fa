"""What a seat must do instead of passing (TURN-4): anything but build a station."""

from __future__ import annotations

from collections import Counter

from tests.rules.plain.board import GRAY, Route
from tests.rules.plain.claims import PASSENGER, PLUS_FOUR, is_open, wild_cards
from tests.rules.plain.table import LOCOMOTIVE, Table
from tests.rules.plain.tickets import tickets_left


def must_act(t: Table, seat: int) -> str | None:
    """One legal action of the seat that isn't a station; None if it has none."""
    if t.page.asks_for_cards:
        return "ask for cards"
    if t.deck or t.discards or any(t.market):
        return "draw cards"
    if tickets_left(t):
        return "draw tickets"
    if any(is_payable(t, seat, route) for route in t.board.routes.values()):
        return "claim a route"
    if any(owner == seat and can_leave(t, seat, city) for city, owner in t.passengers.items()):
        return "move a passenger"
    return None


def is_payable(t: Table, seat: int, route: Route) -> bool:
    at = t.seats[seat]
    if is_open(t, seat, route) or at.cars < route.length or at.hand[LOCOMOTIVE] < route.locomotives:
        return False
    wild = wild_cards(t, route.length)
    colors = at.hand if route.color == GRAY else {route.color: at.hand[route.color]}
    return route.length <= most_of_a_color(Counter(colors), wild, at.hand)


def most_of_a_color(cards: Counter[str], wild: set[str], hand: Counter[str]) -> int:
    """How many cards a payment of one colour and wild cards can have."""
    plain = [n for card, n in cards.items() if card not in {LOCOMOTIVE, PLUS_FOUR, PASSENGER}]
    return max(plain, default=0) + sum(hand[card] for card in wild)


def can_leave(t: Table, seat: int, city: str) -> bool:
    """Whether a passenger has a first step."""
    for route in t.board.routes_at.get(city, ()):
        there = route.ends[1] if route.ends[0] == city else route.ends[0]
        owner = t.owners.get(route.id)
        if owner is None or there not in t.board.cities:
            continue
        if owner == seat or t.seats[seat].hand[PASSENGER]:
            return True
    return False
