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
from services.referee.rules.appliers.table import applies
from services.referee.rules.board import Route
from services.referee.rules.seat_state import SeatState
from services.referee.rules.state import ACTION, MIX, SECOND_CARD, TICKETS, TUNNEL, GameState
from services.referee.rules.train_state import Tunnel

# -- cards ---------------------------------------------------------------------------


@applies(MarketFilled)
def market_filled(state: GameState, event: MarketFilled) -> None:
    if len(event.slots) != len(event.cards):
        raise ValueError("a slot for each card")  # `strict` costs more than all else here
    table = state.own
    for slot, card in zip(event.slots, event.cards):  # noqa: B905 - see above
        table.deck.pop()
        table.market[slot] = card


@applies(MarketFlushed)
def market_flushed(state: GameState, event: MarketFlushed) -> None:
    table = state.own
    for slot, card in enumerate(table.market):
        if card is not None:
            table.discards[card] += 1
        table.market[slot] = None


@applies(CardDrawn)
def card_drawn(state: GameState, event: CardDrawn) -> None:
    seat = event.seat
    table = state.own
    table.deck.pop()
    state.seats[seat].own.hand[event.card] += 1
    state.pending_choices[seat] = SECOND_CARD
    table.seats_passed.clear()


@applies(MarketCardTaken)
def market_card_taken(state: GameState, event: MarketCardTaken) -> None:
    seat = event.seat
    table = state.own
    table.market[event.slot] = None
    state.seats[seat].own.hand[event.card] += 1
    state.pending_choices[seat] = SECOND_CARD
    table.seats_passed.clear()


@applies(CardsGiven)
def cards_given(state: GameState, event: CardsGiven) -> None:
    hand = state.seats[event.seat].own.hand
    table = state.own
    for card in event.cards:
        table.deck.pop()
        hand[card] += 1
    table.untaken = event.seat, event.cards
    table.seats_passed.clear()


@applies(RequestUnmet)
def request_unmet(state: GameState, event: RequestUnmet) -> None:
    table = state.own
    table.untaken = None
    table.seats_passed.add(event.seat)


# -- tickets -------------------------------------------------------------------------


@applies(MixAsked)
def mix_asked(state: GameState, event: MixAsked) -> None:
    seat_state = state.seats[event.seat]
    seat_state.deadline_ms = deadline_for(state, seat_state)
    state.pending_choices[event.seat] = MIX


@applies(TicketsNamed)
def tickets_named(state: GameState, event: TicketsNamed) -> None:
    state.seats[event.seat].own.requested_mix = {} if event.decks is None else event.decks
    del state.pending_choices[event.seat]


@applies(TicketsOffered)
def tickets_offered(state: GameState, event: TicketsOffered) -> None:
    seat_state = state.seats[event.seat]
    table = state.own
    for deck in event.decks:
        table.ticket_decks[deck].pop()
    seat_state.own.offer, seat_state.own.min_keep, seat_state.own.requested_mix = (
        list(event.tickets),
        event.least,
        None,
    )
    if event.seat not in state.pending_choices:  # else it drew them, and is in the middle of its turn
        seat_state.deadline_ms = deadline_for(state, seat_state)
    state.pending_choices[event.seat] = TICKETS
    table.seats_passed.clear()


@applies(TicketsKept)
def tickets_kept(state: GameState, event: TicketsKept) -> None:
    seat_state = state.seats[event.seat].own
    seat_state.tickets.extend(event.kept)
    for ticket in event.kept:
        seat_state.offer.remove(ticket)
    seat_state.start_tickets_chosen = True
    del state.pending_choices[event.seat]


@applies(TicketsReturned)
def tickets_returned(state: GameState, event: TicketsReturned) -> None:
    seat_state = state.seats[event.seat].own
    for ticket in event.tickets:
        seat_state.offer.remove(ticket)
    RETURN_APPLIERS[event.to](state, event)


def _return_to_bottom(state: GameState, event: TicketsReturned) -> None:
    for ticket in event.tickets:
        state.own.ticket_decks[event.deck].insert(0, ticket)


def _return_to_top(state: GameState, event: TicketsReturned) -> None:
    state.own.ticket_decks[event.deck].extend(reversed(event.tickets))


def _return_out_of_game(state: GameState, event: TicketsReturned) -> None:
    """They are out of the game."""


RETURN_APPLIERS = {
    "bottom": _return_to_bottom,
    "shuffled": _return_to_bottom,
    "top": _return_to_top,
    "out": _return_out_of_game,
}


# -- routes --------------------------------------------------------------------------


@applies(RouteClaimed)
def route_claimed(state: GameState, event: RouteClaimed) -> None:
    seat, route_id = event.seat, event.route
    seat_state = state.seats[seat].own
    pay(state, seat, event.cards)
    table = state.own
    seat_state.cars -= table.board.routes[route_id].length
    seat_state.points += event.points
    assign_route(state, route_id, seat)
    table.untaken = None
    table.seats_passed.clear()


def pay(state: GameState, seat: Seat, cards: Mapping[str, int]) -> None:
    """The seat's cards go to the discard pile."""
    hand, discards = state.seats[seat].own.hand, state.own.discards
    for card, count in cards.items():
        hand[card] -= count
        discards[card] += count


def assign_route(state: GameState, route_id: str, seat: Seat) -> None:
    """Give the seat the route; its parallels are blocked for the seat, or closed, as the options say."""
    table = state.own
    route, seat_state = table.board.routes[route_id], state.seats[seat].own
    seat_state.routes.append(route_id)
    table.route_owners[route_id] = seat
    close_route(state, route)
    if len(route.lanes) > 1 and not state.rule_options.parallel_owned:
        parallels = route.parallels
        seat_state.blocked_parallels.update(parallels)
        if table.closes_parallels:
            for twin in parallels:
                close_route(state, table.board.routes[twin])


def close_route(state: GameState, route: Route) -> None:
    """Nobody can claim the route any more. In a position a parallel may have closed it before."""
    fare, name = route.fare, route.id
    table = state.own
    open_routes = table.open_routes[fare]
    if name in open_routes:
        place = open_routes.index(name)
        table.open_routes[fare] = open_routes[:place] + open_routes[place + 1 :]


@applies(TunnelRevealed)
def tunnel_revealed(state: GameState, event: TunnelRevealed) -> None:
    table = state.own
    del table.deck[len(table.deck) - len(event.revealed) :]
    table.tunnel = Tunnel(event.route, event.cards, event.revealed, event.extra)
    state.pending_choices[event.seat] = TUNNEL
    table.seats_passed.clear()


@applies(TunnelDeclined)
def tunnel_declined(state: GameState, event: TunnelDeclined) -> None:
    del state.pending_choices[event.seat]


@applies(RevealedDiscarded)
def revealed_discarded(state: GameState, event: RevealedDiscarded) -> None:
    table = state.own
    assert table.tunnel is not None, "there is a tunnel whose cards were turned up"
    for card in table.tunnel.revealed:
        table.discards[card] += 1
    table.tunnel = None


# -- stations and passengers -----------------------------------------------------------


@applies(StationBuilt)
def station_built(state: GameState, event: StationBuilt) -> None:
    pay(state, event.seat, event.cards)
    table = state.own
    table.station_owners[event.city] = event.seat
    state.seats[event.seat].own.stations[event.city] = event.neighbour
    table.seats_passed.clear()


@applies(PassengerPlaced)
def passenger_placed(state: GameState, event: PassengerPlaced) -> None:
    state.own.passenger_owners[event.city] = event.seat
    state.seats[event.seat].own.passengers_left -= 1


@applies(PassengerMoved)
def passenger_moved(state: GameState, event: PassengerMoved) -> None:
    if event.cards:
        pay(state, event.seat, {PASSENGER: event.cards})
    table = state.own
    del table.passenger_owners[event.city]
    for city in event.taken:
        table.tokens[city] = table.tokens[city][1:]
    state.seats[event.seat].own.merchandise += event.points
    table.seats_passed.clear()


# -- turns ---------------------------------------------------------------------------


@applies(TurnStarted)
def turn_started(state: GameState, event: TurnStarted) -> None:
    seat = event.seat
    seat_state = state.seats[seat]
    seat_state.deadline_ms = deadline_for(state, seat_state)
    state.turn = seat
    state.pending_choices = {seat: ACTION}
    state.own.seats_with_last_turn.discard(seat)
    state.refusal_counts.clear()


def deadline_for(state: GameState, seat_state: SeatState) -> int | None:
    """When a seat's time is over if its choice is pending from now on, in milliseconds of game time: its
    clock has run down (CLOCK-1), or the move's limit is reached. None if neither is limited."""
    rule_options = state.rule_options
    clock_ms, move_ms = rule_options.clock_ms, rule_options.move_ms
    if clock_ms is None:
        return None if move_ms is None else state.at_ms + move_ms
    return state.at_ms + (seat_state.clock_ms if move_ms is None else min(seat_state.clock_ms, move_ms))


@applies(Passed)
def passed(state: GameState, event: Passed) -> None:
    state.own.seats_passed.add(event.seat)
