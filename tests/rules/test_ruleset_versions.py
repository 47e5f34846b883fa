"""P4: earlier ruleset versions are kept as values; a game goes on, and is decided again, by the version in its log."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from schemas.commands import CallTime, CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.errors import CorruptDataError
from schemas.events import GameCreated, SeatGone
from services.referee.rules import RULESETS, GameState, UnloggedRejectionError, decide_envelope, evolve
from services.referee.rules.rulesets import RULESET_VERSIONS
from services.referee.rules.rulesets.former import FORMER_VERSIONS
from services.referee.scheduling import BOT_SILENCE_MS, next_wakeup
from tests.rules.given import CREATED_AT_MS, SEED

PLANS = (SeatPlan("bot", "random"), SeatPlan("bot", "random"))
DAY_MS = 86_400_000
every_ruleset = pytest.mark.parametrize("rules", RULESETS)


def create_old(rules: str, version: int) -> tuple[GameState, GameCreated]:
    """A game that was created by this version of the rules."""
    state, envelope = GameState(), CommandEnvelope("create", "old", None, CreateGame(PLANS, rules))
    created, *_ = decide_envelope(
        state, envelope, CREATED_AT_MS, SEED, rulesets={rules: RULESET_VERSIONS[rules, version]}
    )
    assert isinstance(created, GameCreated)
    return state, created


@every_ruleset
def test_P4_every_version_of_a_ruleset_up_to_todays_exists(rules: str) -> None:
    todays = RULESETS[rules]
    assert RULESET_VERSIONS[rules, todays.version] is todays
    assert [version for name, version in RULESET_VERSIONS if name == rules] == [*range(1, todays.version + 1)]
    assert len(RULESET_VERSIONS) == len(FORMER_VERSIONS) + len(RULESETS)


@every_ruleset
def test_P4_the_first_version_differs_only_in_that_moves_have_no_limit(rules: str) -> None:
    old, new = RULESET_VERSIONS[rules, 1].rule_options, RULESET_VERSIONS[rules, 2].rule_options
    differing = {field.name for field in fields(old) if getattr(old, field.name) != getattr(new, field.name)}
    assert differing == {"move_ms"}
    assert (old.move_ms, new.move_ms) == (None, 3 * DAY_MS)


@every_ruleset
def test_P4_the_third_version_differs_in_parts_only(rules: str) -> None:
    old, new = RULESET_VERSIONS[rules, 3], RULESETS[rules]
    differing = {field.name for field in fields(old) if getattr(old, field.name) != getattr(new, field.name)}
    of_all = {"version", "may_flush"}
    assert (
        differing
        == of_all
        | {
            "usa": set(),
            "europe": {"rebuild_deck"},
            "marklin": {"moves"},
            "trains": {"require_board", "return_unchosen", "after_start_choice"},
        }[rules]
    )


@every_ruleset
def test_P4_a_game_is_created_again_by_the_version_that_its_log_names(rules: str) -> None:
    for version, move_ms in ((1, None), (2, 3 * DAY_MS)):
        state, created = create_old(rules, version)
        assert (created.rules, created.parameters.move_ms) == (version, move_ms)
        assert state.ruleset is RULESET_VERSIONS[rules, version]


@every_ruleset
def test_P4_and_goes_on_by_it_whatever_todays_defaults_are(rules: str) -> None:
    state, _ = create_old(rules, 1)
    decide_envelope(state, CommandEnvelope("start", "old", None, StartGame()), CREATED_AT_MS, SEED)
    assert (state.next_deadline() is None) == (state.rule_options.clock_ms is None)
    assert {seat_state.deadline_ms for seat_state in state.seats} <= {None, state.rule_options.clock_ms}


@pytest.mark.parametrize(("rules", "version"), [("usa", 0), ("usa", 99), ("mars", 1)])
def test_P4_an_unknown_ruleset_version_is_an_error_and_not_guessed(rules: str, version: int) -> None:
    _, created = create_old("usa", 2)
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
    state, created = create_old("usa", 2)
    assert (created.created, created.opened, state.at_ms) == (CREATED_AT_MS, CREATED_AT_MS, 0)
