"""GAME-6: a game that would be too expensive for its referee is refused when it is created."""

from __future__ import annotations

from itertools import combinations
from time import process_time
from typing import Any

import pytest

from schemas.commands import CommandEnvelope, CreateGame, SeatPlan
from schemas.refusals import CommandRefusedError
from schemas.trains.positions import Position
from services.referee.games import GameState, UnloggedRejectionError, decide_envelope
from services.referee.games.trains.board import board_names, load_board
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.referee.games.trains.search.passenger_journeys import JourneyEdge, best_journeys
from services.referee.games.trains.setup.validation import require_within_limits
from tests.rules.given import CREATED_AT_MS, SEED


def a_board(cities: int, joined: list[tuple[int, int]], length: int = 1) -> dict[str, Any]:
    """A board of so many cities with a gray route for every pair that is named."""
    return {
        "format": 1,
        "id": "made",
        "title": "Made",
        "size": [1, 1],
        "cities": [{"id": f"c{n}", "name": f"c{n}", "at": [0, 0]} for n in range(cities)],
        "routes": [
            {"id": f"r{n}", "between": [f"c{a}", f"c{b}"], "length": length, "color": "gray"}
            for n, (a, b) in enumerate(joined)
        ],
        "tickets": [],
    }


def row(cities: int) -> list[tuple[int, int]]:
    return [(n, n + 1) for n in range(cities - 1)]


def refusal_reason(rules: str, board: dict[str, Any], options: dict[str, Any]) -> str:
    """The reason why the game can't be created; empty if it can."""
    command = CreateGame((SeatPlan(),) * 2, rules, board, options=options, position=Position())
    try:
        decide_envelope(GameState(), CommandEnvelope("one", "the-game", None, command), CREATED_AT_MS, SEED)
    except UnloggedRejectionError as refusal:
        assert refusal.rule == "GAME-6"
        return refusal.reason
    return ""


STAR = [(0, n) for n in range(1, 66)]
WEB = list(combinations(range(30), 2))


@pytest.mark.parametrize(
    ("option", "rules", "within", "beyond", "options"),
    [
        ("cars", "usa", a_board(60, row(53)), a_board(60, row(60)), {"cars": 60}),
        ("cards", "usa", a_board(30, WEB, 5), a_board(30, 2 * WEB, 20), {"route_points": [1] * 20}),
        ("station_costs", "europe", a_board(40, row(40)), a_board(30, WEB), {"station_costs": [1] * 4}),
        ("passengers", "marklin", a_board(70, STAR[:12]), a_board(70, STAR[:13]), {"passengers": 5}),
        ("pair_tickets", "usa", a_board(300, row(100)), a_board(300, row(101)), {"pair_tickets": 1}),
    ],
)
def test_GAME_6_a_board_too_large_for_an_option_is_refused_in_its_name(
    option: str, rules: str, within: dict[str, Any], beyond: dict[str, Any], options: dict[str, Any]
) -> None:
    assert refusal_reason(rules, within, options) == ""
    assert refusal_reason(rules, beyond, options).startswith(f"options.{option}: up to ")


@pytest.mark.parametrize("board", board_names())
def test_GAME_6_every_built_in_board_is_within_all_limits_of_its_rules(board: str) -> None:
    loaded = load_board(board)
    try:
        require_within_limits(TRAIN_RULESETS[loaded.default_ruleset].rule_options, loaded)
    except CommandRefusedError as refusal:
        pytest.fail(refusal.reason)


@pytest.mark.long
def test_PASSENGER_2_a_hand_full_of_passenger_cards_makes_no_journey_longer_to_find() -> None:
    pairs = [(a, b) for a, b in combinations(range(40), 2) if (a * 7 + b * 5) % 3]
    ways = [JourneyEdge(f"{a}-{b}", f"c{a}", f"c{b}", int((a + b) % 5 > 0)) for a, b in pairs]
    tokens = {f"c{n}": 1 + n % 7 for n in range(40)}

    def took(cards: int) -> float:
        before = process_time()
        best_journeys("c0", ways, tokens, cards)
        return process_time() - before

    assert min(took(250) for _ in range(3)) < 3 * max(took(8) for _ in range(3))


def test_GAME_6_an_inline_board_leaves_room_for_the_play_off_that_may_follow() -> None:
    board = a_board(500, row(500))
    board["tickets"] = [
        {"id": f"c{n}:c{n + 1}:{'x' * 60}", "between": [f"c{n}", f"c{n + 1}"], "points": 1, "deck": "regular"}
        for n in range(400)
    ]
    options = {"station_costs": [1], "pair_tickets": None, "cars": 45}
    assert refusal_reason("europe", board, options).startswith("board: has ")
    assert refusal_reason("europe", board, {**options, "play_off": 0}) == ""
    board["tickets"] = board["tickets"][:20]
    assert refusal_reason("europe", board, options) == ""


@pytest.mark.parametrize("phase", ["start", "draw"])
def test_GAME_6_so_many_decks_that_naming_a_mix_takes_for_ever_are_refused(phase: str) -> None:
    decks = {f"deck{n}": 1 for n in range(12)}
    reason = refusal_reason("marklin", a_board(10, row(10)), {f"{phase}_tickets": decks})
    assert reason.startswith(f"options.{phase}_tickets: up to 1365 mixes to name")
