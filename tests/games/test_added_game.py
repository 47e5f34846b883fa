"""The gates take a game of another package, which brings nothing for them but its rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from types import ModuleType
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from schemas.contract import Schema, contract
from schemas.events import Event
from schemas.field_types import Int, Seat
from schemas.game_options import GameOptions
from schemas.stored.codec import unpack_entry
from services.referee.games import RULESETS, fold, legal, views
from services.tables.built_in_catalog import BuiltInCatalog
from services.verification.audit import audit
from services.verification.replay import Replay
from tests.games.added_package import BIDS, added_package
from tests.golden.features import features
from tests.golden.record import Recorder
from tests.golden.scenarios import of_any_game
from tests.golden.wanted_features import wanted_of_any
from tests.rules.given import full_state
from tests.rules.random_games import RandomGame, draw_game
from tests.rules.sealed_games import fixed_games, verify_all
from tests.rules.test_legal_moves import check_idle, check_legal
from tests.rules.test_properties import REPEATABLE, assert_view_matches
from tests.secrecy.gate import LeakError, run_gate
from tests.secrecy.test_environment import compared_with_twins
from tests.simulator.plan import draw, game_of
from tests.simulator.simulate import simulate

RULES = "bids"


@pytest.fixture(scope="module", autouse=True)
def bids() -> Iterator[ModuleType]:
    with added_package(BIDS, "ledgerline_bids", "BIDS") as package:
        yield package


def test_P5_what_a_viewer_receives_does_not_depend_on_what_it_may_not_know() -> None:
    gate = run_gate(RULES, 100)
    assert gate.tried > 3 * gate.positions
    assert gate.twins > gate.positions / 10


def test_P5_an_agent_sees_nothing_that_depends_on_what_its_seat_may_not_know() -> None:
    assert sum(compared_with_twins(RULES, seed) for seed in range(2)) > 2


def test_an_environment_that_shows_a_bid_before_both_are_laid_is_caught(
    monkeypatch: pytest.MonkeyPatch, bids: ModuleType
) -> None:
    def leaky(viewer: Seat | None, event: Event) -> Event | None:
        return event if isinstance(event, bids.BidLaid) else views.redact_for(viewer, event)

    monkeypatch.setattr("services.tournament.viewed_game.redact_for", leaky)
    with pytest.raises(AssertionError, match="can distinguish"):
        for seed in range(10):
            compared_with_twins(RULES, seed)


@pytest.mark.pure_python
def test_a_bid_that_all_see_is_caught(monkeypatch: pytest.MonkeyPatch, bids: ModuleType) -> None:
    monkeypatch.setitem(views.REDACTORS, bids.BidLaid, None)
    with pytest.raises(LeakError):
        run_gate(RULES, 400)


def test_P6_every_viewer_verifies_its_games() -> None:
    for game in fixed_games(RULES):
        for viewer in game.viewers():
            assert verify_all(viewer, game.view_entries(viewer)).head == game.sealed[-1].head


@pytest.mark.long
def test_its_games_end_fold_and_are_seen_as_they_are_and_what_is_legal_is_what_is_accepted() -> None:
    @REPEATABLE
    @given(st.composite(draw_game)(RULES))
    def holds(play: RandomGame) -> None:
        for _ in play.steps():
            for seat in range(play.seats):
                (check_legal if seat in play.state.pending_choices else check_idle)(play, seat)
                assert legal(play.views[seat], seat) == legal(play.state, seat)
            for viewer, view in play.views.items():
                assert_view_matches(viewer, view, play.state)
        assert full_state(fold(play.log)) == full_state(play.state)
        assert play.state.result and play.state.result.scores == play.state.ruleset.score(play.state)

    holds()


def test_P4_its_golden_games_have_what_those_of_any_game_have_and_are_decided_again() -> None:
    seen = Counter[str]()
    for name, scenario in of_any_game(RULESETS[RULES]).items():
        recorder = Recorder(name, scenario)
        recorder.play()
        seen += features([unpack_entry(data) for data in recorder.log])
        assert audit(Replay(name, recorder.log)).ok, name
    assert {*wanted_of_any(RULESETS[RULES]), "refused by BID-1"} - seen.keys() == set()


def test_P1_to_P10_hold_in_its_games_under_faults() -> None:
    drawn = draw(3)
    games = tuple(game_of(RULES, Random(index)) for index in range(len(drawn.games)))
    outcome = simulate(3, plan=replace(drawn, games=games))
    assert not outcome.complaints, outcome.summary()


@contract()
class ShortBids(GameOptions):
    prizes: Annotated[Int, Field(ge=1, le=13, description="Prizes that are played for.")] = 13


def test_its_options_are_listed_with_their_meaning(bids: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    # given a game with an option of its own
    schema: Schema[ShortBids] = Schema(ShortBids, "options")
    ruleset = replace(bids.BIDS.rulesets[0], rule_options=ShortBids(), options_schema=schema)
    monkeypatch.setitem(RULESETS, RULES, ruleset)
    # when the lobby asks for what may be chosen
    (listed,) = [each for each in BuiltInCatalog().rulesets() if each.name == RULES]
    # then each option says what it means, where it is declared
    meanings = {option.name: option.meaning for option in listed.options}
    assert meanings["prizes"] == "Prizes that are played for."
    assert meanings["seats_most"] == "The most seats that a table may have."
    assert all(meanings.values())
