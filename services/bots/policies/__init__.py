"""The policies, by name. Each chooses among the legal commands by its seat's own view of the state."""

from __future__ import annotations

from collections import UserList
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from schemas.commands import Command
from schemas.field_types import Seat
from services.bots.searching.any_game import search_command
from services.bots.seat_random import SeatRandom
from services.bots.trains.planning.command_choice import plan_command
from services.bots.trains.trains_strategies import buy_now, greedy, hold_10
from services.referee.games import GameState, legal

Policy: TypeAlias = Callable[[GameState, Seat, Sequence[Command], SeatRandom], Command]


class LegalCommands(UserList[Command]):
    """The legal commands of a seat, listed when somebody looks at them: not every policy needs them all."""

    def __init__(self, state: GameState, seat: Seat) -> None:
        self._of = state, seat

    @cached_property
    def data(self) -> list[Command]:  # type: ignore[override]  # what the base class reads
        return legal(*self._of)


def choose_randomly(
    state: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom
) -> Command:
    """The policy `random`: any legal command, each with the same probability."""
    return seat_random.choice(commands)


POLICIES: Final[Mapping[str, Policy]] = {
    "random": choose_randomly,
    "greedy": greedy,
    "planner": plan_command,
    "searcher": search_command,
    "hold-10": hold_10,
    "buy-now": buy_now,
}


class SlowPolicy(NamedTuple):
    """The declaration of a policy that thinks too long for the worker's own process."""

    budget_s: float  # for one command; with DEADLINE_BUDGETS of it gone, the fallback answers
    fallback: str  # a policy that isn't slow; where it doesn't play the ruleset, `random` does


DEADLINE_BUDGETS: Final = 1.2
# Policies that think in a process of a pool.
SLOW_POLICIES: Final[Mapping[str, SlowPolicy]] = {"searcher": SlowPolicy(budget_s=3.0, fallback="planner")}
