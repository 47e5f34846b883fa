"""A game in words: what an event says to somebody who watches, and how a table stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from schemas import events
from schemas.events import Event
from schemas.field_types import Seat
from services.referee.rules import GameState, score


def event_sentence(state: GameState, event: Event) -> str | None:
    """One sentence about an event, on the table after it; None for what goes without saying."""
    describe = SENTENCES.get(type(event))
    return describe(state, event) if describe else None


# -- the sentences -----------------------------------------------------------------------


def _game_created(state: GameState, event: events.GameCreated) -> str:
    play_off_note = f", game {event.play_off.number} of a play-off" if event.play_off else ""
    return f"The table is laid: {event.ruleset} on {state.board.title}, {pluralize(len(event.seats), 'seat')}{play_off_note}."


def _tickets_named(state: GameState, event: events.TicketsNamed) -> str:
    if not event.decks:
        return f"{seat_name(state, event.seat)} says which tickets it wants."
    return f"{seat_name(state, event.seat)} wants {', '.join(f'{n} {deck}' for deck, n in event.decks.items())} tickets."


def _tickets_offered(state: GameState, event: events.TicketsOffered) -> str:
    return f"{seat_name(state, event.seat)} is offered {pluralize(len(event.tickets), 'ticket')}{tickets_suffix(state, event.tickets)}."


def _tickets_kept(state: GameState, event: events.TicketsKept) -> str:
    return f"{seat_name(state, event.seat)} keeps {pluralize(len(event.kept), 'ticket')}{tickets_suffix(state, event.kept)}."


def _cards_given(state: GameState, event: events.CardsGiven) -> str:
    known = [card for card in event.cards if card is not None]
    suffix = f": {', '.join(known)}" if known else ""
    return f"{seat_name(state, event.seat)} asks for cards and gets {len(event.cards)}{suffix}."


def _route_claimed(state: GameState, event: events.RouteClaimed) -> str:
    length, scored = state.board.routes[event.route].length, f": +{event.points}" if event.points else ""
    cities = describe_route(state, event.route)
    return (
        f"{seat_name(state, event.seat)} claims {cities} ({length}) with {format_cards(event.cards)}{scored}."
    )


def _tunnel_revealed(state: GameState, event: events.TunnelRevealed) -> str:
    turned = ", ".join(event.revealed) or "no card"
    more = f"{pluralize(event.extra, 'card')} more" if event.extra else "nothing more"
    tried = f"{seat_name(state, event.seat)} tries the tunnel {describe_route(state, event.route)} with {format_cards(event.cards)}"
    return f"{tried}; turned up: {turned}; it asks for {more}."


def _station_built(state: GameState, event: events.StationBuilt) -> str:
    lent = f", to use a route from {city_name(state, event.neighbour)}" if event.neighbour else ""
    built = f"{seat_name(state, event.seat)} builds a station in {city_name(state, event.city)}"
    return f"{built} with {format_cards(event.cards)}{lent}."


def _passenger_moved(state: GameState, event: events.PassengerMoved) -> str:
    paid = f" with {pluralize(event.cards, 'passenger card')}" if event.cards else ""
    collected = ", ".join(city_name(state, name) for name in event.taken) or "no city"
    start = f"{seat_name(state, event.seat)}'s passenger leaves {city_name(state, event.city)}"
    return f"{start} over {pluralize(len(event.path), 'route')}{paid}, collecting in {collected}: +{event.points}."


def _command_refused(state: GameState, event: events.CommandRefused) -> str:
    sender = "The house" if event.seat is None else seat_name(state, event.seat)
    return f"{sender} is refused: {event.rule}, {event.why}."


def _play_off_called(state: GameState, event: events.PlayOffCalled) -> str:
    names = " and ".join(seat_name(state, seat) for seat in event.seats)
    return f"{names} share the first place: they play off in game {event.game}."


def _play_off_ended(state: GameState, event: events.PlayOffEnded) -> str:
    winners = " and ".join(f"seat {seat}" for seat in event.winners)
    won = "won" if len(event.winners) == 1 else "are level"
    return f"The play-off of game {event.of} is over: {winners} of that game {won}."


def _game_forked(state: GameState, event: events.GameForked) -> str:
    viewer = "the public" if event.asker is None else f"seat {event.asker}"
    deal_note = f"what {viewer} couldn't see is dealt afresh" if event.afresh else "everything lies as it lay"
    return f"The game goes on from game {event.of} after entry {event.at}; {deal_note}."


SENTENCES: Final[Mapping[type[Event], Callable[[GameState, Any], str | None]]] = {
    events.GameCreated: _game_created,
    events.SeatTaken: lambda table, e: f"{e.name} sits down at seat {e.seat}.",
    events.GameStarted: lambda table, e: (
        "The cards are shuffled and dealt." if table.position_starter is None else "Play begins."
    ),
    events.PositionLaid: lambda table, e: None if table.fork_origin else "The game starts from a position.",
    events.GameForked: _game_forked,
    events.TicketsNamed: _tickets_named,
    events.TicketsOffered: _tickets_offered,
    events.TicketsKept: _tickets_kept,
    events.CardDrawn: lambda table, e: f"{seat_name(table, e.seat)} draws {e.card or 'a card'} blind.",
    events.MarketCardTaken: lambda table, e: f"{seat_name(table, e.seat)} takes {e.card}.",
    events.CardsGiven: _cards_given,
    events.RequestUnmet: lambda table, e: (
        f"{seat_name(table, e.seat)} asks for cards, and there are too few."
    ),
    events.MarketFlushed: lambda table, e: "The market is swept and laid anew.",
    events.RouteClaimed: _route_claimed,
    events.TunnelRevealed: _tunnel_revealed,
    events.TunnelDeclined: lambda table, e: f"{seat_name(table, e.seat)} leaves the tunnel.",
    events.StationBuilt: _station_built,
    events.PassengerPlaced: lambda table, e: (
        f"{seat_name(table, e.seat)} puts a passenger in {city_name(table, e.city)}."
    ),
    events.PassengerMoved: _passenger_moved,
    events.Passed: lambda table, e: f"{seat_name(table, e.seat)} passes.",
    events.LastTurnsBegan: lambda table, e: "The last turns begin.",
    events.SeatGone: lambda table, e: f"{seat_name(table, e.seat)} is out of the game: {e.why}.",
    events.CommandRefused: _command_refused,
    events.PlayOffCalled: _play_off_called,
    events.PlayOffEnded: _play_off_ended,
    events.GameEnded: lambda table, e: f"The game is over: {e.reason}.",
}


# -- their parts ---------------------------------------------------------------------------


def seat_name(state: GameState, seat: Seat) -> str:
    """The seat's name, or its number where nobody sits."""
    return state.seats[seat].name or f"seat {seat}"


def city_name(state: GameState, city_id: str) -> str:
    """A city as the board spells it."""
    return state.board.cities[city_id]


def describe_route(state: GameState, route_id: str) -> str:
    """A route by its two cities."""
    route = state.board.routes[route_id]
    return f"{city_name(state, route.a)} - {city_name(state, route.b)}"


def format_cards(counts: Mapping[str, int]) -> str:
    """Cards in words: "2 red, 1 locomotive"."""
    return ", ".join(f"{n} {card}" for card, n in counts.items())


def pluralize(number: int, noun: str) -> str:
    """A number of things: "1 ticket", "3 tickets"."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def tickets_suffix(state: GameState, tickets: Sequence[str | None]) -> str:
    """The tickets' cities, where the viewer may know them."""
    known = [state.board.tickets[ticket] for ticket in tickets if ticket is not None]
    if not known:
        return ""
    return ": " + ", ".join(f"{city_name(state, t.a)} - {city_name(state, t.b)} ({t.points})" for t in known)


# -- how a table stands ----------------------------------------------------------------------


def game_status(state: GameState) -> str:
    """`waiting` for people, `playing`, or `over`."""
    if state.result:
        return "over"
    return "playing" if state.started else "waiting"


def game_summary_json(state: GameState, event_count: int, entry_count: int) -> dict[str, Any]:
    """A game as JSON: who sits there and how they stand, as far as this table knows."""
    scores = state.result.scores if state.result else score(state)
    seats = []
    for seat_score, seat_state in zip(scores, state.seats, strict=True):
        seats.append(
            {
                "seat": seat_score.seat,
                "name": seat_state.name,
                "policy": seat_state.policy,
                "routes": seat_score.routes,
                "tickets": seat_score.tickets,
                "made": list(seat_score.made),
                "missed": list(seat_score.missed),
                "lent": list(seat_score.lent),
                "longest": seat_score.longest,
                "bonus": seat_score.bonus,
                "most": seat_score.most,
                "stations": seat_score.stations,
                "merchandise": seat_score.merchandise,
                "total": seat_score.total,
                "place": seat_score.place,
                "cars": seat_state.cars,
                "cards": seat_state.cards,
                "gone": seat_state.exit_reason,
            }
        )
    return {
        "game": state.game,
        "ruleset": state.ruleset.name,
        "board": state.board.id,
        "state": game_status(state),
        "ended": state.result.reason if state.result else None,
        "play_off": state.next_play_off.game if state.next_play_off else None,
        "play_off_of": state.play_off.of if state.play_off else None,
        **({"forked": dict(zip(("of", "at"), state.fork_origin, strict=True))} if state.fork_origin else {}),
        "events": event_count,
        "entries": entry_count,
        "seats": seats,
    }
