"""P10: every started game ends even if players stay away: the server calls the time."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from schemas.commands import CallTime, CommandEnvelope, StartGame
from services.referee.games import GameState, decide_envelope
from services.referee.games.play_off import next_game
from services.referee.games.trains import board as boards
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.rules.given import CREATED_AT_MS, SEED
from tests.rules.random_games import HABITS, RandomGame, random_board, random_position
from tests.rules.series import start_next_game
from tests.rules.test_properties import EVERY_BOARD, EVERY_RULESET, EVERY_TRAIN_RULESET

LIMITS: list[dict[str, Any]] = [
    {},
    {"clock_ms": 60_000, "move_ms": None},
    {"clock_ms": 60_000, "move_ms": 25_000},
]
every_limit = pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: " ".join(limits) or "as usual")


def abandon(state: GameState) -> int:
    """No seat sends anything; the server calls the time when it is over. Returns how many entries that took."""
    entries, end = 0, time_that_is_left(state)
    while not state.result:
        deadline = state.next_deadline()
        assert deadline is not None, "the table waits for ever"
        at, playing = max(state.at_ms, deadline[0]), len(state.active_seats)
        assert at <= end
        envelope = CommandEnvelope(f"clock:{entries}", state.game, None, CallTime(deadline[1]))
        decide_envelope(state, envelope, state.opened_at_ms + at, SEED)
        assert len(state.active_seats) == playing - 1, "each time that is called is one seat's last"
        entries += 1
    return entries


def time_that_is_left(state: GameState) -> int:
    """No game lasts longer than this if everybody is away: each seat's clock, or a move of each."""
    rule_options, seats = state.rule_options, len(state.seats)
    latest: int = state.at_ms + seats * min(
        limit for limit in (rule_options.clock_ms, rule_options.move_ms) if limit
    )
    return latest


@every_limit
@pytest.mark.parametrize(
    ("board", "seats"),
    [
        pytest.param(board, seats, marks=pytest.mark.long if place % 4 else ())
        for place, (board, seats) in enumerate(EVERY_BOARD)
    ],
)
def test_P10_a_game_that_everybody_abandons_ends(board: str, seats: int, limits: dict[str, Any]) -> None:
    rng = Random(f"{board} {seats} {limits}")
    for steps in (0, rng.randrange(90)):
        options = {**limits, "strict": rng.random() < 0.5}
        play = RandomGame(rng, board, seats, habit=rng.choice([*HABITS]), options=options)
        for number in play.steps():
            if number >= steps:
                break
        assert abandon(play.state) <= seats


@EVERY_TRAIN_RULESET
def test_P10_an_abandoned_game_from_a_position_ends(rules: str) -> None:
    rng = Random(rules)
    board = TRAIN_RULESETS[rules].default_board
    seats = TRAIN_RULESETS[rules].rule_options.seats_least
    for _ in range(3):
        play = RandomGame(rng, board, seats, create_fields={"position": random_position(rng, board, seats)})
        assert abandon(play.state) <= seats


@every_limit
@EVERY_RULESET
def test_P10_a_game_of_any_rules_that_everybody_abandons_ends(rules: str, limits: dict[str, Any]) -> None:
    rng = Random(f"{rules} {limits}")
    for steps in (0, 20):
        board, seats, create_fields = random_board(rng, rules)
        options = {**limits, "strict": rng.random() < 0.5}
        play = RandomGame(rng, board, seats, options=options, create_fields=create_fields)
        for number in play.steps():
            if number >= steps:
                break
        assert abandon(play.state) <= seats


@every_limit
def test_P10_a_play_off_that_nobody_joins_ends(limits: dict[str, Any]) -> None:
    level = {
        "start_keep": 0,
        "start_tickets": {"regular": 1, "long": 0},
    }  # nobody keeps any: all have as much
    state, played = RandomGame(Random(1), "europe", 3, options={**limits, **level}).state, 0
    abandon(state)
    while next_game(state) is not None:
        state, _ = start_next_game(state)
        decide_envelope(
            state, CommandEnvelope("start", state.game, None, StartGame()), state.opened_at_ms, SEED
        )
        assert abandon(state) <= 3
        played += 1
    assert played == state.rule_options.play_off == 5


@pytest.mark.parametrize("board", boards.board_names())
def test_P10_no_built_in_board_has_options_under_which_a_game_may_last_for_ever(board: str) -> None:
    play = RandomGame(
        Random(2), board, TRAIN_RULESETS[boards.load_board(board).default_ruleset].rule_options.seats_least
    )
    assert play.state.next_deadline() is not None
    assert play.state.opened_at_ms == CREATED_AT_MS


def test_P10_only_a_game_created_without_any_limit_may_last_for_ever() -> None:
    assert RandomGame(Random(3), "usa", 2, options={"move_ms": None}).state.next_deadline() is None
    assert RandomGame(Random(3), "europe", 2, options={"move_ms": None}).state.next_deadline() is not None
