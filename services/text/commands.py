"""Commands in words, as `telling` has events: what a seat asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from schemas import commands
from schemas.commands import Command
from schemas.field_types import Seat
from services.referee.rules import GameState
from services.text.events import city_name, describe_route, format_cards, pluralize, seat_name, tickets_suffix


def sender_name(state: GameState, seat: Seat | None) -> str:
    """Who speaks: a seat by its name and number, or the house."""
    if seat is None or seat >= len(state.seats):
        return "the house" if seat is None else f"seat {seat}"
    name = state.seats[seat].name
    return f"{name} (seat {seat})" if name else f"seat {seat}"


def describe_command(state: GameState, seat: Seat | None, command: Command) -> str:
    """The command as what somebody wants to do: "claim Denver - Omaha (4) with 4 purple". It may name
    what there isn't: it is as the seat said it."""
    describe = _DESCRIBERS.get(type(command))
    try:
        return describe(state, seat, command) if describe else command.type.replace("_", " ")
    except (LookupError, AttributeError):  # a route or a city that isn't on the board, or no board yet
        return _raw_text(command)


def group_commands(
    state: GameState, seat: Seat, alternatives: Sequence[Command]
) -> list[tuple[str, list[str]]]:
    """Many commands as a few: claims by their route, stations by what they are paid with, journeys by
    where they start; others by their kind. Each with the ways to do it, which may be none to speak of."""
    groups: dict[str, list[str]] = {}
    for command in alternatives:
        title, detail = _group_of(state, seat, command)
        details = groups.setdefault(title, [])
        if detail:
            details.append(detail)
    return list(groups.items())


def _group_of(state: GameState, seat: Seat, command: Command) -> tuple[str, str]:
    match command:
        case commands.ClaimRoute():
            route = state.board.routes[command.route]
            passenger_text = (
                f", a passenger in {city_name(state, command.passenger)}" if command.passenger else ""
            )
            title = f"claim {describe_route(state, command.route)} ({pluralize(route.length, 'space')}, {_route_color(route)})"
            return title, f"{format_cards(command.cards)}{passenger_text}"
        case commands.BuildStation():
            return (
                f"build a station with {format_cards(command.cards)}",
                f"in {city_name(state, command.city)}",
            )
        case commands.MovePassenger():
            way = ", ".join(describe_route(state, route) for route in command.path)
            return f"move the passenger in {city_name(state, command.city)}", f"over {way}"
    text, kind = describe_command(state, seat, command), command.type.replace("_", " ")
    return (kind, text.removeprefix(kind).strip()) if text.startswith(kind) else (text, "")


def _route_color(route: Any) -> str:
    return f"{route.color} {route.kind}" if route.kind != "rail" else str(route.color)


def _raw_text(command: Command) -> str:
    fields = ((name, getattr(command, name)) for name in commands.FIELDS[type(command)])
    values = ", ".join(f"{name} {value}" for name, value in fields if value is not None)
    return command.type.replace("_", " ") + (f": {values}" if values else "")


def _draw_market(state: GameState, seat: Seat | None, command: commands.DrawMarket) -> str:
    if command.slot is None:
        return f"draw {command.color} from the market"
    card = state.market[command.slot] if command.slot < len(state.market) else None
    return f"draw market place {command.slot}" + (f" ({card})" if card else " (nothing lies there)")


def _draw_tickets(state: GameState, seat: Seat | None, command: commands.DrawTickets) -> str:
    if not command.decks:
        return "draw tickets"
    return f"draw tickets: {', '.join(f'{n} {deck}' for deck, n in command.decks.items())}"


def _keep_tickets(state: GameState, seat: Seat | None, command: commands.KeepTickets) -> str:
    offer = state.seats[seat].offer if seat is not None else []
    kept = [offer[place] if place < len(offer) else None for place in command.keep]
    places = ", ".join(str(place) for place in command.keep) or "none"
    return f"keep tickets {places} of the offer{tickets_suffix(state, kept)}"


def _claim_route(state: GameState, seat: Seat | None, command: commands.ClaimRoute) -> str:
    route = state.board.routes[command.route]
    passenger_text = (
        f", with a passenger in {city_name(state, command.passenger)}" if command.passenger else ""
    )
    return f"claim {describe_route(state, command.route)} ({route.length}, {_route_color(route)}) with {format_cards(command.cards)}{passenger_text}"


def _build_station(state: GameState, seat: Seat | None, command: commands.BuildStation) -> str:
    neighbour_text = f", for a route from {city_name(state, command.neighbour)}" if command.neighbour else ""
    return f"build a station in {city_name(state, command.city)} with {format_cards(command.cards)}{neighbour_text}"


def _move_passenger(state: GameState, seat: Seat | None, command: commands.MovePassenger) -> str:
    way = ", ".join(describe_route(state, route) for route in command.path)
    return f"move the passenger in {city_name(state, command.city)} over {way}"


def _create_game(state: GameState, seat: Seat | None, command: commands.CreateGame) -> str:
    return f"create a game with {pluralize(len(command.seats), 'seat')}"


_DESCRIBERS: Final[Mapping[type[Command], Callable[[GameState, Seat | None, Any], str]]] = {
    commands.CreateGame: _create_game,
    commands.TakeSeat: lambda table, seat, c: f"take a seat as {c.name}",
    commands.StartGame: lambda table, seat, c: "start the game",
    commands.DrawBlind: lambda table, seat, c: "draw blind from the deck",
    commands.DrawMarket: _draw_market,
    commands.DrawTickets: _draw_tickets,
    commands.KeepTickets: _keep_tickets,
    commands.ClaimRoute: _claim_route,
    commands.PayTunnel: lambda table, seat, c: f"pay {format_cards(c.cards)} more for the tunnel",
    commands.DeclineTunnel: lambda table, seat, c: "leave the tunnel",
    commands.BuildStation: _build_station,
    commands.MovePassenger: _move_passenger,
    commands.RequestCards: lambda table, seat, c: "ask for the next cards of the deck",
    commands.Pass: lambda table, seat, c: "pass",
    commands.Leave: lambda table, seat, c: "leave the table",
    commands.CallTime: lambda table, seat, c: f"say that the time of {seat_name(table, c.seat)} is over",
}
