"""In a game without a board, too, each kind of bug, planted, is found and cut down."""

from __future__ import annotations

import pytest

from schemas.events import HandDealt
from schemas.field_types import HIDDEN
from services.fuzz import Arena, BatchResult, Quota, search_batch
from services.referee.games import GameState
from services.referee.games.appliers import APPLIERS
from services.referee.games.state import Ruleset
from services.referee.games.tricks import CardPlayed
from services.referee.games.views import REDACTORS
from tests.fuzz.planted_rules import standing_in
from tests.fuzz.planted_tricks import PLANTED, SOUND

ARENA = Arena("tricks", max_entries=300)
FEW_STEPS = 8
MOST_STEPS = {"endless": ARENA.max_entries + 1}


def search(ruleset: Ruleset = SOUND) -> BatchResult:
    with standing_in(ruleset):
        return search_batch(ARENA, "planted", Quota(games=20))


def assert_found(result: BatchResult, kinds: str) -> None:
    assert result.found is not None, f"{result.games} games show nothing"
    kind = result.found.finding.kind
    assert kind in kinds, result.found.finding
    assert len(result.found.steps) <= MOST_STEPS.get(kind, FEW_STEPS)


@pytest.mark.long
@pytest.mark.parametrize("planted", PLANTED)
def test_a_bug_of_a_card_game_is_found_and_cut_down(planted: str) -> None:
    kind, ruleset = PLANTED[planted]
    assert_found(search(ruleset), kind)


@pytest.mark.pure_python
def test_a_hand_that_is_shown_whole_is_a_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    redactor = REDACTORS[HandDealt]
    assert redactor is not None
    monkeypatch.setitem(REDACTORS, HandDealt, redactor._replace(redact_row=lambda row: row))
    result = search()
    assert_found(result, "leak")
    assert result.found is not None
    assert result.found.finding.why.endswith("is shown cards of hand_dealt, which is hidden from it")


@pytest.mark.pure_python
def test_a_card_that_stays_in_a_hidden_hand_is_a_wrong_view(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = APPLIERS[CardPlayed]

    def stays_hidden(state: GameState, event: CardPlayed) -> None:
        sound(state, event)
        if HIDDEN in state.seats[event.seat].own.cards:
            state.seats[event.seat].own.cards.append(HIDDEN)

    monkeypatch.setitem(APPLIERS, CardPlayed, stays_hidden)
    assert_found(search(), "wrong view")
