"""P4: earlier ruleset versions are kept as values; a game goes on, and is decided again, by the version in its log."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schemas.commands import CallTime, CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.errors import CorruptDataError
from schemas.events import GameCreated, SeatGone
from services.referee.decision_building import BOT_SILENCE_MS, next_wakeup
from services.referee.games import RULESETS, GameState, UnloggedRejectionError, decide_envelope, evolve
from services.referee.games.found_games import RULESET_VERSIONS
from tests.rules.given import CREATED_AT_MS, SEED
from tests.rules.next_version import next_version

PLANS = (SeatPlan("bot", "random"), SeatPlan("bot", "random"))
DAY_MS = 86_400_000


def create(rules: str) -> tuple[GameState, GameCreated]:
    """A game that was created by the first version of these rules."""
    plans = (SeatPlan("bot", "random"),) * RULESETS[rules].rule_options.seats_least
    state, envelope = GameState(), CommandEnvelope("create", "old", None, CreateGame(plans, rules))
    created, *_ = decide_envelope(state, envelope, CREATED_AT_MS, SEED)
    assert isinstance(created, GameCreated)
    return state, created


@pytest.mark.parametrize("rules", RULESETS)
def test_P4_every_version_of_a_ruleset_up_to_todays_exists(rules: str) -> None:
    todays = RULESETS[rules]
    assert RULESET_VERSIONS[rules, todays.version] is todays
    assert [version for name, version in RULESET_VERSIONS if name == rules] == [*range(1, todays.version + 1)]


@pytest.mark.parametrize("rules", RULESETS)
def test_P4_a_game_goes_on_by_the_version_in_its_log_whatever_todays_is(
    rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, created = create(rules)
    first, second = next_version(rules, monkeypatch)
    again = GameState()
    evolve(again, created)
    assert (created.rules, again.ruleset) == (1, first)
    decide_envelope(state, CommandEnvelope("start", "old", None, StartGame()), CREATED_AT_MS, SEED)
    assert {seat_state.deadline_ms for seat_state in state.seats} <= {
        None,
        *(limit for limit in (first.rule_options.move_ms, first.rule_options.clock_ms) if limit),
    }
    state, created = create(rules)
    assert (created.rules, state.ruleset, created.parameters["move_ms"]) == (2, second, 1)


@pytest.mark.parametrize(("rules", "version"), [("usa", 0), ("usa", 99), ("mars", 1)])
def test_P4_an_unknown_ruleset_version_is_an_error_and_not_guessed(rules: str, version: int) -> None:
    _, created = create("usa")
    unknown = replace(created, ruleset=rules, rules=version)
    with pytest.raises(CorruptDataError, match=f"version {version} of the rules {rules}"):
        evolve(GameState(), unknown)


# -- two times -------------------------------------------------------------------------------


def test_P4_entries_count_by_the_game_clock_and_the_wall_clock_is_only_recorded() -> None:
    for wall in (0, 1_790_000_000_000):
        state = GameState()
        decide_envelope(
            state,
            CommandEnvelope("create", "g", None, CreateGame(PLANS, "usa")),
            5_000,
            SEED,
            created_at_ms=wall,
        )
        decide_envelope(
            state,
            CommandEnvelope("start", "g", None, StartGame()),
            5_250,
            SEED,
            created_at_ms=wall - 3_600_000,
        )
        assert (state.opened_at_ms, state.created_at_ms, state.at_ms) == (5_000, wall, 250)
        assert state.next_deadline() == (250 + 3 * DAY_MS, 0)
        assert next_wakeup(state) == 5_250 + BOT_SILENCE_MS  # until then its bots are to move


def test_CLOCK_2_a_flood_of_refusals_is_decided_by_the_game_clock_too() -> None:
    state, options = GameState(), {"refusals_kept": 1, "move_ms": 1000}
    create = CreateGame(PLANS, "usa", options=options)
    decide_envelope(
        state, CommandEnvelope("create", "g", None, create), 5_000, SEED, created_at_ms=CREATED_AT_MS
    )
    for command, now in ((StartGame(), 5_000), (CallTime(0), 5_999)):
        decide_envelope(state, CommandEnvelope("said", "g", None, command), now, SEED)
    assert sum(state.refusal_counts.values()) == state.rule_options.refusals_kept
    with pytest.raises(UnloggedRejectionError, match="RATE-1"):
        decide_envelope(state, CommandEnvelope("again", "g", None, CallTime(0)), 5_999, SEED)
    (gone, *_) = decide_envelope(state, CommandEnvelope("late", "g", None, CallTime(0)), 6_000, SEED)[1:]
    assert gone == SeatGone(0, "out of time")


def test_P4_a_caller_that_gives_one_time_has_given_both() -> None:
    state, created = create("usa")
    assert (created.created, created.opened, state.at_ms) == (CREATED_AT_MS, CREATED_AT_MS, 0)
