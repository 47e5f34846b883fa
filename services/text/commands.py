"""Commands in words, as `telling` has events: what a seat asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from schemas import commands as wishes
from schemas.commands import Command
from schemas.field_types import Seat
from services.referee.rules import Table
from services.text.events import cards, city, count, joined, named, who


def speaker(table: Table, seat: Seat | None) -> str:
    """Who speaks: a seat by its name and number, or the house."""
    if seat is None or seat >= len(table.places):
        return "the house" if seat is None else f"seat {seat}"
    name = table.places[seat].name
    return f"{name} (seat {seat})" if name else f"seat {seat}"


def wish(table: Table, seat: Seat | None, command: Command) -> str:
    """The command as what somebody wants to do: "claim Denver - Omaha (4) with 4 purple". It may name
    what there isn't: it is as the seat said it."""
    say = _WISHES.get(type(command))
    try:
        return say(table, seat, command) if say else command.type.replace("_", " ")
    except (LookupError, AttributeError):  # a route or a city that isn't on the board, or no board yet
        return _plainly(command)


def gathered(table: Table, seat: Seat, alternatives: Sequence[Command]) -> list[tuple[str, list[str]]]:
    """Many commands as a few: claims by their route, stations by what they are paid with, journeys by
    where they start; others by their kind. Each with the ways to do it, which may be none to speak of."""
    kinds: dict[str, list[str]] = {}
    for command in alternatives:
        head, way = _sorted(table, seat, command)
        ways = kinds.setdefault(head, [])
        if way:
            ways.append(way)
    return list(kinds.items())


def _sorted(table: Table, seat: Seat, command: Command) -> tuple[str, str]:
    match command:
        case wishes.ClaimRoute():
            route = table.board.routes[command.route]
            at = f", a passenger in {city(table, command.passenger)}" if command.passenger else ""
            head = f"claim {joined(table, command.route)} ({count(route.length, 'space')}, {_paint(route)})"
            return head, f"{cards(command.cards)}{at}"
        case wishes.BuildStation():
            return f"build a station with {cards(command.cards)}", f"in {city(table, command.city)}"
        case wishes.MovePassenger():
            way = ", ".join(joined(table, route) for route in command.path)
            return f"move the passenger in {city(table, command.city)}", f"over {way}"
    told, kind = wish(table, seat, command), command.type.replace("_", " ")
    return (kind, told.removeprefix(kind).strip()) if told.startswith(kind) else (told, "")


def _paint(route: Any) -> str:
    return f"{route.color} {route.kind}" if route.kind != "rail" else str(route.color)


def _plainly(command: Command) -> str:
    fields = ((name, getattr(command, name)) for name in wishes.FIELDS[type(command)])
    told = ", ".join(f"{name} {value}" for name, value in fields if value is not None)
    return command.type.replace("_", " ") + (f": {told}" if told else "")


def _market(table: Table, seat: Seat | None, wish: wishes.DrawMarket) -> str:
    if wish.slot is None:
        return f"draw {wish.color} from the market"
    lies = table.market[wish.slot] if wish.slot < len(table.market) else None
    return f"draw market place {wish.slot}" + (f" ({lies})" if lies else " (nothing lies there)")


def _tickets(table: Table, seat: Seat | None, wish: wishes.DrawTickets) -> str:
    if not wish.decks:
        return "draw tickets"
    return f"draw tickets: {', '.join(f'{n} {deck}' for deck, n in wish.decks.items())}"


def _keep(table: Table, seat: Seat | None, wish: wishes.KeepTickets) -> str:
    offer = table.places[seat].offer if seat is not None else []
    kept = [offer[place] if place < len(offer) else None for place in wish.keep]
    places = ", ".join(str(place) for place in wish.keep) or "none"
    return f"keep tickets {places} of the offer{named(table, kept)}"


def _claim(table: Table, seat: Seat | None, wish: wishes.ClaimRoute) -> str:
    route = table.board.routes[wish.route]
    put = f", with a passenger in {city(table, wish.passenger)}" if wish.passenger else ""
    return (
        f"claim {joined(table, wish.route)} ({route.length}, {_paint(route)}) with {cards(wish.cards)}{put}"
    )


def _station(table: Table, seat: Seat | None, wish: wishes.BuildStation) -> str:
    lent = f", for a route from {city(table, wish.neighbour)}" if wish.neighbour else ""
    return f"build a station in {city(table, wish.city)} with {cards(wish.cards)}{lent}"


def _journey(table: Table, seat: Seat | None, wish: wishes.MovePassenger) -> str:
    way = ", ".join(joined(table, route) for route in wish.path)
    return f"move the passenger in {city(table, wish.city)} over {way}"


def _creation(table: Table, seat: Seat | None, wish: wishes.CreateGame) -> str:
    return f"create a game with {count(len(wish.seats), 'seat')}"


_WISHES: Final[Mapping[type[Command], Callable[[Table, Seat | None, Any], str]]] = {
    wishes.CreateGame: _creation,
    wishes.TakeSeat: lambda table, seat, c: f"take a seat as {c.name}",
    wishes.StartGame: lambda table, seat, c: "start the game",
    wishes.DrawBlind: lambda table, seat, c: "draw blind from the deck",
    wishes.DrawMarket: _market,
    wishes.DrawTickets: _tickets,
    wishes.KeepTickets: _keep,
    wishes.ClaimRoute: _claim,
    wishes.PayTunnel: lambda table, seat, c: f"pay {cards(c.cards)} more for the tunnel",
    wishes.DeclineTunnel: lambda table, seat, c: "leave the tunnel",
    wishes.BuildStation: _station,
    wishes.MovePassenger: _journey,
    wishes.RequestCards: lambda table, seat, c: "ask for the next cards of the deck",
    wishes.Pass: lambda table, seat, c: "pass",
    wishes.Leave: lambda table, seat, c: "leave the table",
    wishes.CallTime: lambda table, seat, c: f"say that the time of {who(table, c.seat)} is over",
}
