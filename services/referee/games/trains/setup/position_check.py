"""What makes a position possible: every entry of it is on the board, in the rules, and there once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from schemas.field_types import Seat
from schemas.refusals import require
from schemas.trains.boards.board_ids import did_you_mean
from schemas.trains.positions import Position
from schemas.trains.rule_options import RuleOptions
from services.referee.games.trains.board import Board, closes_parallels, neighbours
from services.referee.games.trains.setup.position import deck_names, identify_tickets, position_tickets


def require_position(rule_options: RuleOptions, board: Board, seats: int, position: Position) -> None:
    """Such a position is possible. Raises CommandRefusedError (GAME-6), which names the wrong entry."""
    _require((position.turn or 0) < seats, "turn", f"there is no seat {position.turn}")
    for name in ("hands", "cars", "tickets", "merchandise", "points"):
        row_count = len(getattr(position, name))
        _require(row_count <= seats, name, f"{row_count} rows for {seats} seats")
    _require_cards(rule_options, position)
    for seat, cars in enumerate(position.cars):
        _require(cars <= rule_options.cars, f"cars.{seat}", f"{cars}, a seat has {rule_options.cars} at most")
    _require_routes(rule_options, board, seats, position.routes or {})
    _require_tickets(rule_options, board, position)
    _require_stations(rule_options, board, seats, position)
    _require_passengers(rule_options, board, seats, position)
    for city in position.tokens or {}:
        if rule_options.passengers:
            _require_on_board(city, board.cities, f"tokens.{city}", "there is no such city")


def _require(condition: object, field: str, reason: str) -> None:
    require(condition, "GAME-6", f"position.{field}: {reason}")


def _require_on_board(place: str, places: Collection[str], field: str, reason: str) -> None:
    if place not in places:
        _require(False, field, reason + did_you_mean(place, places))


def _require_cards(rule_options: RuleOptions, position: Position) -> None:
    rows: list[tuple[str, Iterable[str | None]]] = [
        *((f"hands.{seat}", hand) for seat, hand in enumerate(position.hands)),
        ("market", position.market or ()),
        ("deck", position.deck or ()),
        ("discard", position.discard or {}),
    ]
    for field, cards in rows:
        for card in cards:
            _require(
                card is None or card in rule_options.cards, f"{field}.{card}", "these rules have no such card"
            )
    _require(
        len(position.market or ()) <= rule_options.market, "market", f"more than {rule_options.market} cards"
    )


def _require_routes(rule_options: RuleOptions, board: Board, seats: int, owners: Mapping[str, Seat]) -> None:
    parallels_closed = closes_parallels(rule_options, seats)
    spaces_by_seat: Counter[Seat] = Counter()
    for route_id, seat in owners.items():
        field = f"routes.{route_id}"
        _require_on_board(route_id, board.routes, field, "there is no such route")
        _require(seat < seats, field, f"there is no seat {seat}")
        spaces_by_seat[seat] += board.routes[route_id].length
        used_cars, max_cars = spaces_by_seat[seat], rule_options.cars
        _require(
            used_cars <= max_cars,
            field,
            f"seat {seat}'s routes have {used_cars} spaces, it has {max_cars} cars at most",
        )
        for twin in board.routes[route_id].parallels:
            owns_both = owners.get(twin) == seat and not rule_options.parallel_owned
            _require(not owns_both, field, f"seat {seat} owns its parallel {twin} too (DOUBLE-1)")
            _require(
                not (parallels_closed and twin in owners),
                field,
                f"its parallel {twin} is claimed too (DOUBLE-2)",
            )


def _require_tickets(rule_options: RuleOptions, board: Board, position: Position) -> None:
    for deck in position.ticket_decks or {}:
        _require(deck in deck_names(rule_options), f"ticket_decks.{deck}", "these rules have no such deck")
    for field, _, form in position_tickets(position):
        a, b = form.between
        for city in (a, b):
            _require_on_board(city, board.cities, field, f"there is no city {city}")
        _require(a != b, field, f"it joins {a} to itself")
    field_by_ticket: dict[str, str] = {}
    for ticket in identify_tickets(board, position):
        _require(
            ticket.id not in field_by_ticket,
            ticket.field,
            f"the same ticket is in {field_by_ticket.get(ticket.id)}",
        )
        field_by_ticket[ticket.id] = ticket.field


def _require_stations(rule_options: RuleOptions, board: Board, seats: int, position: Position) -> None:
    station_counts: Counter[Seat] = Counter()
    for city, station in (position.stations or {}).items():
        field = f"stations.{city}"
        _require_on_board(city, board.cities, field, "there is no such city")
        _require(station.seat < seats, field, f"there is no seat {station.seat}")
        station_counts[station.seat] += 1
        max_stations = len(rule_options.station_costs)
        _require(
            station_counts[station.seat] <= max_stations,
            field,
            f"seat {station.seat} has more than {max_stations} stations",
        )
        is_neighbour = station.neighbour is None or station.neighbour in neighbours(board, city)
        _require(is_neighbour, field, f"no route joins it to {station.neighbour}")


def _require_passengers(rule_options: RuleOptions, board: Board, seats: int, position: Position) -> None:
    passenger_counts: Counter[Seat] = Counter()
    for city, seat in (position.passengers or {}).items():
        field = f"passengers.{city}"
        _require(seat < seats, field, f"there is no seat {seat}")
        if not rule_options.passengers:
            continue  # they are left out, wherever the position puts them
        _require_on_board(city, board.cities, field, "there is no such city")
        _require(city not in board.countries, field, "no passenger stands in a country")
        passenger_counts[seat] += 1
        max_passengers = rule_options.passengers
        _require(
            passenger_counts[seat] <= max_passengers,
            field,
            f"seat {seat} has more than {max_passengers} passengers",
        )
