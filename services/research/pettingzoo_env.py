"""A table as a PettingZoo environment: agents act one after the other, each on the fold of its own view."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, Final, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from schemas.commands import Command
from schemas.field_types import Seat
from services.referee.games import legal
from services.research.parts_form import (
    MAX_CANDIDATES,
    NUMBER,
    ROW_SIZE,
    ActionKind,
    CandidateActions,
    FixedActions,
    Reward,
    final_rewards,
    forms_of,
    make_action_form,
)
from services.tournament.viewed_game import MAX_MOVES, GameSetting, ViewedGame

Observation: TypeAlias = dict[str, NDArray[Any]]  # numbers of several widths


class TableEnv(AECEnv):  # type: ignore[misc]  # pettingzoo has no types
    """One table. Agents are `seat_0`, `seat_1` and so on. Nobody leaves, and no time passes. Copied deeply or pickled, it
    goes on alone as this one does."""

    metadata: Final = {"name": "ledgerline_v1", "render_modes": ["ansi"], "is_parallelizable": False}

    def __init__(
        self,
        setting: GameSetting,
        seats: int,
        *,
        actions: ActionKind | None = None,
        max_candidates: int = MAX_CANDIDATES,
        reward: Reward = "win",
        render_mode: str | None = None,
    ) -> None:
        """A table with these rules. `actions` None: fixed if the rules allow it.

        Raises UnloggedRejectionError for a game that can't be created, InvalidInputError if the rules have no fixed actions."""
        super().__init__()
        self.setting, self.reward, self.render_mode = setting, reward, render_mode
        self._policies = ("random",) * seats  # of its creation: agents choose the moves
        sample = self._deal("sample").state
        self.observation_form = forms_of(sample).observation(sample)
        self.actions = make_action_form(sample, actions, max_candidates)
        self.possible_agents = [f"seat_{seat}" for seat in range(seats)]
        self._seats: dict[str, Seat] = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._action_spaces = {agent: spaces.Discrete(self.actions.size) for agent in self.possible_agents}
        self._observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        shape = (seats * self.observation_form.size,)
        self.state_space = spaces.Box(NUMBER.min, NUMBER.max, shape, np.int16)
        self._random = Random()  # noqa: S311 - of the deals, where no seed is given
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Dict:
        """The space of what `observe` returns."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The space of what `step` takes."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, object] | None = None) -> None:
        """Deal a new game: with a seed that of this name, without one the next in a row that the last seed began."""
        if seed is not None:
            self._random.seed(seed)
        self._game = self._deal(str(self._random.getrandbits(63) if seed is None else seed))
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations, self.truncations = (
            dict.fromkeys(self.agents, False),
            dict.fromkeys(self.agents, False),
        )
        self.infos: dict[str, dict[str, object]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._moves = 0
        self._select()

    def observe(self, agent: str) -> Observation:
        """The agent's observation now, and the mask of its actions: none if it isn't to act."""
        seat = self._seats[agent]
        commands = self._legal() if seat == self._seat else ()
        observation: Observation = {
            "observation": self.observation_form.encode(self._game.view(seat), seat),
            "action_mask": self._mask.copy() if seat == self._seat else self.actions.mask(()),
        }
        if isinstance(self.actions, CandidateActions):
            observation["candidates"] = self.actions.rows(commands)
        return observation

    def state(self) -> NDArray[np.int16]:
        """The observations of all agents, one after the other: what they know together, for training alone."""
        form, view = self.observation_form, self._game.view
        return np.concatenate([form.encode(view(seat), seat) for seat in self._seats.values()])

    def step(self, action: int | None) -> None:
        """Let the selected agent act; None once the game is over. Raises ValueError for an action that its mask excludes."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._game.play(self._seats[agent], self._command(action))
        self._moves += 1
        self._select()
        if self._seat is None or self._moves >= MAX_MOVES:
            self._end()

    def render(self) -> str:
        """What all seats see of the table, in lines: of its parts, or as the family of games has it."""
        views = [self._game.view(seat) for seat in self._seats.values()]
        return forms_of(self._game.state).table(views)

    def close(self) -> None:
        """Nothing is held that could be released."""

    # -- the game -----------------------------------------------------------------------------

    def _deal(self, seed: str) -> ViewedGame:
        return ViewedGame(self.setting, self._policies, seed)

    def _select(self) -> None:
        """Turn to the seat to act."""
        self._seat = self._game.seat_to_act
        self._commands: list[Command] | None = None
        if self._seat is not None:
            self.agent_selection = self.possible_agents[self._seat]

    def _legal(self) -> list[Command]:
        """The legal commands of the seat to act, made from its own view once a turn."""
        if self._commands is None:
            assert self._seat is not None, "somebody is to act"
            found = legal(self._game.view(self._seat), self._seat)
            self._commands = found if isinstance(self.actions, FixedActions) else found[: self.actions.size]
            self._mask = self.actions.mask(self._commands)
            unlisted = len(found) - len(self._commands)
            self.infos[self.agent_selection] = {"unlisted": unlisted} if unlisted else {}
        return self._commands

    def _command(self, action: int | None) -> Command:
        commands = self._legal()
        if action is None or not 0 <= action < self.actions.size:
            raise ValueError(f"{action} is no action; there are {self.actions.size}")
        if not self._mask[action]:
            raise ValueError(f"action {action} isn't legal; {len(commands)} are")
        return self.actions.command(action, commands)

    def _end(self) -> None:
        """The game is over, or cut off: every agent is done."""
        result = self._game.state.result
        for agent in self.agents:
            self.terminations[agent], self.truncations[agent] = result is not None, result is None
        if result is not None:
            for agent, value in zip(self.agents, final_rewards(self._game.state, self.reward), strict=True):
                self.rewards[agent] = self._cumulative_rewards[agent] = value
        self._deads_step_first()

    def _observation_space(self) -> spaces.Dict:
        form: dict[str, spaces.Space[Any]] = {  # of arrays of several widths
            "observation": spaces.Box(NUMBER.min, NUMBER.max, (self.observation_form.size,), np.int16),
            "action_mask": spaces.Box(0, 1, (self.actions.size,), np.int8),
        }
        if isinstance(self.actions, CandidateActions):
            shape = (self.actions.size, ROW_SIZE)
            form["candidates"] = spaces.Box(NUMBER.min, NUMBER.max, shape, np.int16)
        return spaces.Dict(form)
