"""A game that starts from a position (schemas/trains/positions.py): what makes one possible, and how it is laid as
events.

Every entry of it is on the board, in the rules, and there once; it may be in the middle of a turn, or near the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Final, NamedTuple, TypeVar

from schemas.commands import Command, CommandEnvelope, CreateGame, StartGame, TakeSeat
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError, require
from schemas.trains.boards.board_ids import did_you_mean
from schemas.trains.boards.form import TicketForm
from schemas.trains.events import ChoiceLaid, DeckLaid, HandLaid, MomentLaid, PositionLaid, TicketsLaid
from schemas.trains.field_types import LOCOMOTIVE
from schemas.trains.positions import OfferGiven, Position, StationGiven, TicketGiven, TunnelGiven
from schemas.trains.rule_options import RuleOptions
from services.referee.games.decide import decide_envelope
from services.referee.games.shuffle import in_canonical_order, shuffled
from services.referee.games.state import ACTION, Choice, EventStream, GameState
from services.referee.games.trains.board import (
    Board,
    Route,
    Ticket,
    closes_parallels,
    initial_tokens,
    neighbours,
    points_for_route,
    ticket_decks,
)
from services.referee.games.trains.moves.routes import TUNNEL_KIND, extra_cost
from services.referee.games.trains.train_state import SECOND_CARD, TICKETS, TUNNEL, TrainGame, TrainRuleset


def require_turn_state(
    ruleset: TrainRuleset, rule_options: RuleOptions, board: Board, seats: int, position: Position
) -> None:
    """Require that the turns of the position are possible. Raises CommandRefusedError (GAME-6), naming the wrong entry."""
    if not position.has_turn_state():
        return
    _require(position.turn is not None, "turn", "somebody's turn has begun where it says more of turns")
    _require_seats(seats, position)
    for seat, count in enumerate(position.passengers_left or ()):
        placed = [*(position.passengers or {}).values()].count(seat)
        reason = f"{count} and {placed} on the board, a seat has {rule_options.passengers}"
        _require(count + placed <= rule_options.passengers, f"passengers_left.{seat}", reason)
    choices = [name for name in ("second_card", "offer", "tunnel") if getattr(position, name)]
    _require(len(choices) < 2, ", ".join(choices), "a seat has one choice at a time")
    needed = pending_choice(position)
    _require(needed in ruleset.moves, ", ".join(choices), "these rules have no such choice")
    if position.offer is not None:
        _require(rule_options.draw_tickets, "offer", "no tickets are drawn in these rules")
        most = len(position.offer.tickets)
        _require(position.offer.least <= most, "offer.least", f"{position.offer.least} of {most} tickets")
    if position.second_card:
        _require(_has_second_card(position), "second_card", "there is no card that could be drawn")
    if position.tunnel is not None:
        _require_tunnel(ruleset, rule_options, board, seats, position, position.tunnel)


def pending_choice(position: Position) -> Choice:
    """Find the choice that the game waits for."""
    if position.second_card:
        return SECOND_CARD
    if position.offer is not None:
        return TICKETS
    return ACTION if position.tunnel is None else TUNNEL


def turn_state_events(
    rule_options: RuleOptions, board: Board, seats: int, position: Position, offered: Sequence[str]
) -> EventStream:
    """The events that lay the turns of a valid position, `offered` being the ids of its offer; none for a position whose
    turn is only beginning."""
    if position.turn is None or not position.has_turn_state():
        return
    tunnel = position.tunnel
    limits = [limit for limit in (rule_options.clock_ms, rule_options.move_ms) if limit is not None]
    yield MomentLaid(
        order=position.order or tuple(range(seats)),
        turn=position.turn,
        awaits=((position.turn, pending_choice(position), min(limits, default=None)),),
        tunnel=None
        if tunnel is None
        else (tunnel.route, tunnel.cards, tunnel.revealed, extra_cost(tunnel.cards, tunnel.revealed)),
        ending=position.last_turns is not None,
        last=tuple(sorted(position.last_turns or ())),
        passed=tuple(sorted(position.passed)),
        chosen=(True,) * seats,
        gone=(*position.gone, *(None,) * (seats - len(position.gone))),
        clocks=(rule_options.clock_ms or 0,) * seats,
        passengers=tuple(passengers_left(rule_options, seats, position)),
        shown=({},) * seats,
    )
    if position.offer is not None:
        yield ChoiceLaid(position.turn, tuple(offered), position.offer.least, False, None)


def passengers_left(rule_options: RuleOptions, seats: int, position: Position) -> list[int]:
    """Count by seat the passengers still to be placed: as given, else all that aren't on the board."""
    given = position.passengers_left or ()
    placed = [*(position.passengers or {}).values()] if rule_options.passengers else []
    return [
        given[seat] if seat < len(given) else rule_options.passengers - placed.count(seat)
        for seat in range(seats)
    ]


def _require(condition: object, field: str, reason: str) -> None:
    require(condition, "GAME-6", f"position.{field}: {reason}")


def _require_seats(seats: int, position: Position) -> None:
    rows: Mapping[str, Sequence[Seat]] = {
        "order": position.order or (),
        "last_turns": position.last_turns or (),
        "passed": position.passed,
    }
    for field, row in rows.items():
        for seat in row:
            _require(seat < seats, field, f"there is no seat {seat}")
        _require(len(set(row)) == len(row), field, "a seat is there twice")
    _require(position.order is None or len(position.order) == seats, "order", f"it has all {seats} seats")
    for name in ("gone", "passengers_left"):
        row_count = len(getattr(position, name) or ())
        _require(row_count <= seats, name, f"{row_count} rows for {seats} seats")
    gone = [seat for seat, reason in enumerate(position.gone) if reason is not None]
    _require(position.turn not in gone, f"gone.{position.turn}", "it is this seat's turn")
    for seat in position.last_turns or ():
        _require(seat not in gone, "last_turns", f"seat {seat} is gone")
        _require(seat != position.turn, "last_turns", f"seat {seat}'s turn has begun; name those after it")


def _has_second_card(position: Position) -> bool:
    """Whether a second card can be drawn (CARD-1, CARD-4)."""
    market = any(card not in (None, LOCOMOTIVE) for card in position.market or ())
    return market or position.deck is None or bool(position.deck) or any((position.discard or {}).values())


def _require_tunnel(
    ruleset: TrainRuleset,
    rule_options: RuleOptions,
    board: Board,
    seats: int,
    position: Position,
    tunnel: TunnelGiven,
) -> None:
    """The seat to act could have begun this tunnel, and has something to pay."""
    route, seat = board.routes.get(tunnel.route), position.turn or 0
    if route is None or route.kind != TUNNEL_KIND:
        raise CommandRefusedError("GAME-6", f"position.tunnel.route: there is no tunnel {tunnel.route}")
    _require_open(rule_options, seats, position, route)
    cars = position.cars[seat] if seat < len(position.cars) else rule_options.cars
    _require(
        cars >= route.length, "tunnel.route", f"{route.length} spaces, and seat {seat} has {cars} cars left"
    )
    hand = position.hands[seat] if seat < len(position.hands) else {}
    for card, count in tunnel.cards.items():
        _require(hand.get(card, 0) >= count, f"tunnel.cards.{card}", f"seat {seat} doesn't hold {count}")
    for card in tunnel.revealed:
        _require(card in rule_options.cards, f"tunnel.revealed.{card}", "these rules have no such card")
    most = rule_options.tunnel_cards
    _require(len(tunnel.revealed) <= most, "tunnel.revealed", f"{most} cards are turned up at most")
    _require(extra_cost(tunnel.cards, tunnel.revealed), "tunnel.revealed", "they ask for nothing more")
    try:
        for check_payment in ruleset.parts.payment_checks:
            check_payment(tunnel.cards, route, rule_options)
    except CommandRefusedError as error:
        raise CommandRefusedError("GAME-6", f"position.tunnel.cards: {error.reason} ({error.rule})") from None


def _require_open(rule_options: RuleOptions, seats: int, position: Position, route: Route) -> None:
    owners, seat = position.routes or {}, position.turn
    _require(route.id not in owners, "tunnel.route", "the route is claimed")
    for twin in route.parallels:
        is_open = rule_options.parallel_owned or owners.get(twin) != seat
        _require(is_open, "tunnel.route", f"seat {seat} owns its parallel {twin} (DOUBLE-1)")
        is_open = twin not in owners or not closes_parallels(rule_options, seats)
        _require(is_open, "tunnel.route", f"its parallel {twin} is claimed (DOUBLE-2)")


T = TypeVar("T")
U = TypeVar("U")
# Epochs of a position's own shuffles. Those of the play count from 0, so none is used twice.
FIRST_POSITION_EPOCH: Final = 1 << 32


def set_up_position(
    board: Board, rule_options: RuleOptions, seed: str, seats: int, position: Position
) -> EventStream:
    """The events that set up a valid position in a game just created."""
    token_stacks = position.tokens
    tickets = identify_tickets(board, position)
    yield PositionLaid(
        turn=position.turn,
        market=_padded(position.market or (), rule_options.market, None),
        discards={card: count for card, count in (position.discard or {}).items() if count},
        owners=position.routes or {},
        cars=_padded(position.cars, seats, rule_options.cars),
        points=(
            *position.points,
            *_route_scores(board, rule_options, seats, position)[len(position.points) :],
        ),
        stations=position.stations or {},
        passengers=(position.passengers or {}) if rule_options.passengers else {},
        tokens=initial_tokens(rule_options, board)
        if token_stacks is None
        else {
            city: tuple(sorted(stack, reverse=True))
            for city, stack in (token_stacks if rule_options.passengers else {}).items()
        },
        merchandise=_padded(position.merchandise, seats, 0),
        tickets=extra_tickets(board, rule_options, tickets),
    )
    yield DeckLaid(_deck_order(rule_options, seed, position))
    held_ids = iter([ticket.id for ticket in tickets if ticket.deck is None])  # seat by seat, then an offer
    for seat in range(seats):
        hand = in_canonical_order(position.hands[seat].items()) if seat < len(position.hands) else []
        ticket_count = len(position.tickets[seat]) if seat < len(position.tickets) else 0
        yield HandLaid(seat, tuple(hand), tuple(islice(held_ids, ticket_count)))
    yield from _set_up_ticket_decks(board, rule_options, seed, position, tickets)
    yield from turn_state_events(rule_options, board, seats, position, [*held_ids])


def _route_scores(board: Board, rule_options: RuleOptions, seats: int, position: Position) -> list[int]:
    """The points of each seat for its routes; 0 where routes score only at the end."""
    scored = [0] * seats
    for route_id, seat in (position.routes or {}).items():
        scored[seat] += points_for_route(rule_options, board.routes[route_id])
    return scored if rule_options.points_at_once else [0] * seats


def _deck_order(rule_options: RuleOptions, seed: str, position: Position) -> tuple[str, ...]:
    """The deck that was given; else all cards that are nowhere else, shuffled."""
    if position.deck is not None:
        return position.deck
    remaining = Counter(rule_options.cards)
    for placed_cards in (*position.hands, position.discard or {}):
        remaining.subtract(placed_cards)
    remaining.subtract(card for card in position.market or () if card)
    remaining.subtract(position.tunnel.revealed if position.tunnel else ())
    return shuffled(in_canonical_order((+remaining).items()), seed, FIRST_POSITION_EPOCH)


def _set_up_ticket_decks(
    board: Board,
    rule_options: RuleOptions,
    seed: str,
    position: Position,
    tickets: Sequence[IdentifiedTicket],
) -> EventStream:
    """The ticket decks that were given; for others all tickets of the board that are nowhere else, shuffled."""
    placed_ids = {ticket.id for ticket in tickets}
    for epoch, deck in enumerate(deck_names(rule_options), start=FIRST_POSITION_EPOCH + 1):
        if deck in (position.ticket_decks or {}):
            yield TicketsLaid(deck, tuple(ticket.id for ticket in tickets if ticket.deck == deck))
        else:
            remaining = sorted(
                t.id for t in board.tickets.values() if t.deck == deck and t.id not in placed_ids
            )
            yield TicketsLaid(deck, shuffled(remaining, seed, epoch))


def _padded(values: Sequence[T], count: int, default: U) -> tuple[T | U, ...]:
    """The values, filled up with the default to `count`."""
    return (*values, *(default,) * (count - len(values)))


DEFAULT_DECK: Final = "puzzle"  # the name of the ticket deck where the rules have none


class IdentifiedTicket(NamedTuple):
    """A ticket that a position names."""

    field: str
    deck: str | None  # None: a seat holds it, or is offered it
    id: str  # the board's, or one of its own
    form: TicketGiven


def identify_tickets(board: Board, position: Position) -> list[IdentifiedTicket]:
    """Every ticket that a position names, with its id: an unused ticket of the board with these cities and
    points (and deck, for a ticket in a deck); else a new one that the board doesn't have."""
    board_tickets: dict[tuple[frozenset[str], int], list[Ticket]] = {}
    for ticket in board.tickets.values():
        board_tickets.setdefault((frozenset((ticket.a, ticket.b)), ticket.points), []).append(ticket)
    tickets: list[IdentifiedTicket] = []
    used_ids: set[str] = set()
    for field, deck, form in position_tickets(position):
        matching = board_tickets.get((frozenset(form.between), form.points), ())
        matching_ids = [ticket.id for ticket in matching if deck in (None, ticket.deck)]
        if matching_ids:
            unused_ids = [ticket_id for ticket_id in matching_ids if ticket_id not in used_ids]
            ticket_id = (unused_ids or matching_ids)[0]
            used_ids.add(ticket_id)
        else:
            ticket_id = _new_ticket_id(board, form)
        tickets.append(IdentifiedTicket(field, deck, ticket_id, form))
    return tickets


def _new_ticket_id(board: Board, form: TicketGiven) -> str:
    a, b = sorted(form.between)
    ticket_id = f"{a}:{b}:{form.points}"
    while ticket_id in board.tickets:  # a different ticket
        ticket_id += "."
    return ticket_id


def position_tickets(position: Position) -> Iterator[tuple[str, str | None, TicketGiven]]:
    """Every ticket that a position names: its field, its deck (None: a seat holds it, or is offered it), itself.
    Those of seats come first, seat by seat, then those that are offered."""
    for seat, forms in enumerate(position.tickets):
        yield from ((f"tickets.{seat}.{index}", None, form) for index, form in enumerate(forms))
    if position.offer is not None:
        offered = enumerate(position.offer.tickets)
        yield from ((f"offer.tickets.{index}", None, form) for index, form in offered)
    for deck, deck_forms in (position.ticket_decks or {}).items():
        yield from ((f"ticket_decks.{deck}.{index}", deck, form) for index, form in enumerate(deck_forms))


def extra_tickets(
    board: Board, rule_options: RuleOptions, tickets: Sequence[IdentifiedTicket]
) -> tuple[TicketForm, ...]:
    """The tickets that only this position has. One that a seat holds belongs to the first deck.

    They are public, so they are sorted: their order must not reveal who holds them."""
    extra_tickets = (ticket for ticket in tickets if ticket.id not in board.tickets)
    first_deck = deck_names(rule_options)[0]
    return tuple(
        TicketForm(ticket.id, ticket.form.between, ticket.form.points, ticket.deck or first_deck)
        for ticket in sorted(extra_tickets, key=attrgetter("id"))
    )


def deck_names(rule_options: RuleOptions) -> tuple[str, ...]:
    """The decks that tickets of a position may lie in: one even where the rules have none."""
    return ticket_decks(rule_options) or (DEFAULT_DECK,)


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


# -- a state in the form of a position, as `ask` takes it --------------------------------------


def state_as_position(state: TrainGame) -> Position:
    """The position of a started game, every card of which is known, once starting tickets were chosen. Of a game
    that is over, the one that it ended in, its turn that of the first seat that still took part.

    What clocks have left isn't in it."""
    table = state.own
    seats, tunnel = state.seats, table.tunnel
    turn = state.turn if state.turn is not None else next(iter(state.active_seats), 0)
    choice = state.pending_choices.get(turn)
    return Position(
        turn=turn,
        hands=tuple({str(card): n for card, n in seat.own.hand.items() if n} for seat in seats),
        market=tuple(table.market) if table.market else None,
        deck=tuple(str(card) for card in reversed(table.deck)),
        discard={str(card): n for card, n in table.discards.items() if n},
        routes=dict(table.route_owners),
        cars=tuple(seat.own.cars for seat in seats),
        tickets=tuple(_tickets(state, seat.own.tickets) for seat in seats),
        ticket_decks={deck: _tickets(state, reversed(ids)) for deck, ids in table.ticket_decks.items()},
        stations=stations_given(state),
        passengers=dict(table.passenger_owners),
        tokens=dict(table.tokens),
        merchandise=tuple(seat.own.merchandise for seat in seats),
        points=tuple(seat.own.points for seat in seats),
        order=state.turn_order if state.turn_order != tuple(range(len(seats))) else None,
        last_turns=tuple(sorted(table.seats_with_last_turn)) if table.in_last_turns else None,
        passed=tuple(sorted(table.seats_passed)),
        gone=tuple(seat.exit_reason for seat in seats) if any(seat.exit_reason for seat in seats) else (),
        passengers_left=tuple(seat.own.passengers_left for seat in seats)
        if state.rule_options.passengers
        else None,
        second_card=choice == SECOND_CARD,
        offer=OfferGiven(_tickets(state, seats[turn].own.offer), seats[turn].own.min_keep)
        if choice == TICKETS
        else None,
        tunnel=TunnelGiven(tunnel.route, tunnel.cards, tunnel.revealed)
        if tunnel and choice == TUNNEL
        else None,
    )


def stations_given(state: TrainGame) -> dict[str, StationGiven]:
    """Every station by its city, with the seat that built it and the neighbour named for it."""
    return {
        city: StationGiven(seat, state.seats[seat].own.stations[city])
        for city, seat in state.own.station_owners.items()
    }


def _tickets(state: TrainGame, ids: Iterable[str | None]) -> tuple[TicketGiven, ...]:
    tickets = (state.own.board.tickets[str(ticket)] for ticket in ids)
    return tuple(TicketGiven((ticket.a, ticket.b), ticket.points) for ticket in tickets)


QUESTION_GAME_ID: Final = "question"
UNUSED_SEED: Final = "00" * 32  # only for what neither the position nor the command's own seed decides


def start_from_position(command: CreateGame) -> TrainGame:
    """The state of the game that `command` creates, after every seat was taken and the game started.

    All seats of `command` are for people. Raises UnloggedRejectionError if the game can't be created."""
    state: TrainGame = GameState()

    def apply_command(command: Command) -> None:
        decide_envelope(state, CommandEnvelope("laid", QUESTION_GAME_ID, None, command), 0, UNUSED_SEED)

    apply_command(command)
    for seat in range(len(command.seats)):
        apply_command(TakeSeat(f"seat {seat}", seat))
    apply_command(StartGame())
    return state
