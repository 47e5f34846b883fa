"""A knock-out tournament: rounds of games, whose winners go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from services.trains.given_cards import Outcome
from services.trains.player_state import SEATS_LEAST, SEATS_MOST

T = TypeVar("T")


class Result(NamedTuple):
    """Players by their places in the order of sign-up."""

    winners: tuple[int, ...]
    removed: tuple[int, ...]


def tournament(players: int, game: Callable[[Sequence[int]], Outcome]) -> Result:
    """The result of a tournament of so many players.

    `game` plays one game of the players that it is given and says how it came out, naming each
    by its place among them."""
    going, before = tuple(range(players)), None
    removed: list[int] = []
    while len(going) >= SEATS_LEAST and going != before:
        before, tables = going, groups(going)
        winners: list[int] = []
        for table in tables:
            came = game(table)
            winners += [table[place] for rank in came.ranks[:1] for place in rank]
            removed += [table[place] for place in came.removed]
        going = tuple(sorted(winners))
        if len(tables) == 1:
            break
    return Result(going, tuple(sorted(removed)))


def groups(players: Sequence[T], least: int = SEATS_LEAST, most: int = SEATS_MOST) -> list[list[T]]:
    """The games of a round: as many as can play in each, in order. Where too few are left for
    the last one, the games before it give up players, the nearest first."""
    sizes = [most] * (len(players) // most)
    short = len(players) % most
    if short:
        sizes.append(short)
    place = len(sizes) - 2
    while sizes[-1] < least and place >= 0:
        given_up = min(sizes[place] - least, least - sizes[-1])
        sizes[place] -= given_up
        sizes[-1] += given_up
        place -= 1
    rest = iter(players)
    return [[next(rest) for _ in range(size)] for size in sizes]
