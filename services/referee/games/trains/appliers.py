"""What each event does to a train game.

No judgement here: an event that reached the log did happen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import DeckShuffled, GameCreated, HandDealt, Passed, SeatCleared, SeatGone, TurnStarted
from schemas.field_types import HIDDEN, Seat
from schemas.trains.events import (
    CardDrawn,
    CardsGiven,
    ChoiceLaid,
    DeckKnown,
    DeckLaid,
    DeckRecreated,
    HandLaid,
    HandReturned,
    LastTurnsBegan,
    MarketCardTaken,
    MarketFilled,
    MarketFlushed,
    MixAsked,
    MomentLaid,
    PassengerMoved,
    PassengerPlaced,
    PositionLaid,
    RequestUnmet,
    RevealedDiscarded,
    RouteClaimed,
    StationBuilt,
    TicketsKept,
    TicketsLaid,
    TicketsNamed,
    TicketsOffered,
    TicketsReturned,
    TicketsShown,
    TicketsShuffled,
    TunnelDeclined,
    TunnelRevealed,
)
from schemas.trains.field_types import PASSENGER
from services.referee.games.appliers import applies, deadline_for
from services.referee.games.kit import ask
from services.referee.games.trains import board as boards
from services.referee.games.trains.board import Route
from services.referee.games.trains.train_state import (
    MIX,
    SECOND_CARD,
    TICKETS,
    TUNNEL,
    TrainGame,
    TrainSeat,
    TrainState,
    Tunnel,
)

# -- cards ---------------------------------------------------------------------------


@applies(MarketFilled)
def market_filled(state: TrainGame, event: MarketFilled) -> None:
    if len(event.slots) != len(event.cards):
        raise ValueError("a slot for each card")  # `strict` costs more than all else here
    for slot, card in zip(event.slots, event.cards):  # noqa: B905 - see above
        state.own.deck.pop()
        state.own.market[slot] = card


@applies(MarketFlushed)
def market_flushed(state: TrainGame, event: MarketFlushed) -> None:
    table = state.own
    for slot, card in enumerate(table.market):
        if card is not None:
            table.discards[card] += 1
        table.market[slot] = None


@applies(CardDrawn)
def card_drawn(state: TrainGame, event: CardDrawn) -> None:
    seat = event.seat
    state.own.deck.pop()
    state.seats[seat].own.hand[event.card] += 1
    state.pending_choices[seat] = SECOND_CARD
    state.own.seats_passed.clear()


@applies(MarketCardTaken)
def market_card_taken(state: TrainGame, event: MarketCardTaken) -> None:
    seat = event.seat
    state.own.market[event.slot] = None
    state.seats[seat].own.hand[event.card] += 1
    state.pending_choices[seat] = SECOND_CARD
    state.own.seats_passed.clear()


@applies(CardsGiven)
def cards_given(state: TrainGame, event: CardsGiven) -> None:
    hand = state.seats[event.seat].own.hand
    table = state.own
    for card in event.cards:
        table.deck.pop()
        hand[card] += 1
    table.untaken = event.seat, event.cards
    table.seats_passed.clear()


@applies(RequestUnmet)
def request_unmet(state: TrainGame, event: RequestUnmet) -> None:
    state.own.untaken = None
    state.own.seats_passed.add(event.seat)


# -- tickets -------------------------------------------------------------------------


@applies(MixAsked)
def mix_asked(state: TrainGame, event: MixAsked) -> None:
    ask(state, [event.seat], MIX)


@applies(TicketsNamed)
def tickets_named(state: TrainGame, event: TicketsNamed) -> None:
    state.seats[event.seat].own.requested_mix = {} if event.decks is None else event.decks
    del state.pending_choices[event.seat]


@applies(TicketsOffered)
def tickets_offered(state: TrainGame, event: TicketsOffered) -> None:
    seat_state = state.seats[event.seat]
    for deck in event.decks:
        state.own.ticket_decks[deck].pop()
    seat_state.own.offer, seat_state.own.min_keep, seat_state.own.requested_mix = (
        list(event.tickets),
        event.least,
        None,
    )
    if event.seat not in state.pending_choices:  # else it drew them, and is in the middle of its turn
        seat_state.deadline_ms = deadline_for(state, seat_state)
    state.pending_choices[event.seat] = TICKETS
    state.own.seats_passed.clear()


@applies(TicketsKept)
def tickets_kept(state: TrainGame, event: TicketsKept) -> None:
    seat_state = state.seats[event.seat].own
    seat_state.tickets.extend(event.kept)
    for ticket in event.kept:
        seat_state.offer.remove(ticket)
    seat_state.start_tickets_chosen = True
    del state.pending_choices[event.seat]


@applies(TicketsReturned)
def tickets_returned(state: TrainGame, event: TicketsReturned) -> None:
    seat_state = state.seats[event.seat].own
    for ticket in event.tickets:
        seat_state.offer.remove(ticket)
    if event.to == "top":
        state.own.ticket_decks[event.deck].extend(reversed(event.tickets))
    elif event.to != "out":
        state.own.ticket_decks[event.deck][:0] = reversed(event.tickets)


# -- routes --------------------------------------------------------------------------


@applies(RouteClaimed)
def route_claimed(state: TrainGame, event: RouteClaimed) -> None:
    seat, route_id = event.seat, event.route
    seat_state = state.seats[seat].own
    pay(state, seat, event.cards)
    table = state.own
    seat_state.cars -= table.board.routes[route_id].length
    seat_state.points += event.points
    assign_route(state, route_id, seat)
    table.untaken = None
    table.seats_passed.clear()


def pay(state: TrainGame, seat: Seat, cards: Mapping[str, int]) -> None:
    """The seat's cards go to the discard pile."""
    hand, discards = state.seats[seat].own.hand, state.own.discards
    for card, count in cards.items():
        hand[card] -= count
        discards[card] += count


def assign_route(state: TrainGame, route_id: str, seat: Seat) -> None:
    """Give the seat the route; its parallels are blocked for the seat, or closed, as the options say."""
    table = state.own
    route, seat_state = table.board.routes[route_id], state.seats[seat].own
    seat_state.routes.append(route_id)
    table.route_owners[route_id] = seat
    close_route(state, route)
    if not state.rule_options.parallel_owned:
        for lane in route.lanes:
            if lane != route_id:
                seat_state.blocked_parallels.add(lane)
                if table.closes_parallels:
                    close_route(state, table.board.routes[lane])


def close_route(state: TrainGame, route: Route) -> None:
    """Nobody can claim the route any more. In a position a parallel may have closed it before."""
    fare, name = route.fare, route.id
    open_routes = state.own.open_routes[fare]
    if name in open_routes:
        place = open_routes.index(name)
        state.own.open_routes[fare] = open_routes[:place] + open_routes[place + 1 :]


@applies(TunnelRevealed)
def tunnel_revealed(state: TrainGame, event: TunnelRevealed) -> None:
    table = state.own
    del table.deck[len(table.deck) - len(event.revealed) :]
    table.tunnel = Tunnel(event.route, event.cards, event.revealed, event.extra)
    state.pending_choices[event.seat] = TUNNEL
    table.seats_passed.clear()


@applies(TunnelDeclined)
def tunnel_declined(state: TrainGame, event: TunnelDeclined) -> None:
    del state.pending_choices[event.seat]


@applies(RevealedDiscarded)
def revealed_discarded(state: TrainGame, event: RevealedDiscarded) -> None:
    table = state.own
    assert table.tunnel is not None, "there is a tunnel whose cards were turned up"
    for card in table.tunnel.revealed:
        table.discards[card] += 1
    table.tunnel = None


# -- stations and passengers -----------------------------------------------------------


@applies(StationBuilt)
def station_built(state: TrainGame, event: StationBuilt) -> None:
    pay(state, event.seat, event.cards)
    state.own.station_owners[event.city] = event.seat
    state.seats[event.seat].own.stations[event.city] = event.neighbour
    state.own.seats_passed.clear()


@applies(PassengerPlaced)
def passenger_placed(state: TrainGame, event: PassengerPlaced) -> None:
    state.own.passenger_owners[event.city] = event.seat
    state.seats[event.seat].own.passengers_left -= 1


@applies(PassengerMoved)
def passenger_moved(state: TrainGame, event: PassengerMoved) -> None:
    if event.cards:
        pay(state, event.seat, {PASSENGER: event.cards})
    table = state.own
    del table.passenger_owners[event.city]
    for city in event.taken:
        table.tokens[city] = table.tokens[city][1:]
    state.seats[event.seat].own.merchandise += event.points
    table.seats_passed.clear()


@applies(Passed)
def passed(state: TrainGame, event: Passed) -> None:
    state.own.seats_passed.add(event.seat)


# -- the end ---------------------------------------------------------------------------


@applies(LastTurnsBegan)
def last_turns_began(state: TrainGame, event: LastTurnsBegan) -> None:
    state.own.in_last_turns, state.own.seats_with_last_turn = True, set(event.seats)


def forget_last_turn(state: TrainGame, event: TurnStarted | SeatGone) -> None:
    """The seat's last turn has begun, or never will."""
    state.own.seats_with_last_turn.discard(event.seat)


def seat_cleared(state: TrainGame, event: SeatCleared) -> None:
    """All that the removed seat had is out of the game, and its routes are free again."""
    seat_state = state.seats[event.seat].own
    table = state.own
    for route_id in seat_state.routes:
        route = table.board.routes[route_id]
        del table.route_owners[route_id]
        open_route(state, route)
    for route_id in seat_state.routes:
        reopen_twins(state, route_id)
    for seats_by_city in (table.station_owners, table.passenger_owners):
        for city in [city for city, seat in seats_by_city.items() if seat == event.seat]:
            del seats_by_city[city]
    seat_state.hand = dict.fromkeys(seat_state.hand, 0)
    (
        seat_state.tickets,
        seat_state.offer,
        seat_state.routes,
        seat_state.blocked_parallels,
        seat_state.stations,
    ) = [], [], [], set(), {}
    seat_state.cars, seat_state.passengers_left = (
        state.rule_options.cars,
        state.rule_options.passengers,
    )
    seat_state.points, seat_state.merchandise, seat_state.requested_mix = 0, 0, None
    table.seats_passed.clear()  # routes are free again: who passed may have something to do now


def reopen_twins(state: TrainGame, route_id: str) -> None:
    """A parallel route that had closed opens again, unless another one still closes it."""
    table = state.own
    twins = table.board.routes[route_id].parallels
    for twin in twins:
        if twin not in table.route_owners and not (
            table.closes_parallels and any(other in table.route_owners for other in twins)
        ):
            open_route(state, table.board.routes[twin])


def open_route(state: TrainGame, route: Route) -> None:
    """The route can be claimed again; it stands behind the others of its fare."""
    open_routes = state.own.open_routes[route.fare]
    if route.id not in open_routes:
        state.own.open_routes[route.fare] = (*open_routes, route.id)


@applies(TicketsShown)
def tickets_shown(state: TrainGame, event: TicketsShown) -> None:
    state.seats[event.seat].own.tickets = list(event.tickets)


def lay_table(state: TrainGame, event: GameCreated) -> None:
    """Nothing is shuffled yet. Raises CorruptDataError where this server has not the board of the log."""
    try:
        board = boards.read_board(event.board_form or event.board or "")
    except InvalidInputError as error:
        raise CorruptDataError(f"game {event.game} can't be played here: {error}") from None
    if board.digest != event.board_digest:
        raise CorruptDataError(f"game {event.game} was played on another version of the board {event.board}")
    state.own = TrainState()
    state.own.lay(boards.as_played(board, state.rule_options), state.rule_options, len(event.seats))
    for seat_state in state.seats:
        seat_state.own = TrainSeat()
        seat_state.own.lay(state.rule_options)


def deck_shuffled(state: TrainGame, event: DeckShuffled) -> None:
    """The shuffled discards lie under the rest of the deck."""
    state.own.deck[:0] = reversed(event.order)
    state.own.discards = dict.fromkeys(state.rule_options.cards, 0)


@applies(DeckRecreated)
def deck_recreated(state: TrainGame, event: DeckRecreated) -> None:
    state.own.deck = list(reversed(event.order))
    state.own.discards = dict.fromkeys(state.rule_options.cards, 0)
    state.epoch += 1


@applies(TicketsShuffled)
def tickets_shuffled(state: TrainGame, event: TicketsShuffled) -> None:
    state.own.ticket_decks[event.deck] = list(reversed(event.order))
    state.epoch += 1


def hand_dealt(state: TrainGame, event: HandDealt) -> None:
    """The top cards of the deck go into the hand."""
    hand = state.seats[event.seat].own.hand
    for card in event.cards:
        state.own.deck.pop()
        hand[card] += 1


@applies(HandReturned)
def hand_returned(state: TrainGame, event: HandReturned) -> None:
    hand = state.seats[event.seat].own.hand
    for card in event.cards:
        hand[card] -= 1
    is_view = not state.shuffle_key  # which shows no card of a deck, though its seat has held these
    state.own.deck += [HIDDEN] * len(event.cards) if is_view else reversed(event.cards)
    state.own.untaken = None


# -- a position in place of a deal -----------------------------------------------------


@applies(PositionLaid)
def position_laid(state: TrainGame, event: PositionLaid) -> None:
    table = state.own
    table.position_starter = event.turn
    table.board = boards.with_tickets(table.board, event.tickets)
    table.market = list(event.market)
    table.discards = dict.fromkeys(state.rule_options.cards, 0)
    table.discards.update(event.discards.items())
    for route, seat in event.owners.items():
        assign_route(state, route, seat)
    for seat, seat_state in enumerate(state.seats):
        seat_state.own.cars, seat_state.own.points = event.cars[seat], event.points[seat]
        seat_state.own.merchandise = event.merchandise[seat]
    for city, station in event.stations.items():
        table.station_owners[city] = station.seat
        state.seats[station.seat].own.stations[city] = station.neighbour
    for city, seat in event.passengers.items():
        table.passenger_owners[city] = seat
        state.seats[seat].own.passengers_left -= 1
    table.tokens = {city: tuple(stack) for city, stack in event.tokens.items()}


@applies(DeckLaid)
def deck_laid(state: TrainGame, event: DeckLaid) -> None:
    state.own.deck = list(reversed(event.order))


@applies(TicketsLaid)
def tickets_laid(state: TrainGame, event: TicketsLaid) -> None:
    state.own.ticket_decks[event.deck] = list(reversed(event.order))


@applies(HandLaid)
def hand_laid(state: TrainGame, event: HandLaid) -> None:
    seat_state = state.seats[event.seat].own
    for card, count in Counter(event.cards).items():
        seat_state.hand[card] += count
    seat_state.tickets = list(event.tickets)


# -- a fork: more than a position can hold ----------------------------------------------


@applies(MomentLaid)
def moment_laid(state: TrainGame, event: MomentLaid) -> None:
    """No choice is pending, and no time passes, until the game is started."""
    state.fork_turn_state, state.turn_order = (event.turn, event.awaits), event.order
    table = state.own
    table.tunnel = Tunnel(*event.tunnel) if event.tunnel is not None else None
    table.in_last_turns, table.seats_with_last_turn, table.seats_passed = (
        event.ending,
        set(event.last),
        set(event.passed),
    )
    for seat, seat_state in enumerate(state.seats):
        seat_state.own.start_tickets_chosen, seat_state.exit_reason = event.chosen[seat], event.gone[seat]
        seat_state.clock_ms, seat_state.own.passengers_left = event.clocks[seat], event.passengers[seat]
        for card, count in event.shown[seat].items():
            seat_state.own.hand[card] += count


@applies(ChoiceLaid)
def choice_laid(state: TrainGame, event: ChoiceLaid) -> None:
    seat_state = state.seats[event.seat].own
    seat_state.offer, seat_state.min_keep = list(event.offer), event.least
    seat_state.requested_mix = (event.mix or {}) if event.named else None


@applies(DeckKnown)
def deck_known(state: TrainGame, event: DeckKnown) -> None:
    """For a viewer who may know them: the deck has these tickets at these indexes anyway."""
    deck = state.own.ticket_decks[event.deck]
    state.own.ticket_decks[event.deck] = [
        ticket if known_ticket is None else known_ticket
        for known_ticket, ticket in zip(reversed(event.order), deck, strict=True)
    ]
