"""A game in words: what an event says to somebody who watches, and how a table stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schemas.events import (
    CardDrawn,
    CommandRefused,
    Event,
    GameCreated,
    GameEnded,
    GameStarted,
    LastTurnsBegan,
    MarketCardTaken,
    MarketFlushed,
    Passed,
    RouteClaimed,
    SeatGone,
    SeatTaken,
    TicketsKept,
    TicketsOffered,
)  # fmt: skip
from schemas.words import Seat
from services.referee.rules import Table, score


def tell(table: Table, event: Event) -> str | None:  # noqa: C901, PLR0912 - one case an event
    """One sentence about an event, on the table after it; None for what goes without saying."""
    match event:
        case GameCreated():
            return f"The table is laid: {event.ruleset} on {table.board.title}, {len(event.seats)} seats."
        case SeatTaken():
            return f"{event.name} sits down at seat {event.seat}."
        case GameStarted():
            return "The cards are shuffled and dealt."
        case TicketsOffered():
            return f"{who(table, event.seat)} is offered {count(len(event.tickets), 'ticket')}{named(table, event.tickets)}."
        case TicketsKept():
            return f"{who(table, event.seat)} keeps {count(len(event.kept), 'ticket')}{named(table, event.kept)}."
        case CardDrawn():
            return f"{who(table, event.seat)} draws {event.card or 'a card'} blind."
        case MarketCardTaken():
            return f"{who(table, event.seat)} takes {event.card}."
        case MarketFlushed():
            return "The market is swept and laid anew."
        case RouteClaimed():
            route = table.board.routes[event.route]
            cities = f"{table.board.cities[route.a]} - {table.board.cities[route.b]}"
            paid = ", ".join(f"{n} {card}" for card, n in event.cards.items())
            return f"{who(table, event.seat)} claims {cities} ({route.length}) with {paid}: +{event.points}."
        case Passed():
            return f"{who(table, event.seat)} passes."
        case LastTurnsBegan():
            return "The last turns begin."
        case SeatGone():
            return f"{who(table, event.seat)} is out of the game: {event.why}."
        case CommandRefused():
            speaker = "The house" if event.seat is None else who(table, event.seat)
            return f"{speaker} is refused: {event.rule}, {event.why}."
        case GameEnded():
            return f"The game is over: {event.reason}."
        case _:
            return None


def who(table: Table, seat: Seat) -> str:
    return table.places[seat].name or f"seat {seat}"


def count(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")


def named(table: Table, tickets: Sequence[str | None]) -> str:
    """The tickets' cities, where the viewer may know them."""
    known = [table.board.tickets[ticket] for ticket in tickets if ticket is not None]
    if not known:
        return ""
    cities = table.board.cities
    return ": " + ", ".join(f"{cities[t.a]} - {cities[t.b]} ({t.points})" for t in known)


def state(table: Table) -> str:
    """`waiting` for people, `playing`, or `over`."""
    if table.over:
        return "over"
    return "playing" if table.started else "waiting"


def document(table: Table, events: int, entries: int) -> dict[str, Any]:
    """A game as JSON: who sits there and how they stand, as far as this table knows."""
    scores = table.over.scores if table.over else score(table)
    seats = []
    for standing, place in zip(scores, table.places, strict=True):
        seats.append(
            {
                "seat": standing.seat,
                "name": place.name,
                "policy": place.policy,
                "routes": standing.routes,
                "tickets": standing.tickets,
                "made": list(standing.made),
                "missed": list(standing.missed),
                "longest": standing.longest,
                "bonus": standing.bonus,
                "total": standing.total,
                "place": standing.place,
                "cars": place.cars,
                "cards": place.cards,
                "gone": place.gone,
            }
        )
    return {
        "game": table.game,
        "ruleset": table.rules.name,
        "board": table.board.id,
        "state": state(table),
        "ended": table.over.reason if table.over else None,
        "events": events,
        "entries": entries,
        "seats": seats,
    }
