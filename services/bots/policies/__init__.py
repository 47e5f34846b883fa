"""The policies, by name. Each chooses among the legal commands by its seat's own view of the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from schemas.commands import Command
from schemas.field_types import Seat
from services.bots.policies.greedy import greedy
from services.bots.policies.planner import planner
from services.bots.policies.random_policy import choose_randomly
from services.bots.policies.random_source import SeatRandom
from services.bots.policies.trains_strategies import buy_now, hold_10
from services.referee.rules import GameState

Policy: TypeAlias = Callable[[GameState, Seat, Sequence[Command], SeatRandom], Command]

POLICIES: Final[Mapping[str, Policy]] = {
    "random": choose_randomly,
    "greedy": greedy,
    "planner": planner,
    "hold-10": hold_10,
    "buy-now": buy_now,
}
