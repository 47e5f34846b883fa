"""How seats leave and games end; and refusals."""

from __future__ import annotations

from schemas.events import (
    CommandRefused,
    GameEnded,
    LastTurnsBegan,
    PlayOffCalled,
    PlayOffEnded,
    SeatCleared,
    SeatGone,
    SeedRevealed,
    TicketsShown,
)  # fmt: skip
from services.referee.rules.appliers.table import applies
from services.referee.rules.board import Route
from services.referee.rules.state import GameState


@applies(LastTurnsBegan)
def last_turns_began(state: GameState, event: LastTurnsBegan) -> None:
    table = state.own
    table.in_last_turns, table.seats_with_last_turn = True, set(event.seats)


@applies(SeatGone)
def seat_gone(state: GameState, event: SeatGone) -> None:
    state.seats[event.seat].exit_reason = event.why
    state.pending_choices.pop(event.seat, None)
    state.own.seats_with_last_turn.discard(event.seat)


@applies(SeatCleared)
def seat_cleared(state: GameState, event: SeatCleared) -> None:
    seat_state = state.seats[event.seat].own
    table = state.own
    for route_id in seat_state.routes:
        route = table.board.routes[route_id]
        del table.route_owners[route_id]
        open_route(state, route)
    for route_id in seat_state.routes:
        reopen_twins(state, route_id)
    for seats_by_city in (table.station_owners, table.passenger_owners):
        for city in [city for city, seat in seats_by_city.items() if seat == event.seat]:
            del seats_by_city[city]
    seat_state.hand = dict.fromkeys(seat_state.hand, 0)
    (
        seat_state.tickets,
        seat_state.offer,
        seat_state.routes,
        seat_state.blocked_parallels,
        seat_state.stations,
    ) = [], [], [], set(), {}
    seat_state.cars, seat_state.passengers_left = (
        state.rule_options.cars,
        state.rule_options.passengers,
    )
    seat_state.points, seat_state.merchandise, seat_state.requested_mix = 0, 0, None
    table.seats_passed.clear()  # routes are free again: who passed may have something to do now


def reopen_twins(state: GameState, route_id: str) -> None:
    """A parallel route that had closed opens again, unless another one still closes it."""
    table = state.own
    twins = table.board.routes[route_id].parallels
    for twin in twins:
        if twin not in table.route_owners and not (
            table.closes_parallels and any(other in table.route_owners for other in twins)
        ):
            open_route(state, table.board.routes[twin])


def open_route(state: GameState, route: Route) -> None:
    """The route can be claimed again; it stands behind the others of its fare."""
    table = state.own
    open_routes = table.open_routes[route.fare]
    if route.id not in open_routes:
        table.open_routes[route.fare] = (*open_routes, route.id)


@applies(TicketsShown)
def tickets_shown(state: GameState, event: TicketsShown) -> None:
    state.seats[event.seat].own.tickets = list(event.tickets)


@applies(PlayOffCalled)
def play_off_called(state: GameState, event: PlayOffCalled) -> None:
    state.next_play_off = event


@applies(PlayOffEnded)
def play_off_ended(state: GameState, event: PlayOffEnded) -> None:
    """Nothing of this game's state changes: the event is for people who read it."""


@applies(SeedRevealed)
def seed_revealed(state: GameState, event: SeedRevealed) -> None:
    state.seed = event.seed


@applies(GameEnded)
def game_ended(state: GameState, event: GameEnded) -> None:
    state.result = event
    state.turn = None
    state.pending_choices = {}


@applies(CommandRefused)
def command_refused(state: GameState, event: CommandRefused) -> None:
    state.refusal_counts[event.seat] = state.refusal_counts.get(event.seat, 0) + 1
