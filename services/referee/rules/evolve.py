"""What every fact means: one small function an event, the same for every ruleset.

No judgement here. An event that reached the log did happen, so nothing is checked but
that the log fits the board it names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from schemas.codec import Corrupt, unpack_facts
from schemas.events import (
    CardDrawn,
    CommandRefused,
    DeckShuffled,
    Event,
    GameCreated,
    GameEnded,
    GameStarted,
    HandDealt,
    LastTurnsBegan,
    MarketCardTaken,
    MarketFilled,
    MarketFlushed,
    Passed,
    RouteClaimed,
    SeatCleared,
    SeatGone,
    SeatTaken,
    SeedSealed,
    TicketsKept,
    TicketsOffered,
    TicketsReturned,
    TicketsShown,
    TicketsShuffled,
    TurnStarted,
)  # fmt: skip
from services.referee.rules import board as boards
from services.referee.rules.rulesets import RULESETS
from services.referee.rules.table import ACTION, SECOND_CARD, TICKETS, Place, Table


def evolve(table: Table, event: Event) -> None:
    """Apply a fact to a table that the caller owns."""
    MEANING[event.__class__](table, event)


def elapse(table: Table, at: int) -> None:
    """Let the recorded time pass, on the clocks of the seats that the table waits for (CLOCK-1).

    A time before the last one (a clock was set back) counts as no time."""
    if table.started and table.figures.clock_ms is not None:
        passed = max(0, at - table.at)
        for seat in table.awaits:
            table.places[seat].clock_ms -= passed
    table.at = max(table.at, at)


def fold(log: Iterable[bytes], table: Table | None = None) -> Table:
    """The table that these log entries (as stored) amount to, going on from `table`, if given."""
    table = table or Table()
    for data in log:
        at, _, _, _, events = unpack_facts(data)
        fold_events(table, at, events)
    return table


def fold_events(table: Table, at: int, events: Iterable[Event]) -> None:
    """One entry: its time, then its facts."""
    elapse(table, at)
    for event in events:
        MEANING[event.__class__](table, event)


# -- laying the table ----------------------------------------------------------------


def game_created(table: Table, event: GameCreated) -> None:
    table.game = event.game
    table.rules = RULESETS[event.ruleset]
    table.figures = event.parameters
    table.board = boards.load(event.board)
    if table.board.digest != event.board_digest:
        raise Corrupt(f"game {event.game} was played on another edition of the board {event.board}")
    table.created = event.created
    table.places = [Place(plan.kind, plan.name or "", plan.policy, event.parameters) for plan in event.seats]
    table.closing = len(event.seats) < event.parameters.parallel_seats
    table.open = {fare: dict.fromkeys(routes) for fare, routes in table.board.fares.items()}
    table.market = [None] * event.parameters.market


def seed_sealed(table: Table, event: SeedSealed) -> None:
    table.commitment, table.seed = event.commitment, event.seed


def seat_taken(table: Table, event: SeatTaken) -> None:
    place = table.places[event.seat]
    place.name, place.policy, place.luck, place.taken = event.name, event.policy, event.luck, True


def game_started(table: Table, event: GameStarted) -> None:
    table.started = True
    table.refusals.clear()
    table.discards = dict(table.figures.cards.items())


def deck_shuffled(table: Table, event: DeckShuffled) -> None:
    table.deck[:0] = reversed(event.order)
    table.discards = dict.fromkeys(table.figures.cards, 0)
    table.epoch += 1


def tickets_shuffled(table: Table, event: TicketsShuffled) -> None:
    table.ticket_decks[event.deck] = list(reversed(event.order))
    table.epoch += 1


def hand_dealt(table: Table, event: HandDealt) -> None:
    hand = table.places[event.seat].hand
    for card in event.cards:
        table.deck.pop()
        hand[card] += 1


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


# -- routes and tickets --------------------------------------------------------------


def route_claimed(table: Table, event: RouteClaimed) -> None:
    seat, place = event.seat, table.places[event.seat]
    route = table.board.routes[event.route]
    hand, discards = place.hand, table.discards
    for card, count in event.cards.items():
        hand[card] -= count
        discards[card] += count
    place.cars -= route.length
    place.points += event.points
    place.routes.append(route.id)
    table.owners[route.id] = seat
    del table.open[route.fare][route.id]
    table.passed.clear()
    for twin in route.twins:
        place.barred.add(twin)
        if table.closing:
            table.open[table.board.routes[twin].fare].pop(twin, None)


def tickets_offered(table: Table, event: TicketsOffered) -> None:
    place = table.places[event.seat]
    for deck in event.decks:
        table.ticket_decks[deck].pop()
    place.offer, place.least = list(event.tickets), event.least
    table.awaits[event.seat] = TICKETS
    table.passed.clear()


def tickets_kept(table: Table, event: TicketsKept) -> None:
    place = table.places[event.seat]
    place.tickets.extend(event.kept)
    for ticket in event.kept:
        place.offer.remove(ticket)
    del table.awaits[event.seat]


def tickets_returned(table: Table, event: TicketsReturned) -> None:
    place = table.places[event.seat]
    for ticket in event.tickets:
        place.offer.remove(ticket)
        table.ticket_decks[event.deck].insert(0, ticket)


def tickets_shown(table: Table, event: TicketsShown) -> None:
    table.places[event.seat].tickets = list(event.tickets)


# -- turns and endings ---------------------------------------------------------------


def turn_started(table: Table, event: TurnStarted) -> None:
    table.turn = event.seat
    table.awaits = {event.seat: ACTION}
    table.last.discard(event.seat)
    table.refusals.clear()


def passed(table: Table, event: Passed) -> None:
    table.passed.add(event.seat)


def last_turns_began(table: Table, event: LastTurnsBegan) -> None:
    table.ending, table.last = True, set(event.seats)


def seat_gone(table: Table, event: SeatGone) -> None:
    table.places[event.seat].gone = event.why
    table.awaits.pop(event.seat, None)
    table.last.discard(event.seat)


def seat_cleared(table: Table, event: SeatCleared) -> None:
    place = table.places[event.seat]
    for route_id in place.routes:
        route = table.board.routes[route_id]
        del table.owners[route_id]
        table.open[route.fare][route_id] = None
    for route_id in place.routes:
        reopen_twins(table, route_id)
    place.hand = dict.fromkeys(place.hand, 0)
    place.tickets, place.offer, place.routes, place.barred = [], [], [], set()
    place.cars, place.points = table.figures.cars, 0
    table.passed.clear()  # routes are free again: who passed may have something to do now


def reopen_twins(table: Table, route_id: str) -> None:
    """A parallel route that had closed opens again, unless another one still closes it."""
    twins = table.board.routes[route_id].twins
    for twin in twins:
        if twin not in table.owners and not any(other in table.owners for other in twins):
            table.open[table.board.routes[twin].fare][twin] = None


def game_ended(table: Table, event: GameEnded) -> None:
    table.over = event
    table.turn = None
    table.awaits = {}


def command_refused(table: Table, event: CommandRefused) -> None:
    table.refusals[event.seat] = table.refusals.get(event.seat, 0) + 1


MEANING: Final[Mapping[type[Event], Callable[[Table, Any], None]]] = {
    GameCreated: game_created,
    SeedSealed: seed_sealed,
    SeatTaken: seat_taken,
    GameStarted: game_started,
    DeckShuffled: deck_shuffled,
    TicketsShuffled: tickets_shuffled,
    HandDealt: hand_dealt,
    MarketFilled: market_filled,
    MarketFlushed: market_flushed,
    CardDrawn: card_drawn,
    MarketCardTaken: market_card_taken,
    RouteClaimed: route_claimed,
    TicketsOffered: tickets_offered,
    TicketsKept: tickets_kept,
    TicketsReturned: tickets_returned,
    TicketsShown: tickets_shown,
    TurnStarted: turn_started,
    Passed: passed,
    LastTurnsBegan: last_turns_began,
    SeatGone: seat_gone,
    SeatCleared: seat_cleared,
    GameEnded: game_ended,
    CommandRefused: command_refused,
}
