"""A knock-out of policies: its rounds, as they were played."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from schemas.errors import InvalidInputError
from services.referee.rules import RULESETS
from services.tournament.core_game import GameSetting
from services.tournament.game_results import GameResult
from services.tournament.knock_out import GameOutcome, TournamentResult, begin_knock_out, finish_round
from services.tournament.schedule import PlannedGame

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
    """The same, with turns in the order of sign-up unless its options say otherwise."""
    return replace(setting, options={"order": "seated", **(setting.options or {})})


def play_knock_out(
    policies: Sequence[str], ruleset: str, seats: int | None, seed: str, play_games: PlayGames
) -> PlayedKnockOut:
    """Play a knock-out; each of `policies` is a player, in the order of sign-up, and `seats` the most at one table, or
    None for the ruleset's most. `play_games` plays the games of a round. Raises InvalidInputError."""
    rule_options = RULESETS[ruleset].rule_options
    if not rule_options.seats_least <= len(policies) <= MAX_PLAYERS:
        raise InvalidInputError(
            "--policies", f"names {len(policies)} players: two are needed, and {MAX_PLAYERS:,} at most"
        )
    least, most = rule_options.seats_least, seats or rule_options.seats_most
    if most < 2 * least - 1:
        raise InvalidInputError(
            "--seats",
            f"a knock-out puts up to {2 * least - 1} or more at a table, for nobody to be left over",
        )
    knock_out = begin_knock_out(len(policies), least, most)
    rounds, count = list[tuple[KnockOutGame, ...]](), 0
    while groups := knock_out.groups:
        planned = [
            PlannedGame(block, f"{seed}/{block}", tuple(policies[player] for player in group))
            for block, group in enumerate(groups, count)
        ]
        count += len(planned)
        results = list(play_games(planned))
        rounds.append(tuple(map(KnockOutGame, groups, results)))
        knock_out = finish_round(knock_out, [outcome_of(result) for result in results])
    return PlayedKnockOut(tuple(rounds), knock_out.result)


def outcome_of(result: GameResult) -> GameOutcome:
    """The ranks of a game, without the seats that were removed."""
    places: dict[int, list[int]] = {}
    for seat, each in enumerate(result.seats):
        if not each.removed:
            places.setdefault(each.place, []).append(seat)
    removed = tuple(seat for seat, each in enumerate(result.seats) if each.removed)
    return GameOutcome(tuple(tuple(places[place]) for place in sorted(places)), removed)
