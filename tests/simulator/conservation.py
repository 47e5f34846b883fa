"""Cards, tickets, cars and all other pieces of a game: none appears, none is lost.

Of any game, each card leaves the pile in which a shuffle laid it, once; the pieces of train games are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from schemas.field_types import Seat
from services.referee.games import GameState, fold_events
from services.referee.games.proof.pile_tracker import CardSlot, PileTracker
from services.referee.games.trains.train_state import TrainState
from tests.rules.random_games import RandomGame
from tests.rules.test_properties import cards_of, count_pieces, tickets_of, tokens_of
from tests.simulator.recorder import Record

CHECK_EVERY = 40


@dataclass
class Tally:
    """What left a game, counted as the rules' own tests count it."""

    state: GameState = field(default_factory=GameState)
    removed_cards: Counter[str] = field(default_factory=Counter)
    removed_tickets: Counter[str] = field(default_factory=Counter)
    removed_token_points: int = 0
    journeys_made: Counter[Seat] = field(default_factory=Counter)


def conserved(record: Record) -> Iterator[str]:
    """Fold the log once more, counting."""
    tally: Any = Tally()
    total: object = None
    piles, lying = PileTracker(), dict[CardSlot, str | None]()
    for number, entry in enumerate(record.entries, 1):
        before = [seat.copy() for seat in tally.state.seats]
        is_of_trains = number > 1 and isinstance(tally.state.own, TrainState)
        if is_of_trains:
            RandomGame.count_removed(tally, before, entry.events)
        fold_events(tally.state, entry.at, entry.events)
        for moved in filter(None, map(piles.apply, entry.events)):
            lying.update(zip(moved.added, moved.names if moved.added else (), strict=True))
            if [lying.pop(slot, None) for slot in moved.removed] != [*moved.names][: len(moved.removed)]:
                yield f"{record.game}: a card left a pile at entry {number}, and another one lay there"
        if (
            not is_of_trains
            or not tally.state.started
            or not (number % CHECK_EVERY == 0 or tally.state.result)
        ):
            continue
        now = (cards_of(tally), tickets_of(tally), tokens_of(tally))
        if total not in (None, now):
            yield f"{record.game}: something appeared or was lost before entry {number}"
        total = now
        try:
            count_pieces(tally)
        except AssertionError as error:
            yield f"{record.game}: at entry {number} the pieces don't add up: {error}"
    if tally.state.result and tally.state.result.scores != tally.state.ruleset.score(tally.state):
        yield f"{record.game}: the score isn't that of the state"
