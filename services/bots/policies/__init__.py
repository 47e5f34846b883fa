"""The policies, by name. Each chooses among the legal commands from its seat's own table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from schemas.commands import Command
from schemas.words import Seat
from services.bots.policies.dice import Dice
from services.bots.policies.greedy import greedy
from services.bots.policies.strategies import buy_now, hold_10
from services.bots.policies.uniform import uniform
from services.referee.rules import Table

Policy: TypeAlias = Callable[[Table, Seat, Sequence[Command], Dice], Command]

POLICIES: Final[Mapping[str, Policy]] = {
    "random": uniform,
    "greedy": greedy,
    "hold-10": hold_10,
    "buy-now": buy_now,
}
