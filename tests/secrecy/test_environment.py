"""Non-interference of the PettingZoo environment (P5): what an agent sees and may do never depends on what is hidden from it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from schemas.commands import Command, CommandEnvelope
from schemas.events import Event
from schemas.field_types import Seat
from schemas.trains.events import CardDrawn
from services.referee.games import RULESETS, GameState, legal, redact_for
from services.referee.games.trains.determinization import ViewerKnowledge
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.research.parts_form import CandidateActions, forms_of, make_action_form
from services.tournament.viewed_game import GAME_ID, GameSetting, ViewedGame
from tests.long_runs import long_after
from tests.secrecy import any_game
from tests.secrecy.gate import hidden_state
from tests.secrecy.twins import AnyFuture, Knowledge, future, lookalike, twin

AHEAD = 5  # commands for which a twin follows the game
ONE = 1  # of which any game's may be another that looks the same


class WatchedGame(ViewedGame):
    """A game whose events are noted, each by what they follow from."""

    def __init__(self, setting: GameSetting, seats: int, seed: str) -> None:
        self.events: list[Event] = []
        super().__init__(setting, ("random",) * seats, seed)

    def _show(self, events: Sequence[Event]) -> None:
        self.events += events
        super()._show(events)

    def branched(self, state: GameState) -> WatchedGame:
        """The same game so far to every viewer, on this state."""
        other = WatchedGame.__new__(WatchedGame)
        other.state, other.events = state, []
        other._views = [self.view(seat).copy() for seat in range(len(self._views))]
        other._unseen = [[] for _ in self._views]
        return other


class Step(NamedTuple):
    """A command of the game, its events, and what the viewer's agent has afterwards."""

    seat: Seat
    command: Command
    events: Sequence[Event]
    seen: object


class Agent:
    """What the agent of a seat is given."""

    def __init__(self, state: GameState, seat: Seat) -> None:
        actions = make_action_form(state, "candidates", 512)
        assert isinstance(actions, CandidateActions)
        self.seat, self._form, self._actions = seat, forms_of(state).observation(state), actions

    def sees(self, game: ViewedGame) -> Any:
        """Its observation and its candidates, as bytes, and whether it is to act."""
        view = game.view(self.seat)
        commands = legal(view, self.seat)[:512] if game.seat_to_act == self.seat else []
        rows = np.ascontiguousarray(self._actions.rows(commands))
        return self._form.encode(view, self.seat).tobytes(), rows.tobytes(), len(commands)


def play_ahead(game: WatchedGame, agent: Agent, rng: Random, ahead: int) -> list[Step]:
    steps: list[Step] = []
    while (seat := game.seat_to_act) is not None and len(steps) < ahead:
        command, before = rng.choice(legal(game.view(seat), seat)), len(game.events)
        game.play(seat, command)
        steps.append(Step(seat, command, game.events[before:], agent.sees(game)))
    return steps


def future_of(state: GameState, viewer: Seat, steps: Sequence[Step]) -> AnyFuture:
    """What the viewer will have seen after these steps from this state."""
    events = [event for step in steps for event in step.events]
    if state.ruleset.name in TRAIN_RULESETS:
        return future(state, viewer, events)
    envelopes = (CommandEnvelope(GAME_ID, GAME_ID, step.seat, step.command) for step in steps)
    return any_game.Future(viewer, [any_game.Decided(each, 0, True) for each in envelopes], events)


def compared_with_twins(rules: str, seed: int) -> int:
    """Play a short game, each stretch of it again on a twin of its beginning; how many of these differed at all."""
    rng = Random(f"{rules} {seed}")
    is_train_game, limits = rules in TRAIN_RULESETS, RULESETS[rules].rule_options
    seats = limits.seats_least + seed % (min(3, limits.seats_most - limits.seats_least + 1))
    options = {"cars": 16, "move_ms": None} if is_train_game else {"move_ms": None}
    game = WatchedGame(GameSetting(rules, None, options), seats, str(seed))
    known: list[Knowledge] = [
        ViewerKnowledge(seat) if is_train_game else any_game.Knowledge(seat) for seat in range(seats)
    ]
    applied = differed = 0
    while game.seat_to_act is not None:
        for event in game.events[applied:]:
            for knowledge in known:
                knowledge.apply(event)
        applied = len(game.events)
        viewer = rng.randrange(len(known))
        agent, start = Agent(game.state, viewer), game.state.copy()
        first = game.branched(start)
        steps = play_ahead(game, agent, rng, AHEAD if is_train_game else rng.choice((ONE, AHEAD)))
        ahead = future_of(start, viewer, steps)
        other = first.branched(twin(start, known[viewer], ahead, rng))
        differed += hidden_state(other.state) != hidden_state(start)
        for step in steps:
            envelope = CommandEnvelope(GAME_ID, GAME_ID, step.seat, step.command)
            command = lookalike(other.state, envelope, step.events, ahead, rng).command
            other.play(step.seat, command)
            assert agent.sees(other) == step.seen, f"seat {viewer} can distinguish {step.command}"
    return differed


@pytest.mark.parametrize("games", long_after(1, (2, 12)))
@pytest.mark.parametrize("rules", RULESETS)
def test_P5_an_agent_sees_nothing_that_depends_on_what_its_seat_may_not_know(rules: str, games: int) -> None:
    assert sum(compared_with_twins(rules, seed) for seed in range(games)) > 2 * games


def test_an_environment_that_shows_a_blind_draw_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaky(viewer: Seat | None, event: Event) -> Event | None:
        return event if isinstance(event, CardDrawn) else redact_for(viewer, event)

    monkeypatch.setattr("services.tournament.viewed_game.redact_for", leaky)
    with pytest.raises(AssertionError, match="can distinguish"):
        for seed in range(10):
            compared_with_twins("usa", seed)


@pytest.mark.parametrize("rules", RULESETS)
def test_an_environment_that_shows_what_lies_on_the_table_itself_is_caught(
    rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def everything(game: WatchedGame, seat: Seat) -> GameState:
        return game.state

    monkeypatch.setattr(WatchedGame, "view", everything)
    with pytest.raises(AssertionError, match="can distinguish"):
        for seed in range(10):
            compared_with_twins(rules, seed)
