"""What a golden game is made from: a table, who plays there, and what makes the game end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from schemas.field_types import Seat

Wish = Mapping[str, Any]  # a command, as it is spelled in JSON
Said = tuple[Seat | None, Wish]


class Forked(NamedTuple):
    """A golden game to go on from, after an entry."""

    of: str
    at: int
    asker: Seat | None = None
    over: bool = True  # else it is asked for when that entry is the last


class Scenario(NamedTuple):
    """A game to record. Everything is data, so that the table of scenarios can be read."""

    rules: str
    seats: str  # a policy for each seat, or `person`, who plays like `random` and must sit down first
    seed: str
    options: Mapping[str, Any] = {}
    drawn: bool = (
        False  # the server draws the seed, and the one that is named here is the random source's alone
    )
    board: str | Mapping[str, Any] | None = None
    ages: tuple[int, ...] = ()
    position: Mapping[str, Any] | None = None
    play_off: Mapping[str, Any] | None = None
    fork: Forked | None = None
    before: tuple[Said, ...] = ()  # said before the game starts
    said: tuple[Said, ...] = ()  # said first when it has started; then everybody plays
    always: Wish | None = None  # what every seat says in its turns, where it is an answer at all
    leave: int | None = None  # after so many entries everybody leaves
    absent: int | None = None  # after so many entries nobody says anything any more
    mischief: float = 0  # how often a seat says anything at all
