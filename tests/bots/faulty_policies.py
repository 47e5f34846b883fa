"""Slow policies that go wrong, each in its own way. A process imports them by name."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from schemas.commands import Command
from schemas.field_types import Seat
from schemas.trains.commands import DrawMarket
from services.bots.seat_random import SeatRandom
from services.referee.games import GameState


def hangs(state: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom) -> Command:
    """Never answer, as seat 0; else the last command."""
    while seat == 0:
        time.sleep(60)
    return commands[-1]


def crashes(state: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom) -> Command:
    """End the process, as seat 0; else the last command."""
    if seat == 0:
        os._exit(7)
    return commands[-1]


def raises(state: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom) -> Command:
    """Raise, as seat 0; else the last command."""
    if seat == 0:
        raise ZeroDivisionError("planned")
    return commands[-1]


def cheats(state: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom) -> Command:
    """Choose what isn't legal, as seat 0; else the last command."""
    return DrawMarket(9) if seat == 0 else commands[-1]
