"""The exact searches on the fullest boards that random games leave: the longest trail and path,
the stations' best loans, a passenger's best journeys."""

from __future__ import annotations

from collections.abc import Callable
from heapq import nlargest
from typing import Final

from services.referee.games import GameState
from services.referee.games.trains.moves.passengers import move_offers
from services.referee.games.trains.scoring import choose_loans, longest_route
from tests.bench.figure import Figure, Part, Report, Size, seconds
from tests.bench.rulesets import playout

GOAL_MS: Final = 20
FULLEST: Final = 20  # boards of each ruleset, on which every seat's search is timed


def measure(size: Size, report: Report) -> Figure:
    games = size.of(1000, 3)
    europe = fullest("europe", 5, games, report)
    boards = {
        "longest trail": (europe, trail),
        "station resolution": (europe, loans),
        "longest path": (fullest("trains", 8, size.of(200, 2), report), trail),
        "best journeys": (fullest("marklin", 5, size.of(200, 2), report), journeys),
    }
    parts: dict[str, Part] = {"games": games}
    for name, (states, search) in boards.items():
        times = [1000 * slowest(search, state) for state in states]
        parts[f"{name}, fullest board, ms"] = times[0]
        parts[f"{name}, slowest of the {len(times)} fullest, ms"] = max(times)
    worst = {name: float(str(parts[f"{name}, fullest board, ms"])) for name in boards}
    return Figure(
        f"exact searches on the fullest board of {games:,} random games, the slowest seat's",
        ", ".join(f"{name} {ms:.2f} ms" for name, ms in worst.items()),
        f"trail and stations under {GOAL_MS} ms each",
        worst["longest trail"] < GOAL_MS and worst["station resolution"] < GOAL_MS,
        parts,
    )


def fullest(rules: str, seats: int, games: int, report: Report) -> list[GameState]:
    """The ends of random games with the most routes claimed, the fullest first."""
    states = []
    for number in range(games):
        report(f"{rules} {number} of {games}")
        states.append(playout(rules, seats, f"search {number}")[0])
    return nlargest(FULLEST, states, key=lambda state: len(state.own.route_owners))


def slowest(search: Callable[[GameState, int], object], state: GameState) -> float:
    """Seconds of the slowest seat's search."""
    return max(seconds(lambda seat=seat: search(state, seat)) for seat in range(len(state.seats)))  # type: ignore[misc]  # the default binds the seat


def trail(state: GameState, seat: int) -> object:
    return longest_route(state, state.seats[seat].own.routes)


def loans(state: GameState, seat: int) -> object:
    """With all its stations, wherever the seat built fewer."""
    seat_state = state.seats[seat].copy()
    free = (city for city in state.own.board.cities if city not in state.own.station_owners)
    while len(seat_state.own.stations) < len(state.rule_options.station_costs):
        seat_state.own.stations[next(free)] = None
    other = state.copy()
    other.seats[seat] = seat_state
    return choose_loans(other, seat, [other.own.board.tickets[str(name)] for name in seat_state.own.tickets])


def journeys(state: GameState, seat: int) -> object:
    """With a passenger in the city of the seat's first route, and all passenger cards in hand."""
    other = state.copy()
    seat_state = other.seats[seat]
    seat_state.own.hand["passenger"] = 10
    if seat_state.own.routes:
        other.own.passenger_owners[other.own.board.routes[seat_state.own.routes[0]].a] = seat
    return move_offers(other, seat)
