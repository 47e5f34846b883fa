"""A game's state in the form of a position, as `ask` takes it (schemas/trains/positions.py)."""

from __future__ import annotations

from collections.abc import Iterable

from schemas.trains.positions import OfferGiven, Position, StationGiven, TicketGiven, TunnelGiven
from services.referee.games.trains.train_state import SECOND_CARD, TICKETS, TUNNEL, TrainGame


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
