"""What a player gets with its calls, from the state of the game as its seat sees it."""

from __future__ import annotations

from schemas.boards.trains import COLORS
from schemas.field_types import Seat
from services.bots.policies.trains_strategies import Destination, connection_of, destination_of
from services.referee.rules import GameState


def cards_in_hand(state: GameState, seat: Seat) -> list[str]:
    """The seat's cards, as a list of colours."""
    hand = state.seats[seat].hand
    return [color for color in COLORS for _ in range(hand.get(color, 0))]


def offered_destinations(state: GameState, seat: Seat) -> list[Destination]:
    """The destinations that the seat chooses from, in the order of the offer."""
    return [destination_of(state.board, str(ticket)) for ticket in state.seats[seat].offer]


def acquired_connections(state: GameState, seat: Seat) -> list[list[object]]:
    """The seat's connections, each as city, city, colour, length."""
    wanted = sorted(connection_of(state.board, route) for route in state.seats[seat].routes)
    return [[each.a, each.b, each.color, each.length] for each in wanted]


def player_state_json(state: GameState, seat: Seat) -> dict[str, object]:
    """The player state: the seat's own part, and what the others that are still in the game have acquired, in turn
    order after it."""
    seat_state, order = state.seats[seat], state.turn_order
    place = order.index(seat)
    after = [other for other in (*order[place + 1 :], *order[:place]) if other in state.active_seats]
    kept = [list(destination_of(state.board, str(ticket))) for ticket in seat_state.tickets]
    own = {
        "destination1": kept[0],
        "destination2": kept[1],
        "rails": seat_state.cars,
        "cards": {color: seat_state.hand.get(color, 0) for color in COLORS},
        "acquired": acquired_connections(state, seat),
    }
    return {"this": own, "acquired": [acquired_connections(state, other) for other in after]}
