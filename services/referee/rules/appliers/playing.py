"""The play: cards, tickets, routes, tunnels, stations and passengers."""

from __future__ import annotations

from collections.abc import Mapping

from schemas.events import (
    CardDrawn,
    CardsGiven,
    MarketCardTaken,
    MarketFilled,
    MarketFlushed,
    MixAsked,
    Passed,
    PassengerMoved,
    PassengerPlaced,
    RequestUnmet,
    RevealedDiscarded,
    RouteClaimed,
    StationBuilt,
    TicketsKept,
    TicketsNamed,
    TicketsOffered,
    TicketsReturned,
    TunnelDeclined,
    TunnelRevealed,
    TurnStarted,
)  # fmt: skip
from schemas.field_types import PASSENGER, Seat
from services.referee.rules.table import ACTION, MIX, SECOND_CARD, TICKETS, TUNNEL, Place, Table, Tunnel

# -- cards ---------------------------------------------------------------------------


def market_filled(table: Table, event: MarketFilled) -> None:
    for slot, card in zip(event.slots, event.cards, strict=True):
        table.deck.pop()
        table.market[slot] = card


def market_flushed(table: Table, event: MarketFlushed) -> None:
    for slot, card in enumerate(table.market):
        if card is not None:
            table.discards[card] += 1
        table.market[slot] = None


def card_drawn(table: Table, event: CardDrawn) -> None:
    table.deck.pop()
    table.places[event.seat].hand[event.card] += 1
    table.awaits[event.seat] = SECOND_CARD
    table.passed.clear()


def market_card_taken(table: Table, event: MarketCardTaken) -> None:
    table.market[event.slot] = None
    table.places[event.seat].hand[event.card] += 1
    table.awaits[event.seat] = SECOND_CARD
    table.passed.clear()


def cards_given(table: Table, event: CardsGiven) -> None:
    hand = table.places[event.seat].hand
    for card in event.cards:
        table.deck.pop()
        hand[card] += 1
    table.passed.clear()


def request_unmet(table: Table, event: RequestUnmet) -> None:
    table.passed.add(event.seat)


# -- tickets -------------------------------------------------------------------------


def mix_asked(table: Table, event: MixAsked) -> None:
    place = table.places[event.seat]
    place.until = time_is_over(table, place)
    table.awaits[event.seat] = MIX


def tickets_named(table: Table, event: TicketsNamed) -> None:
    table.places[event.seat].mix = {} if event.decks is None else event.decks
    del table.awaits[event.seat]


def tickets_offered(table: Table, event: TicketsOffered) -> None:
    place = table.places[event.seat]
    for deck in event.decks:
        table.ticket_decks[deck].pop()
    place.offer, place.least, place.mix = list(event.tickets), event.least, None
    if event.seat not in table.awaits:  # else it drew them, and is in the middle of its turn
        place.until = time_is_over(table, place)
    table.awaits[event.seat] = TICKETS
    table.passed.clear()


def tickets_kept(table: Table, event: TicketsKept) -> None:
    place = table.places[event.seat]
    place.tickets.extend(event.kept)
    for ticket in event.kept:
        place.offer.remove(ticket)
    place.chosen = True
    del table.awaits[event.seat]


def tickets_returned(table: Table, event: TicketsReturned) -> None:
    place = table.places[event.seat]
    for ticket in event.tickets:
        place.offer.remove(ticket)
    PUT_BACK[event.to](table, event)


def _under(table: Table, event: TicketsReturned) -> None:
    for ticket in event.tickets:
        table.ticket_decks[event.deck].insert(0, ticket)


def _on_top(table: Table, event: TicketsReturned) -> None:
    table.ticket_decks[event.deck].extend(reversed(event.tickets))


def _out(table: Table, event: TicketsReturned) -> None:
    """They are out of the game."""


PUT_BACK = {"bottom": _under, "shuffled": _under, "top": _on_top, "out": _out}


# -- routes --------------------------------------------------------------------------


def route_claimed(table: Table, event: RouteClaimed) -> None:
    place = table.places[event.seat]
    pay(table, event.seat, event.cards)
    place.cars -= table.board.routes[event.route].length
    place.points += event.points
    take_route(table, event.route, event.seat)
    table.passed.clear()


def pay(table: Table, seat: Seat, cards: Mapping[str, int]) -> None:
    """The seat's cards go to the discard pile."""
    hand, discards = table.places[seat].hand, table.discards
    for card, count in cards.items():
        hand[card] -= count
        discards[card] += count


def take_route(table: Table, name: str, seat: Seat) -> None:
    """The route is the seat's; its parallels are barred or closed as the table has it."""
    route, place = table.board.routes[name], table.places[seat]
    place.routes.append(name)
    table.owners[name] = seat
    table.open[route.fare].pop(name, None)  # in a position a parallel may have closed it first
    if route.twins and not table.figures.parallel_owned:
        place.barred.update(route.twins)
        if table.closing:
            for twin in route.twins:
                table.open[table.board.routes[twin].fare].pop(twin, None)


def tunnel_revealed(table: Table, event: TunnelRevealed) -> None:
    del table.deck[len(table.deck) - len(event.revealed) :]
    table.tunnel = Tunnel(event.route, event.cards, event.revealed, event.extra)
    table.awaits[event.seat] = TUNNEL
    table.passed.clear()


def tunnel_declined(table: Table, event: TunnelDeclined) -> None:
    del table.awaits[event.seat]


def revealed_discarded(table: Table, event: RevealedDiscarded) -> None:
    assert table.tunnel is not None, "there is a tunnel whose cards were turned up"
    for card in table.tunnel.revealed:
        table.discards[card] += 1
    table.tunnel = None


# -- stations and passengers -----------------------------------------------------------


def station_built(table: Table, event: StationBuilt) -> None:
    pay(table, event.seat, event.cards)
    table.stations[event.city] = event.seat
    table.places[event.seat].stations[event.city] = event.neighbour
    table.passed.clear()


def passenger_placed(table: Table, event: PassengerPlaced) -> None:
    table.passengers[event.city] = event.seat
    table.places[event.seat].passengers -= 1


def passenger_moved(table: Table, event: PassengerMoved) -> None:
    if event.cards:
        pay(table, event.seat, {PASSENGER: event.cards})
    del table.passengers[event.city]
    for city in event.taken:
        table.tokens[city] = table.tokens[city][1:]
    table.places[event.seat].merchandise += event.points
    table.passed.clear()


# -- turns ---------------------------------------------------------------------------


def turn_started(table: Table, event: TurnStarted) -> None:
    place = table.places[event.seat]
    place.until = time_is_over(table, place)
    table.turn = event.seat
    table.awaits = {event.seat: ACTION}
    table.last.discard(event.seat)
    table.refusals.clear()


def time_is_over(table: Table, place: Place) -> int | None:
    """When a seat's time is over if the table waits for it from now on: its clock has run down
    (CLOCK-1), or its move has taken as long as one may. None if neither is limited."""
    clock_ms, move_ms = table.figures.clock_ms, table.figures.move_ms
    if clock_ms is None:
        return None if move_ms is None else table.at + move_ms
    return table.at + (place.clock_ms if move_ms is None else min(place.clock_ms, move_ms))


def passed(table: Table, event: Passed) -> None:
    table.passed.add(event.seat)
