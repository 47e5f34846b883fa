"""A knock-out tournament: a map that was suggested, and rounds of games whose winners play the next round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from schemas.boards.form import BoardForm
from schemas.errors import LedgerlineError
from schemas.refusals import CommandRefusedError
from services.trains.given_cards import GameOutcome, TooFewDestinationsError, start_game
from services.trains.player_state import MAX_SEATS, MIN_SEATS

T = TypeVar("T")


class TournamentResult(NamedTuple):
    """The result of a tournament; players are indices in the order of sign-up."""

    winners: tuple[int, ...]
    removed: tuple[int, ...]


def choose_map(suggestions: Iterable[BoardForm], players: int, cards: Sequence[str]) -> BoardForm:
    """The first suggested map on which the largest game of so many players can begin, with these cards.

    Raises what forbids a game on the last of them, where there is none: TooFewDestinationsError (also where
    nothing is suggested), or CommandRefusedError."""
    refusal: LedgerlineError = TooFewDestinationsError("nobody suggests a map")
    for form in suggestions:
        try:
            start_game(form, min(players, MAX_SEATS), cards)
        except (TooFewDestinationsError, CommandRefusedError) as error:
            refusal = error
        else:
            return form
    raise refusal


def run_tournament(players: int, play_game: Callable[[Sequence[int]], GameOutcome]) -> TournamentResult:
    """Play a tournament of so many players.

    `play_game` plays one game of the given players; its outcome has indices into them."""
    remaining, previous = tuple(range(players)), None
    removed: list[int] = []
    while len(remaining) >= MIN_SEATS and remaining != previous:
        previous, groups = remaining, group_players(remaining)
        winners: list[int] = []
        for group in groups:
            outcome = play_game(group)
            winners += [group[place] for rank in outcome.ranks[:1] for place in rank]
            removed += [group[place] for place in outcome.removed]
        remaining = tuple(sorted(winners))
        if len(groups) == 1:
            break
    return TournamentResult(remaining, tuple(sorted(removed)))


def group_players(
    players: Sequence[T], min_size: int = MIN_SEATS, max_size: int = MAX_SEATS
) -> list[list[T]]:
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
    return [[next(ungrouped) for _ in range(size)] for size in sizes]
