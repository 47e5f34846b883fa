"""The policies, by name. Each chooses among the legal commands by its seat's own view of the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from schemas.commands import Command
from schemas.field_types import Seat
from services.bots.policies.greedy import greedy
from services.bots.policies.planner import planner
from services.bots.policies.random_policy import choose_randomly
from services.bots.policies.random_source import SeatRandom
from services.bots.policies.searcher import searcher
from services.bots.policies.trains_strategies import buy_now, hold_10
from services.referee.rules import GameState

Policy: TypeAlias = Callable[[GameState, Seat, Sequence[Command], SeatRandom], Command]

POLICIES: Final[Mapping[str, Policy]] = {
    "random": choose_randomly,
    "greedy": greedy,
    "planner": planner,
    "searcher": searcher,
    "hold-10": hold_10,
    "buy-now": buy_now,
}


class SlowPolicy(NamedTuple):
    """What a policy declares that thinks too long for the worker's own process."""

    budget_s: float  # for one command; with DEADLINE_BUDGETS of it gone, the fallback answers
    fallback: str  # a policy that isn't slow, for every ruleset


DEADLINE_BUDGETS: Final = 1.2
# those of POLICIES that think in a process of a pool
SLOW_POLICIES: Final[Mapping[str, SlowPolicy]] = {"searcher": SlowPolicy(budget_s=3.0, fallback="planner")}
