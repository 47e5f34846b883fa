"""A knock-out in rounds: the winners of a round's games play the next.

Players are indices in the order of sign-up: the later, the younger. The games are played by the caller, who gives the
outcomes of a round; `play_knock_out` lets policies play them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias, TypeVar

from schemas.errors import InvalidInputError
from services.referee.games import RULESETS, GameState
from services.tournament.game_results import GameResult, PlannedGame
from services.tournament.viewed_game import GameSetting

MIN_SIZE: Final = 2  # players of a game, where nothing else is said
MAX_SIZE: Final = 8

T = TypeVar("T")
Groups: TypeAlias = tuple[tuple[int, ...], ...]  # the players of each game of a round


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
    groups: Groups
    min_size: int = MIN_SIZE
    max_size: int = MAX_SIZE

    @property
    def result(self) -> TournamentResult:
        """The players who are left, and who were removed so far."""
        return TournamentResult(self.remaining, tuple(sorted(self.removed)))


def begin_knock_out(players: int, min_size: int = MIN_SIZE, max_size: int = MAX_SIZE) -> KnockOut:
    """A knock-out of so many players, with the games of its first round."""
    return _with_groups(KnockOut(tuple(range(players)), (), (), min_size, max_size))


def finish_round(knock_out: KnockOut, outcomes: Sequence[GameOutcome]) -> KnockOut:
    """The knock-out after these outcomes of its groups: all of a first rank go on, in their old order.

    It is over after a round of one game, when two rounds have equal winners, or when fewer than two remain."""
    played = list(zip(knock_out.groups, outcomes, strict=True))
    winners = tuple(
        sorted(group[index] for group, game in played for rank in game.ranks[:1] for index in rank)
    )
    removed = *knock_out.removed, *(group[index] for group, game in played for index in game.removed)
    is_over = len(knock_out.groups) == 1 or winners == knock_out.remaining
    after = replace(knock_out, remaining=winners, removed=removed, groups=())
    return after if is_over else _with_groups(after)


def _with_groups(knock_out: KnockOut) -> KnockOut:
    if len(knock_out.remaining) < knock_out.min_size:
        return knock_out
    groups = group_players(knock_out.remaining, knock_out.min_size, knock_out.max_size)
    return replace(knock_out, groups=tuple(groups))


def run_knock_out(
    players: int,
    play_round: Callable[[Groups], Sequence[GameOutcome]],
    min_size: int = MIN_SIZE,
    max_size: int = MAX_SIZE,
) -> TournamentResult:
    """Play a knock-out of so many players. `play_round` gives the outcomes of a round; they have indices into its groups."""
    knock_out = begin_knock_out(players, min_size, max_size)
    while knock_out.groups:
        knock_out = finish_round(knock_out, play_round(knock_out.groups))
    return knock_out.result


def group_players(
    players: Sequence[T], min_size: int = MIN_SIZE, max_size: int = MAX_SIZE
) -> list[tuple[T, ...]]:
    """The games of a round, as large as possible, in order. For a last one that is too small the nearest games give up players."""
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
    places = [score.place for score in state.result.scores]
    return _outcome(places, [seat.exit_reason is not None for seat in state.seats])


def outcome_of(result: GameResult) -> GameOutcome:
    """The ranks of a played game, and the seats that were removed."""
    return _outcome([each.place for each in result.seats], [each.removed for each in result.seats])


def _outcome(places: Sequence[int], removed: Sequence[bool]) -> GameOutcome:
    ranks: dict[int, list[int]] = {}
    for seat, place in enumerate(places):
        if not removed[seat]:
            ranks.setdefault(place, []).append(seat)
    return GameOutcome(
        tuple(tuple(ranks[place]) for place in sorted(ranks)),
        tuple(seat for seat, is_removed in enumerate(removed) if is_removed),
    )


# -- played by policies ----------------------------------------------------------------------

PlayGames = Callable[[Sequence[PlannedGame]], Iterable[GameResult]]
MAX_PLAYERS: Final = 1_000


class KnockOutGame(NamedTuple):
    """One game: its players in the order of turns, and how it ended."""

    players: tuple[int, ...]
    result: GameResult


class PlayedKnockOut(NamedTuple):
    """A knock-out: every round's games, and who won."""

    rounds: tuple[tuple[KnockOutGame, ...], ...]
    result: TournamentResult

    @property
    def games(self) -> list[GameResult]:
        """All games, in order."""
        return [game.result for games in self.rounds for game in games]


def knock_out_setting(setting: GameSetting) -> GameSetting:
    """The setting with turns in the order of sign-up, unless its options say otherwise."""
    return replace(setting, options={"order": "seated", **(setting.options or {})})


def play_knock_out(
    policies: Sequence[str], ruleset: str, seats: int | None, seed: str, play_games: PlayGames
) -> PlayedKnockOut:
    """Play a knock-out of policies. `seats` is the most at one table (None: the ruleset's). Raises InvalidInputError."""
    rule_options = RULESETS[ruleset].rule_options
    if not rule_options.seats_least <= len(policies) <= MAX_PLAYERS:
        raise InvalidInputError(
            "--policies",
            f"names {len(policies)} players: {rule_options.seats_least} are needed, and {MAX_PLAYERS:,} at most",
        )
    least, most = rule_options.seats_least, seats or rule_options.seats_most
    if most < 2 * least - 1:
        raise InvalidInputError(
            "--seats",
            f"a knock-out puts up to {2 * least - 1} or more at a table, for nobody to be left over",
        )
    rounds = list[tuple[KnockOutGame, ...]]()

    def play_round(groups: Groups) -> list[GameOutcome]:
        planned = [
            PlannedGame(block, f"{seed}/{block}", tuple(policies[player] for player in group))
            for block, group in enumerate(groups, sum(map(len, rounds)))
        ]
        results = list(play_games(planned))
        rounds.append(tuple(map(KnockOutGame, groups, results)))
        return [outcome_of(result) for result in results]

    result = run_knock_out(len(policies), play_round, least, most)
    return PlayedKnockOut(tuple(rounds), result)
