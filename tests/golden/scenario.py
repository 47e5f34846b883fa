"""What a golden game is made from: its rules and options, its seats, and what makes it end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from schemas.field_types import Seat

CommandJson = Mapping[str, Any]  # a command in its JSON form
ScriptedCommand = tuple[Seat | None, CommandJson]


class Forked(NamedTuple):
    """A golden game to fork, after one of its entries."""

    of: str
    at: int
    asker: Seat | None = None
    over: bool = True  # else the fork is made when that entry is the last


class Scenario(NamedTuple):
    """A game to record. Everything is data, so that the list of scenarios can be read."""

    rules: str
    seats: str  # a policy for each seat, or `person`, which plays like `random` and must take its seat first
    seed: str
    options: Mapping[str, Any] = {}
    drawn: bool = False  # the server draws the game's seed; `seed` is that of the recorder's choices only
    board: str | Mapping[str, Any] | None = None
    ages: tuple[int, ...] = ()
    position: Mapping[str, Any] | None = None
    play_off: Mapping[str, Any] | None = None
    fork: Forked | None = None
    access: Mapping[str, Any] = {}  # who may watch it; else everybody
    before: tuple[ScriptedCommand, ...] = ()  # sent before the game starts
    script: tuple[ScriptedCommand, ...] = ()  # sent first once it has started; then every seat plays
    always: CommandJson | None = None  # what every seat sends in its turns, where it fits the pending choice
    leave: int | None = None  # after so many commands every seat leaves
    absent: int | None = None  # after so many commands no seat sends anything
    undo: float = 0  # the share of moves that are taken back, where they can be
    mischief: float = 0  # the share of a seat's commands that are arbitrary
