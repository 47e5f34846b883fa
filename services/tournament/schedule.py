"""Who plays whom in which deal: every deal is played by the same policies in every seating.

One deal in all its seatings is a seed block, the unit of measurement: games of one block share their luck,
games of two don't.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from schemas.errors import InvalidInputError


class PlannedGame(NamedTuple):
    """One game: its block, its seed, and the policy of each seat."""

    block: int
    seed: str
    policies: tuple[str, ...]


def plan_games(policies: Sequence[str], seats: int, games: int, seed: str) -> list[PlannedGame]:
    """At least so many games, in whole blocks. Raises InvalidInputError."""
    if len(set(policies)) != len(policies):
        raise InvalidInputError("--policies", "names a policy twice")
    if seats < 2:
        raise InvalidInputError("--seats", "at least two seats play")
    seatings = list_seatings(policies, seats)
    blocks = -(-games // len(seatings))
    return [PlannedGame(block, f"{seed}/{block}", seating) for block in range(blocks) for seating in seatings]


def list_seatings(policies: Sequence[str], seats: int) -> list[tuple[str, ...]]:
    """Every table of so many policies in every rotation, once; fewer policies take the seats in turn."""
    if len(policies) < seats:
        tables = [tuple(policies[seat % len(policies)] for seat in range(seats))]
    else:
        tables = list(combinations(policies, seats))
    rotations = (table[turn:] + table[:turn] for table in tables for turn in range(seats))
    return list(dict.fromkeys(rotations))
