"""The policy greedy: its games end, and it chooses quickly among any number of tickets."""

from __future__ import annotations

from time import thread_time
from typing import Any

import pytest

from schemas.commands import CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.trains.commands import ClaimRoute, KeepTickets
from services.bots.policies import POLICIES, LegalCommands
from services.bots.seat_random import SeatRandom
from services.bots.trains.planning.command_choice import of_type
from services.bots.trains.ticket_paths import shortest_paths, ticket_paths
from services.referee.games import RULESETS, GameState, decide_envelope, legal
from services.referee.games.state import ACTION
from services.referee.games.trains.appliers import close_route, open_route
from services.referee.games.trains.moves.routes import claims_of
from tests.rules.given import CREATED_AT_MS, SEED

MAX_ENTRIES = 2000
FEW_CARDS = {
    "purple": 3, "white": 2, "blue": 6, "yellow": 2, "orange": 3, "red": 4, "green": 4, "black": 3,
    "locomotive": 7,
}  # fmt: skip


def started(rules: str, board: Any, seed: str, options: dict[str, Any]) -> GameState:
    """A game of two greedy seats, dealt."""
    state = GameState()
    create = CreateGame((SeatPlan("bot", "greedy"),) * 2, rules, board, seed, options)
    for command in (create, StartGame()):
        decide_envelope(state, CommandEnvelope("system", "greedy", None, command), CREATED_AT_MS, SEED)
    return state


def test_P10_greedy_seats_do_not_start_and_decline_the_same_tunnels_for_ever() -> None:
    options = {
        "cards": FEW_CARDS,
        "market": 0,
        "flush": {"locomotive": 1},
        "parallel_seats": 1,
        "clock_ms": None,
    }
    state = started("europe", "europe", "0.08841414014895332", options)
    for move in range(MAX_ENTRIES):
        if state.result:
            break
        seat = min(state.pending_choices)
        seat_secret = state.seats[seat].seat_secret
        assert seat_secret is not None
        command = POLICIES["greedy"](state, seat, legal(state, seat), SeatRandom(seat_secret, move))
        decide_envelope(state, CommandEnvelope(f"c{move}", "greedy", seat, command), CREATED_AT_MS, SEED)
    assert state.result and state.result.reason == "last turns"


def test_P8_choosing_among_ten_tickets_on_a_large_board_delays_no_other_game() -> None:
    cities = [f"c{n}" for n in range(300)]
    joined = [(a, b) for step in (1, 7) for a, b in zip(cities, cities[step:], strict=False)]
    board = {
        "format": 1,
        "id": "large",
        "title": "Large",
        "size": [1, 1],
        "cities": [{"id": city, "name": city, "at": [0, 0]} for city in cities],
        "routes": [
            {"id": f"r{n}", "between": [a, b], "length": 3, "color": "gray"}
            for n, (a, b) in enumerate(joined)
        ],
        "tickets": [
            {"id": f"t{n}", "between": [a, b], "points": 9, "deck": "regular"}
            for n, (a, b) in enumerate(zip(cities, cities[250:], strict=False))
        ],
    }
    state = started("usa", board, "large", {"start_tickets": {"regular": 10}, "start_keep": 1})
    commands = legal(state, 0)
    assert len(commands) == 2**10 - 1
    before = thread_time()
    chosen = POLICIES["greedy"](state, 0, commands, SeatRandom(SEED, 0))
    assert thread_time() - before < 0.5
    assert isinstance(chosen, KeepTickets) and chosen.keep


def test_P8_paths_that_are_kept_while_others_claim_are_those_that_a_search_finds() -> None:
    state = started("usa", "usa", "paths", {"parallel_seats": 2})
    compared = 0
    for move in range(MAX_ENTRIES):
        if state.result:
            break
        seat = min(state.pending_choices)
        for each, seat_state in enumerate(state.seats):
            tickets = [state.own.board.tickets[str(name)] for name in seat_state.own.tickets]
            assert ticket_paths(state, each).paths == shortest_paths(state, each, tickets)
            compared += bool(tickets)
        command = POLICIES["greedy"](state, seat, legal(state, seat), SeatRandom("00" * 32, move))
        decide_envelope(state, CommandEnvelope(f"c{move}", "greedy", seat, command), CREATED_AT_MS, SEED)
    assert state.result and compared > move


@pytest.mark.parametrize("ruleset", ["usa", "europe", "marklin"])
def test_P8_what_greedy_asks_for_is_what_it_would_find_in_the_whole_list(ruleset: str) -> None:
    state, compared = started(ruleset, RULESETS[ruleset].default_board, "asked", {"clock_ms": None}), 0
    for move in range(MAX_ENTRIES):
        if state.result:
            break
        seat, seat_random = min(state.pending_choices), SeatRandom("00" * 32, move)
        commands = legal(state, seat)
        needed = ticket_paths(state, seat).needed_by_fare
        if state.pending_choices[seat] == ACTION:
            routes = {name for names in needed.values() for name in names}
            claims = [claim for claim in of_type(commands, ClaimRoute) if claim.route in routes]
            assert [*claims_of(state, seat, needed)] == claims
            compared += len(claims)
        command = POLICIES["greedy"](state, seat, LegalCommands(state, seat), seat_random)
        assert command in commands
        decide_envelope(state, CommandEnvelope(f"c{move}", "greedy", seat, command), CREATED_AT_MS, SEED)
    assert state.result and compared > 20


def test_P8_paths_are_searched_anew_where_a_route_of_theirs_is_gone_or_a_route_is_open_again() -> None:
    state = started("usa", "usa", "paths", {})
    decide_envelope(state, CommandEnvelope("keep", "greedy", 0, KeepTickets((0, 1, 2))), CREATED_AT_MS, SEED)
    before = ticket_paths(state, 0).paths
    lost = state.own.board.routes[before[0].routes[0]]
    close_route(state, lost)
    without = ticket_paths(state, 0).paths
    assert without != before and not any(lost.id in path.routes for path in without)
    open_route(state, lost)
    assert ticket_paths(state, 0).paths[0].cars == before[0].cars
