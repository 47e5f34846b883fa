"""A game in words: what an event says to somebody who watches, and how a table stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from schemas import events as facts
from schemas.events import Event
from schemas.field_types import Seat
from services.referee.rules import Table, score


def tell(table: Table, event: Event) -> str | None:
    """One sentence about an event, on the table after it; None for what goes without saying."""
    say = SENTENCES.get(type(event))
    return say(table, event) if say else None


# -- the sentences -----------------------------------------------------------------------


def _created(table: Table, event: facts.GameCreated) -> str:
    again = f", game {event.play_off.number} of a play-off" if event.play_off else ""
    return f"The table is laid: {event.ruleset} on {table.board.title}, {count(len(event.seats), 'seat')}{again}."


def _mix(table: Table, event: facts.TicketsNamed) -> str:
    if not event.decks:
        return f"{who(table, event.seat)} says which tickets it wants."
    return f"{who(table, event.seat)} wants {', '.join(f'{n} {deck}' for deck, n in event.decks.items())} tickets."


def _offered(table: Table, event: facts.TicketsOffered) -> str:
    return f"{who(table, event.seat)} is offered {count(len(event.tickets), 'ticket')}{named(table, event.tickets)}."


def _kept(table: Table, event: facts.TicketsKept) -> str:
    return f"{who(table, event.seat)} keeps {count(len(event.kept), 'ticket')}{named(table, event.kept)}."


def _given(table: Table, event: facts.CardsGiven) -> str:
    known = [card for card in event.cards if card is not None]
    told = f": {', '.join(known)}" if known else ""
    return f"{who(table, event.seat)} asks for cards and gets {len(event.cards)}{told}."


def _claimed(table: Table, event: facts.RouteClaimed) -> str:
    length, scored = table.board.routes[event.route].length, f": +{event.points}" if event.points else ""
    cities = joined(table, event.route)
    return f"{who(table, event.seat)} claims {cities} ({length}) with {cards(event.cards)}{scored}."


def _tunnel(table: Table, event: facts.TunnelRevealed) -> str:
    turned = ", ".join(event.revealed) or "no card"
    more = f"{count(event.extra, 'card')} more" if event.extra else "nothing more"
    tried = (
        f"{who(table, event.seat)} tries the tunnel {joined(table, event.route)} with {cards(event.cards)}"
    )
    return f"{tried}; turned up: {turned}; it asks for {more}."


def _station(table: Table, event: facts.StationBuilt) -> str:
    lent = f", to use a route from {city(table, event.neighbour)}" if event.neighbour else ""
    built = f"{who(table, event.seat)} builds a station in {city(table, event.city)}"
    return f"{built} with {cards(event.cards)}{lent}."


def _journey(table: Table, event: facts.PassengerMoved) -> str:
    paid = f" with {count(event.cards, 'passenger card')}" if event.cards else ""
    collected = ", ".join(city(table, name) for name in event.taken) or "no city"
    start = f"{who(table, event.seat)}'s passenger leaves {city(table, event.city)}"
    return (
        f"{start} over {count(len(event.path), 'route')}{paid}, collecting in {collected}: +{event.points}."
    )


def _refused(table: Table, event: facts.CommandRefused) -> str:
    speaker = "The house" if event.seat is None else who(table, event.seat)
    return f"{speaker} is refused: {event.rule}, {event.why}."


def _level(table: Table, event: facts.PlayOffCalled) -> str:
    names = " and ".join(who(table, seat) for seat in event.seats)
    return f"{names} share the first place: they play off in game {event.game}."


def _decided(table: Table, event: facts.PlayOffEnded) -> str:
    winners = " and ".join(f"seat {seat}" for seat in event.winners)
    won = "won" if len(event.winners) == 1 else "are level"
    return f"The play-off of game {event.of} is over: {winners} of that game {won}."


def _forked(table: Table, event: facts.GameForked) -> str:
    knows = "the public" if event.asker is None else f"seat {event.asker}"
    dealt = f"what {knows} couldn't see is dealt afresh" if event.afresh else "everything lies as it lay"
    return f"The game goes on from game {event.of} after entry {event.at}; {dealt}."


SENTENCES: Final[Mapping[type[Event], Callable[[Table, Any], str | None]]] = {
    facts.GameCreated: _created,
    facts.SeatTaken: lambda table, e: f"{e.name} sits down at seat {e.seat}.",
    facts.GameStarted: lambda table, e: (
        "The cards are shuffled and dealt." if table.laid is None else "Play begins."
    ),
    facts.PositionLaid: lambda table, e: None if table.forked else "The game starts from a position.",
    facts.GameForked: _forked,
    facts.TicketsNamed: _mix,
    facts.TicketsOffered: _offered,
    facts.TicketsKept: _kept,
    facts.CardDrawn: lambda table, e: f"{who(table, e.seat)} draws {e.card or 'a card'} blind.",
    facts.MarketCardTaken: lambda table, e: f"{who(table, e.seat)} takes {e.card}.",
    facts.CardsGiven: _given,
    facts.RequestUnmet: lambda table, e: f"{who(table, e.seat)} asks for cards, and there are too few.",
    facts.MarketFlushed: lambda table, e: "The market is swept and laid anew.",
    facts.RouteClaimed: _claimed,
    facts.TunnelRevealed: _tunnel,
    facts.TunnelDeclined: lambda table, e: f"{who(table, e.seat)} leaves the tunnel.",
    facts.StationBuilt: _station,
    facts.PassengerPlaced: lambda table, e: (
        f"{who(table, e.seat)} puts a passenger in {city(table, e.city)}."
    ),
    facts.PassengerMoved: _journey,
    facts.Passed: lambda table, e: f"{who(table, e.seat)} passes.",
    facts.LastTurnsBegan: lambda table, e: "The last turns begin.",
    facts.SeatGone: lambda table, e: f"{who(table, e.seat)} is out of the game: {e.why}.",
    facts.CommandRefused: _refused,
    facts.PlayOffCalled: _level,
    facts.PlayOffEnded: _decided,
    facts.GameEnded: lambda table, e: f"The game is over: {e.reason}.",
}


# -- their parts ---------------------------------------------------------------------------


def who(table: Table, seat: Seat) -> str:
    """The seat's name, or its number where nobody sits."""
    return table.places[seat].name or f"seat {seat}"


def city(table: Table, name: str) -> str:
    """A city as the board spells it."""
    return table.board.cities[name]


def joined(table: Table, name: str) -> str:
    """A route by its two cities."""
    route = table.board.routes[name]
    return f"{city(table, route.a)} - {city(table, route.b)}"


def cards(paid: Mapping[str, int]) -> str:
    """Cards in words: "2 red, 1 locomotive"."""
    return ", ".join(f"{n} {card}" for card, n in paid.items())


def count(number: int, thing: str) -> str:
    """A number of things: "1 ticket", "3 tickets"."""
    return f"{number} {thing}" + ("" if number == 1 else "s")


def named(table: Table, tickets: Sequence[str | None]) -> str:
    """The tickets' cities, where the viewer may know them."""
    known = [table.board.tickets[ticket] for ticket in tickets if ticket is not None]
    if not known:
        return ""
    return ": " + ", ".join(f"{city(table, t.a)} - {city(table, t.b)} ({t.points})" for t in known)


# -- how a table stands ----------------------------------------------------------------------


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
                "lent": list(standing.lent),
                "longest": standing.longest,
                "bonus": standing.bonus,
                "most": standing.most,
                "stations": standing.stations,
                "merchandise": standing.merchandise,
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
        "play_off": table.called.game if table.called else None,
        "play_off_of": table.play_off.of if table.play_off else None,
        **({"forked": dict(zip(("of", "at"), table.forked, strict=True))} if table.forked else {}),
        "events": events,
        "entries": entries,
        "seats": seats,
    }
