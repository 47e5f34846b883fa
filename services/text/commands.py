"""Commands in words: what a seat asked for.

Importing this module checks that every declared command has a description.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

from schemas import commands
from schemas.commands import Command
from schemas.contract import COMMAND_REGISTRY, CommandContract, wish_of
from schemas.field_types import Seat
from schemas.registry import HandlerTable, OfItsKey
from schemas.trains import commands as train_commands
from services.referee.games.trains.board import Route
from services.referee.games.trains.train_state import TrainGame
from services.text.formatting import (
    city_name,
    describe_route,
    fill_in,
    format_cards,
    pluralize,
    seat_name,
    tickets_suffix,
)

C = TypeVar("C", bound=CommandContract)
CommandText: TypeAlias = Callable[[TrainGame, Seat | None, OfItsKey], str]
DESCRIPTION_TABLE: Final[HandlerTable[CommandContract, CommandText]] = HandlerTable(
    "description", COMMAND_REGISTRY
)

PLAIN: Final[Mapping[type[CommandContract], str]] = {
    commands.StartGame: "start the game",
    train_commands.DrawBlind: "draw blind from the deck",
    train_commands.DeclineTunnel: "leave the tunnel",
    train_commands.RequestCards: "ask for the next cards of the deck",
    commands.Pass: "pass",
    commands.Leave: "leave the table",
    commands.EndGame: "end the game, in which nobody has acted for long",
    commands.ForkGame: "fork game",
}  # commands whose description needs nothing of them


def describes(
    cls: type[C],
) -> Callable[[Callable[[TrainGame, Seat | None, C], str]], Callable[[TrainGame, Seat | None, C], str]]:
    """The decorator of the function that describes these commands."""
    return DESCRIPTION_TABLE(cls)


def sender_name(state: TrainGame, seat: Seat | None) -> str:
    """The sender of a command: a seat by its name and number, or "the server" (a system command)."""
    if seat is None or seat >= len(state.seats):
        return "the server" if seat is None else f"seat {seat}"
    name = state.seats[seat].name
    return f"{name} (seat {seat})" if name else f"seat {seat}"


def describe_command(state: TrainGame, seat: Seat | None, command: Command) -> str:
    """The command as what somebody wants to do: "claim Denver - Omaha (4) with 4 purple". One that names
    what the board lacks is described by its fields as they are."""
    if plain := PLAIN.get(type(command)) or fill_in(state, command.description, command):
        return plain
    try:
        return DESCRIPTIONS[type(command)](state, seat, command)
    except (LookupError, AttributeError):  # a route or a city that isn't on the board, or no board yet
        return _raw_text(command)


def group_commands(
    state: TrainGame, seat: Seat, alternatives: Sequence[Command]
) -> list[tuple[str, list[str]]]:
    """Many commands as a few titles: claims by their route, stations by their payment, journeys by their
    start, others by their type. Each title has its variants, which may be none."""
    groups: dict[str, list[str]] = {}
    for command in alternatives:
        title, detail = command_title(state, seat, command)
        details = groups.setdefault(title, [])
        if detail:
            details.append(detail)
    return list(groups.items())


def command_title(state: TrainGame, seat: Seat, command: Command) -> tuple[str, str]:
    """The title of the group that a command belongs to, and which of the group it is (may be empty)."""
    match command:
        case train_commands.ClaimRoute():
            route = state.own.board.routes[command.route]
            passenger_text = (
                f", a passenger in {city_name(state, command.passenger)}" if command.passenger else ""
            )
            title = f"claim {describe_route(state, command.route)} ({pluralize(route.length, 'space')}, {_route_color(route)})"
            return title, f"{format_cards(command.cards)}{passenger_text}"
        case train_commands.BuildStation():
            return (
                f"build a station with {format_cards(command.cards)}",
                f"in {city_name(state, command.city)}",
            )
        case train_commands.MovePassenger():
            way = ", ".join(describe_route(state, route) for route in command.path)
            return f"move the passenger in {city_name(state, command.city)}", f"over {way}"
    text, kind = describe_command(state, seat, command), wish_of(command)
    return (kind, text.removeprefix(kind).strip(": ")) if text.startswith(kind) else (text, "")


def _route_color(route: Route) -> str:
    return f"{route.color} {route.kind}" if route.kind != "rail" else str(route.color)


def _raw_text(command: Command) -> str:
    fields = ((name, getattr(command, name)) for name in commands.FIELDS[type(command)])
    values = ", ".join(f"{name} {value}" for name, value in fields if value is not None)
    return command.type.replace("_", " ") + (f": {values}" if values else "")


@describes(commands.CreateGame)
def _create_game(state: TrainGame, seat: Seat | None, command: commands.CreateGame) -> str:
    return f"create a game with {pluralize(len(command.seats), 'seat')}"


@describes(commands.AnswerUndo)
def _answer_undo(state: TrainGame, seat: Seat | None, command: commands.AnswerUndo) -> str:
    return "let the last move be taken back" if command.agrees else "let the last move stand"


@describes(commands.TakeSeat)
def _take_seat(state: TrainGame, seat: Seat | None, command: commands.TakeSeat) -> str:
    name = command.name or state.name_of(command.name_commitment)
    return f"take a seat as {name}" if name else "take a seat"


@describes(train_commands.DrawMarket)
def _draw_market(state: TrainGame, seat: Seat | None, command: train_commands.DrawMarket) -> str:
    if command.slot is None:
        return f"draw {command.color} from the market"
    table = state.own
    card = table.market[command.slot] if command.slot < len(table.market) else None
    return f"draw market place {command.slot}" + (f" ({card})" if card else " (nothing lies there)")


@describes(train_commands.DrawTickets)
def _draw_tickets(state: TrainGame, seat: Seat | None, command: train_commands.DrawTickets) -> str:
    if not command.decks:
        return "draw tickets"
    return f"draw tickets: {', '.join(f'{n} {deck}' for deck, n in command.decks.items())}"


@describes(train_commands.KeepTickets)
def _keep_tickets(state: TrainGame, seat: Seat | None, command: train_commands.KeepTickets) -> str:
    offer = state.seats[seat].own.offer if seat is not None else []
    kept = [offer[place] if place < len(offer) else None for place in command.keep]
    places = ", ".join(str(place) for place in command.keep) or "none"
    return f"keep tickets {places} of the offer{tickets_suffix(state, kept)}"


@describes(train_commands.ClaimRoute)
def _claim_route(state: TrainGame, seat: Seat | None, command: train_commands.ClaimRoute) -> str:
    route = state.own.board.routes[command.route]
    passenger_text = (
        f", with a passenger in {city_name(state, command.passenger)}" if command.passenger else ""
    )
    return f"claim {describe_route(state, command.route)} ({route.length}, {_route_color(route)}) with {format_cards(command.cards)}{passenger_text}"


@describes(train_commands.PayTunnel)
def _pay_tunnel(state: TrainGame, seat: Seat | None, command: train_commands.PayTunnel) -> str:
    return f"pay {format_cards(command.cards)} more for the tunnel"


@describes(train_commands.BuildStation)
def _build_station(state: TrainGame, seat: Seat | None, command: train_commands.BuildStation) -> str:
    neighbour_text = f", for a route from {city_name(state, command.neighbour)}" if command.neighbour else ""
    return f"build a station in {city_name(state, command.city)} with {format_cards(command.cards)}{neighbour_text}"


@describes(train_commands.MovePassenger)
def _move_passenger(state: TrainGame, seat: Seat | None, command: train_commands.MovePassenger) -> str:
    way = ", ".join(describe_route(state, route) for route in command.path)
    return f"move the passenger in {city_name(state, command.city)} over {way}"


@describes(commands.CallTime)
def _call_time(state: TrainGame, seat: Seat | None, command: commands.CallTime) -> str:
    return f"say that the time of {seat_name(state, command.seat)} is over"


@describes(commands.FreeSeat)
def _free_seat(state: TrainGame, seat: Seat | None, command: commands.FreeSeat) -> str:
    return f"free seat {command.seat}"


@describes(commands.SeatBot)
def _seat_bot(state: TrainGame, seat: Seat | None, command: commands.SeatBot) -> str:
    return f"let a bot take seat {command.seat}: {command.policy}"


DESCRIPTION_TABLE.none_for(*PLAIN, *(cls for cls in COMMAND_REGISTRY.classes if cls.description))
DESCRIPTIONS: Final = DESCRIPTION_TABLE.complete()
