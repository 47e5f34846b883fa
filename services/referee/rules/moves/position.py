"""A game that starts from a position: it is checked as a whole, then laid (see schemas/positions)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from schemas.boards import TicketForm
from schemas.events import DeckLaid, HandLaid, PositionLaid, TicketsLaid
from schemas.parameters import Parameters
from schemas.positions import Position, TicketGiven
from schemas.refusals import require
from schemas.words import Seat
from services.referee.rules.board import Board
from services.referee.rules.ruleset import Facts
from services.referee.rules.shuffle import in_order, shuffled

T = TypeVar("T")
U = TypeVar("U")
NOT_ON_THE_BOARD = "puzzle"  # the deck of tickets that only a position has


# -- what can't be -------------------------------------------------------------------------


def require_position(figures: Parameters, board: Board, seats: int, position: Position) -> None:
    """Such a table can be. Raises Refused, naming the entry that can't."""
    _require(position.turn < seats, "turn", f"there is no seat {position.turn}")
    for name in ("hands", "cars", "tickets", "merchandise", "points"):
        rows = len(getattr(position, name))
        _require(rows <= seats, name, f"{rows} rows for {seats} seats")
    _require_cards(figures, position)
    for seat, cars in enumerate(position.cars):
        _require(cars <= figures.cars, f"cars.{seat}", f"{cars}, a seat has {figures.cars} at most")
    _require_routes(figures, board, seats, position.routes or {})
    _require_tickets(figures, board, position)
    _require_stations(figures, board, seats, position)
    _require_passengers(figures, board, seats, position)
    for city in position.tokens or {}:
        _require(city in board.cities, f"tokens.{city}", "there is no such city")


def _require(condition: object, entry: str, why: str) -> None:
    require(condition, "GAME-6", f"position.{entry}: {why}")


def _require_cards(figures: Parameters, position: Position) -> None:
    rows: list[tuple[str, Iterable[str | None]]] = [
        *((f"hands.{seat}", hand) for seat, hand in enumerate(position.hands)),
        ("market", position.market or ()),
        ("deck", position.deck or ()),
        ("discard", position.discard or {}),
    ]
    for entry, cards in rows:
        for card in cards:
            _require(
                card is None or card in figures.cards, f"{entry}.{card}", "these rules have no such card"
            )
    _require(len(position.market or ()) <= figures.market, "market", f"more than {figures.market} cards")


def _require_routes(figures: Parameters, board: Board, seats: int, owners: Mapping[str, Seat]) -> None:
    closing = not figures.parallel_owned and seats < figures.parallel_seats
    for name, seat in owners.items():
        entry = f"routes.{name}"
        _require(name in board.routes, entry, "there is no such route")
        _require(seat < seats, entry, f"there is no seat {seat}")
        for twin in board.routes[name].twins:
            both = owners.get(twin) == seat and not figures.parallel_owned
            _require(not both, entry, f"seat {seat} owns its parallel {twin} too (DOUBLE-1)")
            _require(
                not (closing and twin in owners), entry, f"its parallel {twin} is claimed too (DOUBLE-2)"
            )


def _require_tickets(figures: Parameters, board: Board, position: Position) -> None:
    for deck in position.ticket_decks or {}:
        _require(deck in _decks(figures), f"ticket_decks.{deck}", "these rules have no such deck")
    seen: dict[str, str] = {}
    for entry, _, given in _given(position):
        a, b = given.between
        for city in (a, b):
            _require(city in board.cities, entry, f"there is no city {city}")
        _require(a != b, entry, f"it joins {a} to itself")
        ticket = _identified(board, given)
        _require(ticket not in seen, entry, f"the same ticket is in {seen.get(ticket)}")
        seen[ticket] = entry


def _require_stations(figures: Parameters, board: Board, seats: int, position: Position) -> None:
    built: Counter[Seat] = Counter()
    for city, station in (position.stations or {}).items():
        entry = f"stations.{city}"
        _require(city in board.cities, entry, "there is no such city")
        _require(station.seat < seats, entry, f"there is no seat {station.seat}")
        built[station.seat] += 1
        most = len(figures.station_costs)
        _require(built[station.seat] <= most, entry, f"seat {station.seat} has more than {most} stations")
        beside = any({city, station.neighbour} == {r.a, r.b} for r in board.routes.values())
        _require(station.neighbour is None or beside, entry, f"no route joins it to {station.neighbour}")


def _require_passengers(figures: Parameters, board: Board, seats: int, position: Position) -> None:
    standing: Counter[Seat] = Counter()
    for city, seat in (position.passengers or {}).items():
        entry = f"passengers.{city}"
        _require(city in board.cities, entry, "there is no such city")
        _require(city not in board.countries, entry, "no passenger stands in a country")
        _require(seat < seats, entry, f"there is no seat {seat}")
        standing[seat] += 1
        most = figures.passengers
        _require(standing[seat] <= most, entry, f"seat {seat} has more than {most} passengers")


# -- laying it -----------------------------------------------------------------------------


def lay_position(board: Board, figures: Parameters, seed: str, seats: int, position: Position) -> Facts:
    """The facts that lay a position which can be, on a table just created."""
    stacks = {city: figures.merchandise.get(colour, ()) for city, colour in board.merchandise.items()}
    tokens = {city: stack for city, stack in stacks.items() if stack}
    yield PositionLaid(
        turn=position.turn,
        market=_row(position.market or (), figures.market, None),
        discards={card: count for card, count in (position.discard or {}).items() if count},
        owners=position.routes or {},
        cars=_row(position.cars, seats, figures.cars),
        points=(*position.points, *_scored(board, figures, seats, position)[len(position.points) :]),
        stations=position.stations or {},
        passengers=position.passengers or {},
        tokens=tokens if position.tokens is None else position.tokens,
        merchandise=_row(position.merchandise, seats, 0),
        tickets=_new_tickets(board, figures, position),
    )
    yield DeckLaid(_deck(figures, seed, position))
    for seat in range(seats):
        hand = in_order(position.hands[seat].items()) if seat < len(position.hands) else []
        held = position.tickets[seat] if seat < len(position.tickets) else ()
        yield HandLaid(seat, tuple(hand), tuple(_identified(board, given) for given in held))
    yield from _lay_ticket_decks(board, figures, seed, position)


def _scored(board: Board, figures: Parameters, seats: int, position: Position) -> list[int]:
    """What each seat has scored for its routes so far."""
    scored = [0] * seats
    for name, seat in (position.routes or {}).items():
        scored[seat] += figures.route_points[board.routes[name].length - 1] or 0
    return scored if figures.points_at_once else [0] * seats


def _deck(figures: Parameters, seed: str, position: Position) -> tuple[str, ...]:
    """The deck that was given; else all cards that lie nowhere else, shuffled."""
    if position.deck is not None:
        return position.deck
    left = Counter(figures.cards)
    for held in (*position.hands, position.discard or {}):
        left.subtract(held)
    left.subtract(card for card in position.market or () if card)
    return shuffled(in_order((+left).items()), seed, 0)


def _lay_ticket_decks(board: Board, figures: Parameters, seed: str, position: Position) -> Facts:
    """The ticket decks that were given; else all tickets of the board that lie nowhere else."""
    given = position.ticket_decks or {}
    placed = {_identified(board, ticket) for _, _, ticket in _given(position)}
    for number, deck in enumerate(_decks(figures), start=1):
        if deck in given:
            yield TicketsLaid(deck, tuple(_identified(board, ticket) for ticket in given[deck]))
        else:
            left = sorted(t.id for t in board.tickets.values() if t.deck == deck and t.id not in placed)
            yield TicketsLaid(deck, shuffled(left, seed, number))


def _new_tickets(board: Board, figures: Parameters, position: Position) -> tuple[TicketForm, ...]:
    """The tickets that only this position has. One in a hand belongs to the first deck."""
    new = []
    for _, deck, given in _given(position):
        name = _identified(board, given)
        if name not in board.tickets:
            new.append(TicketForm(name, given.between, given.points, deck or _decks(figures)[0]))
    return tuple(new)


def _identified(board: Board, given: TicketGiven) -> str:
    """The id of the board's ticket of these places and points, or of one that it doesn't have."""
    a, b = given.between
    for name in (f"{a}:{b}", f"{b}:{a}"):
        ticket = board.tickets.get(name)
        if ticket is not None and ticket.points == given.points:
            return name
    for ticket in board.tickets.values():
        if {ticket.a, ticket.b} == {a, b} and ticket.points == given.points:
            return ticket.id
    return f"{min(a, b)}:{max(a, b)}:{given.points}"


def _given(position: Position) -> Iterator[tuple[str, str | None, TicketGiven]]:
    """Every ticket that a position names: its entry, its deck, itself."""
    for seat, row in enumerate(position.tickets):
        yield from ((f"tickets.{seat}.{place}", None, given) for place, given in enumerate(row))
    for deck, tickets in (position.ticket_decks or {}).items():
        yield from ((f"ticket_decks.{deck}.{place}", deck, given) for place, given in enumerate(tickets))


def _decks(figures: Parameters) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*figures.start_tickets, *figures.draw_tickets))) or (NOT_ON_THE_BOARD,)


def _row(given: Sequence[T], count: int, usual: U) -> tuple[T | U, ...]:
    """The row that was given, as long as it should be."""
    return (*given, *(usual,) * (count - len(given)))
