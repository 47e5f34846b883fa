"""The part of a game that all see, as a compact game."""

from __future__ import annotations

from services.bots.searching.compact_game import CLOSED, FREE, NO_CARD, NOT_YET, NOWHERE, CompactGame
from services.bots.searching.compact_rules import KINDS, CompactRules
from services.referee.rules import GameState


def public_part(state: GameState, rules: CompactRules, seed: int = 0) -> CompactGame:
    """The game without hands, tickets and decks. `state` is a seat's view or more."""
    game, city = CompactGame(rules, seed, len(state.seats)), rules.graph.city_index
    _read_routes(game, state)
    for seat, seat_state in enumerate(state.seats):
        game.cars[seat] = seat_state.cars
        game.points[seat] = seat_state.merchandise + sum(
            rules.graph.points[route] for route in game.routes[seat]
        )
        game.passengers_left[seat] = seat_state.passengers_left
        game.stations[seat] = [
            (city[place], NOWHERE if neighbour is None else city[neighbour])
            for place, neighbour in seat_state.stations.items()
        ]
    game.passenger_owners = {city[place]: owner for place, owner in state.passenger_owners.items()}
    game.tokens = {city[place]: stack for place, stack in state.tokens.items()}
    game.market = [NO_CARD if card is None else KINDS.index(card) for card in state.market]
    game.discards = [state.discards.get(kind, 0) for kind in KINDS[: rules.kind_count]]
    game.revealed = [KINDS.index(card) for card in state.tunnel.revealed] if state.tunnel else []
    game.ticket_decks = [[] for _ in state.ticket_decks]
    _read_turns(game, state)
    return game


def _read_routes(game: CompactGame, state: GameState) -> None:
    """Who owns which route, in the order in which each seat got its own, and which are closed (DOUBLE-2)."""
    index = game.rules.graph.route_index
    for seat, seat_state in enumerate(state.seats):
        game.routes[seat] = [index[name] for name in seat_state.routes]
    for name, seat in state.route_owners.items():
        game.owners[index[name]] = seat
    open_routes = {index[name] for names in state.open_routes.values() for name in names}
    for route, owner in enumerate(game.owners):
        if owner == FREE and route not in open_routes:
            game.owners[route] = CLOSED


def _read_turns(game: CompactGame, state: GameState) -> None:
    order = game.rules.order
    game.turn = order[0] if state.turn is None else state.turn
    game.last_turns = len(state.seats_with_last_turn) if state.in_last_turns else NOT_YET
    game.passes = len(state.seats_passed.intersection(order))
