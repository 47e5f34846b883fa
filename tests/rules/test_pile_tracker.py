"""Every card that leaves a hidden pile is the one that was committed to in its slot."""

from __future__ import annotations

import pytest

from schemas.events import DeckShuffled, HandDealt
from schemas.trains.events import TicketsReturned, TicketsShuffled
from services.referee.games import RULESETS, redact_for
from services.referee.games.proof.pile_tracker import FIRST_RETURNED_EPOCH, CardSlot, PileTracker
from services.referee.games.trains.train_state import TrainState
from tests.rules.sealed_games import fixed_games


@pytest.mark.parametrize("rules", RULESETS)
def test_every_card_that_leaves_a_pile_is_the_one_committed_to_in_that_slot(rules: str) -> None:
    moves = 0
    for game in fixed_games(rules, steps_most=400):
        piles, lies = PileTracker(), dict[CardSlot, str | None]()
        for event in (event for entry in game.entries for event in entry.events):
            if (moved := piles.apply(event)) is None:
                continue
            assert not lies.keys() & set(moved.added), "a place is given once"
            lies.update(zip(moved.added, moved.names if moved.added else (), strict=True))
            names = [lies.pop(place) for place in moved.removed]
            assert not moved.removed or names == [*moved.names]
            moves += len(names)
        assert len(game.state.own.deck) == sum(end - first for _, first, end in piles.runs.get("", ()))
        is_of_trains = isinstance(game.state.own, TrainState)
        for deck, row in game.state.own.ticket_decks.items() if is_of_trains else ():
            assert len(row) == sum(end - first for _, first, end in piles.runs[deck])
    assert moves > 100


@pytest.mark.parametrize("rules", RULESETS)
def test_a_viewer_tracks_the_same_slots_as_the_referee(rules: str) -> None:
    for game in fixed_games(rules):
        referees, viewers = PileTracker(), PileTracker()
        for event in (event for entry in game.entries for event in entry.events):
            shown = redact_for(None, event)
            assert shown is None or (viewers.apply(shown) is None) == (referees.apply(event) is None)
        assert viewers.to_state() == referees.to_state()


def test_a_reshuffle_goes_under_what_is_left_and_tickets_go_where_start_return_says() -> None:
    piles = PileTracker()
    piles.apply(DeckShuffled(("red",) * 3, ""))
    piles.apply(TicketsShuffled("all", ("a", "b"), ""))
    piles.apply(DeckShuffled(("blue",) * 3, ""))
    dealt = piles.apply(HandDealt(0, ("red", "red", "red", "blue")))
    assert dealt and dealt.removed == [(0, 0), (0, 1), (0, 2), (2, 0)]
    piles.apply(TicketsReturned(0, "all", "bottom", ("c",)))
    piles.apply(TicketsReturned(0, "all", "top", ("d",)))
    assert piles.apply(TicketsReturned(0, "all", "out", ("e",))) is None
    assert piles.take("all", 4) == [(FIRST_RETURNED_EPOCH + 1, 0), (1, 0), (1, 1), (FIRST_RETURNED_EPOCH, 0)]


def test_piles_restored_from_a_snapshot_go_on_as_they_were() -> None:
    piles = PileTracker()
    piles.apply(DeckShuffled(("red",) * 3, ""))
    again = PileTracker.from_state(piles.to_state())
    assert again.take("", 2) == [(0, 0), (0, 1)]
