"""A table as a game of OpenSpiel, by the name `ledgerline`: one chance node chooses the deal, every other node is a seat's.

Later chance (cards drawn, shuffles) follows from the deal's seed, so two states with one history are equal. Importing this
module registers the game. Needs the extra `openspiel`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, unquote

import numpy as np
import pyspiel

from schemas.commands import Command
from services.referee.games import legal
from services.research.parts_form import MAX_CANDIDATES, final_rewards, forms_of, make_action_form
from services.tournament.viewed_game import MAX_MOVES, GameSetting, ViewedGame

NAME: Final = "ledgerline"
MAX_SEATS: Final = 8
DEFAULTS: Final[Mapping[str, str | int]] = {
    "ruleset": "usa",
    "seats": 4,
    "board": "",  # the ruleset's own
    "options": "{}",  # rule options that are set otherwise, as JSON, which may be quoted as in a URL
    "deals": 1_000,  # seeds 0, 1 and so on, all equally likely
}
GAME_TYPE: Final = pyspiel.GameType(
    short_name=NAME,
    long_name="Ledgerline",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.CONSTANT_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=MAX_SEATS,
    min_num_players=1,
    provides_information_state_string=False,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification=dict(DEFAULTS),
)


class TableGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel has no types
    """A kind of table: rules, seats, board, options."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:  # Any: as OpenSpiel has them
        """A game with these of DEFAULTS' parameters. Raises UnloggedRejectionError if it can't be created."""
        given = {**DEFAULTS, **(params or {})}
        options = unquote(given["options"])
        self.setting = GameSetting(given["ruleset"], given["board"] or None, json.loads(options))
        self.seats: int = given["seats"]
        self.deals: int = given["deals"]
        sample = self.deal("sample").state
        self.observation_form = forms_of(sample).observation(sample)
        self.actions = make_action_form(sample, None, MAX_CANDIDATES)
        info = pyspiel.GameInfo(
            num_distinct_actions=self.actions.size,
            max_chance_outcomes=self.deals,
            num_players=self.seats,
            min_utility=0.0,
            max_utility=1.0,
            utility_sum=1.0,
            max_game_length=MAX_MOVES,
        )
        # a game is written down as its parameters, in which JSON's commas would end one
        super().__init__(GAME_TYPE, info, {**(params or {}), "options": quote(options)})

    def deal(self, seed: str) -> ViewedGame:
        """The table that follows from this seed."""
        return ViewedGame(self.setting, ("random",) * self.seats, seed)

    def new_initial_state(self) -> TableState:
        """The chance node before the deal."""
        return TableState(self)

    def make_py_observer(self, iig_obs_type: object = None, params: object = None) -> TableObserver:
        """An observer of the game: a player sees the fold of its own view."""
        return TableObserver(self)


class TableState(pyspiel.State):  # type: ignore[misc]  # pyspiel has no types
    """A table at one moment."""

    def __init__(self, game: TableGame) -> None:
        super().__init__(game)
        self.table: ViewedGame | None = None  # until it is dealt

    def current_player(self) -> int:
        """The seat to act, or OpenSpiel's number for chance or for the end."""
        if self.table is None:
            return int(pyspiel.PlayerId.CHANCE)
        seat = self.table.seat_to_act
        return int(pyspiel.PlayerId.TERMINAL) if seat is None else seat

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Every deal, equally likely."""
        deals = self.get_game().deals
        return [(deal, 1 / deals) for deal in range(deals)]

    def _legal_actions(self, player: int) -> list[int]:
        if self.table is None or player != self.table.seat_to_act:
            return []
        actions: list[int] = self.get_game().actions.mask(self._commands(player)).nonzero()[0].tolist()
        return actions

    def _commands(self, player: int) -> list[Command]:
        assert self.table is not None, "it is dealt"
        size: int = self.get_game().actions.size
        return legal(self.table.view(player), player)[:size]

    def _apply_action(self, action: int) -> None:
        if self.table is None:
            self.table = self.get_game().deal(str(action))
            return
        seat = self.table.seat_to_act
        assert seat is not None, "somebody is to act"
        self.table.play(seat, self.get_game().actions.command(action, self._commands(seat)))

    def _action_to_string(self, player: int, action: int) -> str:
        if self.table is None or player != self.table.seat_to_act:
            return f"deal {action}" if player < 0 else f"action {action}"
        return str(self.get_game().actions.command(action, self._commands(player)))

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.table is not None and self.table.seat_to_act is None

    def returns(self) -> list[float]:
        """By seat: an equal share of 1 among the winners, 0 before the end."""
        if self.table is None or not self.is_terminal():
            return [0.0] * self.get_game().seats
        return final_rewards(self.table.state, "win")

    def __str__(self) -> str:
        """Its history: it determines all else."""
        return " ".join(str(action) for action in self.history())


class TableObserver:
    """The observation of a seat, as numbers."""

    def __init__(self, game: TableGame) -> None:
        self._form = game.observation_form
        self.tensor = np.zeros(self._form.size, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: TableState, player: int) -> None:
        """Put the player's observation into `tensor`."""
        self.tensor[:] = 0 if state.table is None else self._form.encode(state.table.view(player), player)

    def string_from(self, state: TableState, player: int) -> str:
        """The player's observation as text."""
        if state.table is None:
            return ""
        return " ".join(map(str, self._form.encode(state.table.view(player), player)))


pyspiel.register_game(GAME_TYPE, TableGame)
