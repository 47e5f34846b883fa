"""A knock-out in rounds: players are put into games, the winners of a round play the next.

Players are indices in the order of sign-up: the later, the younger. The rules are those of the Trains courses.
Nothing here plays: whoever does gives the outcomes of a round's games, which may be played side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from services.referee.rules import GameState

MIN_SIZE: Final = 2  # players of a game of Trains
MAX_SIZE: Final = 8

T = TypeVar("T")


class GameOutcome(NamedTuple):
    """The result of a game; players are indices in the order of turns."""

    ranks: tuple[tuple[int, ...], ...]  # the winners first; a rank may be empty
    removed: tuple[int, ...]


class TournamentResult(NamedTuple):
    """The result of a tournament."""

    winners: tuple[int, ...]
    removed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KnockOut:
    """A knock-out before a round, or at its end: `groups` are the games of the round, none once it is over."""

    remaining: tuple[int, ...]
    removed: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    min_size: int = MIN_SIZE
    max_size: int = MAX_SIZE

    @property
    def result(self) -> TournamentResult:
        """Who is left, and who was removed so far."""
        return TournamentResult(self.remaining, tuple(sorted(self.removed)))


def begin_knock_out(players: int, min_size: int = MIN_SIZE, max_size: int = MAX_SIZE) -> KnockOut:
    """A knock-out of so many players, with the games of its first round."""
    return _next_round(tuple(range(players)), (), min_size, max_size)


def finish_round(knock_out: KnockOut, outcomes: Sequence[GameOutcome]) -> KnockOut:
    """The knock-out after these outcomes of its groups, in their order. All of a first rank go on, in their old
    order. It is over when the round was one game, when its winners are the same as those of the round before,
    or when fewer than two remain."""
    played = list(zip(knock_out.groups, outcomes, strict=True))
    winners = sorted(group[index] for group, game in played for rank in game.ranks[:1] for index in rank)
    removed = *knock_out.removed, *(group[index] for group, game in played for index in game.removed)
    remaining = tuple(winners)
    if len(knock_out.groups) == 1 or remaining == knock_out.remaining:
        return KnockOut(remaining, removed, (), knock_out.min_size, knock_out.max_size)
    return _next_round(remaining, removed, knock_out.min_size, knock_out.max_size)


def run_knock_out(players: int, play_game: Callable[[Sequence[int]], GameOutcome]) -> TournamentResult:
    """Play a knock-out of so many players, one game after the other.

    `play_game` plays one game of the given players; its outcome has indices into them."""
    knock_out = begin_knock_out(players)
    while knock_out.groups:
        knock_out = finish_round(knock_out, [play_game(group) for group in knock_out.groups])
    return knock_out.result


def group_players(
    players: Sequence[T], min_size: int = MIN_SIZE, max_size: int = MAX_SIZE
) -> list[tuple[T, ...]]:
    """The games of a round: each as large as possible, in order. Where too few players are left for the last
    game, the games before it give up players, the nearest first."""
    sizes = [max_size] * (len(players) // max_size)
    leftover = len(players) % max_size
    if leftover:
        sizes.append(leftover)
    index = len(sizes) - 2
    while sizes[-1] < min_size and index >= 0:
        moved = min(sizes[index] - min_size, min_size - sizes[-1])
        sizes[index] -= moved
        sizes[-1] += moved
        index -= 1
    ungrouped = iter(players)
    return [tuple(next(ungrouped) for _ in range(size)) for size in sizes]


def game_outcome(state: GameState) -> GameOutcome:
    """The ranks of a finished game, and the seats that were removed."""
    assert state.result is not None, "the game must be over"
    removed = tuple(seat for seat, seat_state in enumerate(state.seats) if seat_state.exit_reason)
    ranks: dict[int, list[int]] = {}
    for score in sorted(state.result.scores, key=lambda score: score.place):
        if score.seat not in removed:
            ranks.setdefault(score.place, []).append(score.seat)
    return GameOutcome(tuple(tuple(rank) for rank in ranks.values()), removed)


def _next_round(
    remaining: tuple[int, ...], removed: tuple[int, ...], min_size: int, max_size: int
) -> KnockOut:
    enough = len(remaining) >= min_size
    groups = tuple(group_players(remaining, min_size, max_size)) if enough else ()
    return KnockOut(remaining, removed, groups, min_size, max_size)
