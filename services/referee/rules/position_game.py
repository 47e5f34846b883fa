"""A table for a question: a game that starts from a position, everybody seated, its turn begun."""

from __future__ import annotations

from typing import Final

from schemas.commands import Command, CreateGame, Letter, StartGame, TakeSeat
from services.referee.rules.decide import judge
from services.referee.rules.table import Table

GAME: Final = "question"
NO_SEED: Final = "00" * 32  # for what neither the position nor a seed of the command decides


def laid_out(command: CreateGame) -> Table:
    """The table of this game, whose seats are for people. Raises NotKept if there can be none."""
    table = Table()

    def say(command: Command) -> None:
        judge(table, Letter("laid", GAME, None, command), 0, NO_SEED)

    say(command)
    for seat in range(len(command.seats)):
        say(TakeSeat(f"seat {seat}", seat))
    say(StartGame())
    return table
