"""A game that starts from a position: it is checked as a whole, then laid (see schemas/positions)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from schemas.boards.form import TicketForm
from schemas.events import DeckLaid, HandLaid, PositionLaid, TicketsLaid
from schemas.field_types import Seat
from schemas.positions import Position, TicketGiven
from schemas.refusals import require
from schemas.rule_options import Parameters
from services.referee.rules.board import (
    Board,
    Ticket,
    full_stacks,
    neighbours,
    parallels_close,
    ticket_decks,
    worth,
)  # fmt: skip
from services.referee.rules.ruleset import Facts
from services.referee.rules.shuffle import in_order, shuffled

T = TypeVar("T")
U = TypeVar("U")
NO_DECK: Final = "puzzle"  # what the deck is called where these rules have none
EPOCHS: Final = 1 << 32  # of a position's own shuffles: the play's are counted from 0, and none comes twice


class Identified(NamedTuple):
    """A ticket that a position names."""

    entry: str
    deck: str | None  # None: a seat holds it
    id: str  # the board's, or one of its own
    given: TicketGiven


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
        _require(not figures.passengers or city in board.cities, f"tokens.{city}", "there is no such city")


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
    closing = parallels_close(figures, seats)
    spaces: Counter[Seat] = Counter()
    for name, seat in owners.items():
        entry = f"routes.{name}"
        _require(name in board.routes, entry, "there is no such route")
        _require(seat < seats, entry, f"there is no seat {seat}")
        spaces[seat] += board.routes[name].length
        used, most = spaces[seat], figures.cars
        _require(used <= most, entry, f"seat {seat}'s routes have {used} spaces, it has {most} cars at most")
        for twin in board.routes[name].twins:
            both = owners.get(twin) == seat and not figures.parallel_owned
            _require(not both, entry, f"seat {seat} owns its parallel {twin} too (DOUBLE-1)")
            _require(
                not (closing and twin in owners), entry, f"its parallel {twin} is claimed too (DOUBLE-2)"
            )


def _require_tickets(figures: Parameters, board: Board, position: Position) -> None:
    for deck in position.ticket_decks or {}:
        _require(deck in _decks(figures), f"ticket_decks.{deck}", "these rules have no such deck")
    for entry, _, given in _given(position):
        a, b = given.between
        for city in (a, b):
            _require(city in board.cities, entry, f"there is no city {city}")
        _require(a != b, entry, f"it joins {a} to itself")
    seen: dict[str, str] = {}
    for ticket in _identified(board, position):
        _require(ticket.id not in seen, ticket.entry, f"the same ticket is in {seen.get(ticket.id)}")
        seen[ticket.id] = ticket.entry


def _require_stations(figures: Parameters, board: Board, seats: int, position: Position) -> None:
    built: Counter[Seat] = Counter()
    for city, station in (position.stations or {}).items():
        entry = f"stations.{city}"
        _require(city in board.cities, entry, "there is no such city")
        _require(station.seat < seats, entry, f"there is no seat {station.seat}")
        built[station.seat] += 1
        most = len(figures.station_costs)
        _require(built[station.seat] <= most, entry, f"seat {station.seat} has more than {most} stations")
        beside = station.neighbour is None or station.neighbour in neighbours(board, city)
        _require(beside, entry, f"no route joins it to {station.neighbour}")


def _require_passengers(figures: Parameters, board: Board, seats: int, position: Position) -> None:
    standing: Counter[Seat] = Counter()
    for city, seat in (position.passengers or {}).items():
        entry = f"passengers.{city}"
        _require(seat < seats, entry, f"there is no seat {seat}")
        if not figures.passengers:
            continue  # they are left off the table, wherever they were to stand
        _require(city in board.cities, entry, "there is no such city")
        _require(city not in board.countries, entry, "no passenger stands in a country")
        standing[seat] += 1
        most = figures.passengers
        _require(standing[seat] <= most, entry, f"seat {seat} has more than {most} passengers")


# -- laying it -----------------------------------------------------------------------------


def lay_position(board: Board, figures: Parameters, seed: str, seats: int, position: Position) -> Facts:
    """The facts that lay a position which can be, on a table just created."""
    given = position.tokens
    tickets = _identified(board, position)
    yield PositionLaid(
        turn=position.turn,
        market=_row(position.market or (), figures.market, None),
        discards={card: count for card, count in (position.discard or {}).items() if count},
        owners=position.routes or {},
        cars=_row(position.cars, seats, figures.cars),
        points=(*position.points, *_scored(board, figures, seats, position)[len(position.points) :]),
        stations=position.stations or {},
        passengers=(position.passengers or {}) if figures.passengers else {},
        tokens=full_stacks(figures, board)
        if given is None
        else _highest_on_top(given if figures.passengers else {}),
        merchandise=_row(position.merchandise, seats, 0),
        tickets=_new_tickets(board, figures, tickets),
    )
    yield DeckLaid(_deck(figures, seed, position))
    for seat in range(seats):
        hand = in_order(position.hands[seat].items()) if seat < len(position.hands) else []
        held = tuple(t.id for t in tickets if t.deck is None and t.entry.startswith(f"tickets.{seat}."))
        yield HandLaid(seat, tuple(hand), held)
    yield from _lay_ticket_decks(board, figures, seed, position, tickets)


def _scored(board: Board, figures: Parameters, seats: int, position: Position) -> list[int]:
    """What each seat has scored for its routes so far."""
    scored = [0] * seats
    for name, seat in (position.routes or {}).items():
        scored[seat] += worth(figures, board.routes[name])
    return scored if figures.points_at_once else [0] * seats


def _highest_on_top(stacks: Mapping[str, Iterable[int]]) -> dict[str, tuple[int, ...]]:
    return {city: tuple(sorted(stack, reverse=True)) for city, stack in stacks.items()}


def _deck(figures: Parameters, seed: str, position: Position) -> tuple[str, ...]:
    """The deck that was given; else all cards that lie nowhere else, shuffled."""
    if position.deck is not None:
        return position.deck
    left = Counter(figures.cards)
    for held in (*position.hands, position.discard or {}):
        left.subtract(held)
    left.subtract(card for card in position.market or () if card)
    return shuffled(in_order((+left).items()), seed, EPOCHS)


def _lay_ticket_decks(
    board: Board, figures: Parameters, seed: str, position: Position, tickets: Sequence[Identified]
) -> Facts:
    """The ticket decks that were given; else all tickets of the board that lie nowhere else."""
    placed = {ticket.id for ticket in tickets}
    for epoch, deck in enumerate(_decks(figures), start=EPOCHS + 1):
        if deck in (position.ticket_decks or {}):
            yield TicketsLaid(deck, tuple(ticket.id for ticket in tickets if ticket.deck == deck))
        else:
            left = sorted(t.id for t in board.tickets.values() if t.deck == deck and t.id not in placed)
            yield TicketsLaid(deck, shuffled(left, seed, epoch))


def _new_tickets(board: Board, figures: Parameters, tickets: Sequence[Identified]) -> tuple[TicketForm, ...]:
    """The tickets that only this position has. One in a hand belongs to the first deck.

    All may know that they are in the game, so their order must not tell where they lie."""
    new = (ticket for ticket in tickets if ticket.id not in board.tickets)
    return tuple(
        TicketForm(ticket.id, ticket.given.between, ticket.given.points, ticket.deck or _decks(figures)[0])
        for ticket in sorted(new, key=lambda ticket: ticket.id)
    )


def _identified(board: Board, position: Position) -> list[Identified]:
    """Every ticket that a position names: the board's of these cities and points (in a deck: of
    that deck) that isn't named yet, or one that the board doesn't have."""
    known: dict[tuple[frozenset[str], int], list[Ticket]] = {}
    for ticket in board.tickets.values():
        known.setdefault((frozenset((ticket.a, ticket.b)), ticket.points), []).append(ticket)
    tickets: list[Identified] = []
    taken: set[str] = set()
    for entry, deck, given in _given(position):
        alike = known.get((frozenset(given.between), given.points), ())
        fitting = [ticket.id for ticket in alike if deck in (None, ticket.deck)]
        free = [name for name in fitting if name not in taken]
        name = (free or fitting or [_new_name(board, given)])[0]
        taken.add(name)
        tickets.append(Identified(entry, deck, name, given))
    return tickets


def _new_name(board: Board, given: TicketGiven) -> str:
    a, b = sorted(given.between)
    name = f"{a}:{b}:{given.points}"
    while name in board.tickets:  # which is another one
        name += "."
    return name


def _given(position: Position) -> Iterator[tuple[str, str | None, TicketGiven]]:
    """Every ticket that a position names: its entry, its deck, itself."""
    for seat, row in enumerate(position.tickets):
        yield from ((f"tickets.{seat}.{place}", None, given) for place, given in enumerate(row))
    for deck, tickets in (position.ticket_decks or {}).items():
        yield from ((f"ticket_decks.{deck}.{place}", deck, given) for place, given in enumerate(tickets))


def _decks(figures: Parameters) -> tuple[str, ...]:
    return ticket_decks(figures) or (NO_DECK,)


def _row(given: Sequence[T], count: int, usual: U) -> tuple[T | U, ...]:
    """The row that was given, as long as it should be."""
    return (*given, *(usual,) * (count - len(given)))
