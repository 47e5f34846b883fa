"""Each kind of bug, planted, is found within few games, and cut down to what shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from schemas.events import Event
from schemas.field_types import Seat
from schemas.trains.events import CardDrawn, DeckLaid, RouteClaimed
from services.fuzz import Arena, BatchResult, Quota, search_batch
from services.referee.games.appliers import APPLIERS
from services.referee.games.state import GameState, Ruleset
from services.referee.games.trains.determinization import ViewerKnowledge
from services.referee.games.trains.rulesets import USA
from services.referee.games.trains.setup import fork
from services.referee.games.views import REDACTORS
from tests.fuzz.planted_rules import RULESETS, standing_in

pytestmark = pytest.mark.long

ARENA = Arena("usa", "usa", max_entries=800)
ENOUGH = Quota(games=40)
FEW_STEPS = 12
MOST_STEPS = {"endless": ARENA.max_entries + 1, "lost state": 400}  # a fork is wrong after a whole game only


def search(ruleset: Ruleset = USA) -> BatchResult:
    """The finding of the arena's games, played by these rules in place of the usual ones."""
    with standing_in(ruleset):
        return search_batch(ARENA, "planted", ENOUGH)


def assert_found(result: BatchResult, kinds: str) -> None:
    assert result.found is not None, f"{result.games} games show nothing"
    kind = result.found.finding.kind
    assert kind in kinds, result.found.finding
    assert len(result.found.log) == len(result.found.steps) <= MOST_STEPS.get(kind, FEW_STEPS)


WHERE: Mapping[str, str] = {  # a finding says that it lies
    "a move that breaks": "decide raises KeyError in planted_rules.draw_that_breaks",
    "a choice without a command": "is asked for its tickets, and has no legal command",
    "a turn without an effect": "where every seat always sends draw_blind if it may",
}
TWICE = "a choice without a command"  # is searched for


@pytest.mark.parametrize("planted", RULESETS)
def test_a_bug_of_a_ruleset_is_found_and_cut_down(planted: str) -> None:
    kinds, ruleset = RULESETS[planted]
    result = search(ruleset)
    assert_found(result, kinds)
    assert result.found is not None
    assert result.found.finding.why.endswith(WHERE.get(planted, ""))
    if planted == TWICE:
        again = search(ruleset)
        assert (result.games, result.found) == (again.games, again.found), "another finding of the same seed"


def test_each_place_is_of_what_is_planted() -> None:
    assert {*WHERE, TWICE} <= {*RULESETS}


# -- bugs of the core ---------------------------------------------------------------------------


@pytest.mark.pure_python
def test_an_event_that_is_shown_to_others_whole_is_a_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    redactor = REDACTORS[CardDrawn]
    assert redactor is not None
    shown_whole = redactor._replace(redact_row=lambda row: row)
    monkeypatch.setitem(REDACTORS, CardDrawn, shown_whole)
    result = search()
    assert_found(result, "leak")
    assert result.found is not None
    assert result.found.finding.why.endswith("is shown card of card_drawn, which is hidden from it")


@pytest.mark.pure_python
def test_a_fold_of_hidden_cards_that_goes_wrong_is_a_wrong_view(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = APPLIERS[CardDrawn]

    def skip_hidden(state: GameState, event: CardDrawn) -> None:
        if event.card is not None:
            sound(state, event)

    monkeypatch.setitem(APPLIERS, CardDrawn, skip_hidden)
    assert_found(search(), "wrong view")


@pytest.mark.pure_python
def test_a_copy_that_forgets_something_is_a_lost_state(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = GameState.copy

    def forgetful(self: GameState) -> GameState:
        copy = sound(self)
        copy.own.seats_with_last_turn = set(copy.turn_order)
        return copy

    monkeypatch.setattr(GameState, "copy", forgetful)
    assert_found(search(), "lost state")


@pytest.mark.pure_python
def test_a_fork_that_deals_other_cards_is_a_lost_state(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = fork.state_as_events

    def upside_down(state: GameState, knowledge: Mapping[Seat | None, ViewerKnowledge]) -> Iterator[Event]:
        for event in sound(state, knowledge):
            yield DeckLaid(event.order[::-1]) if isinstance(event, DeckLaid) else event

    monkeypatch.setattr(fork, "state_as_events", upside_down)
    assert_found(search(), "lost state")


@pytest.mark.pure_python
def test_an_applier_that_counts_how_often_it_runs_is_another_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    sound: Callable[[GameState, RouteClaimed], None] = APPLIERS[RouteClaimed]
    runs = iter(range(10**9))

    def counting(state: GameState, event: RouteClaimed) -> None:
        sound(state, event)
        state.created_at_ms = next(runs)

    monkeypatch.setitem(APPLIERS, RouteClaimed, counting)
    result = search()
    assert result.found is not None
    assert result.found.finding.kind in {"other replay", "wrong view", "lost state"}
