"""The policy `random`: any legal command, each as likely as any other."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.commands import Command
from schemas.field_types import Seat
from services.bots.policies.random_source import Dice
from services.referee.rules import Table


def uniform(table: Table, seat: Seat, commands: Sequence[Command], dice: Dice) -> Command:
    return dice.pick(commands)
