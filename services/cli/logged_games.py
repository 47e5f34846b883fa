"""A tournament's games through the real pipeline: each is an ordinary logged game."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from services.cli.bot_games import create_bot_games
from services.cli.watch import SilentDisplay, WatchedGame, follow_games
from services.ledger import RedisLedger
from services.tournament.core_game import GameSetting
from services.tournament.game_results import GameResult, result_of
from services.tournament.schedule import PlannedGame

BATCH: Final = 50  # games side by side


def play_logged(
    setting: GameSetting,
    games: Sequence[PlannedGame],
    ledger: RedisLedger,
    failure_reason: Callable[[], str],
) -> Iterator[GameResult]:
    """The results of these games, in their order. A play-off that follows from one doesn't count.

    Raises InvalidInputError where a game can't be created, CommandLineError where the server fails."""
    rest = iter(games)
    while batch := list(islice(rest, BATCH)):
        ids = create_bot_games(ledger, [_body(setting, planned) for planned in batch], failure_reason)
        watched = [WatchedGame(game) for game in ids]
        follow_games(ledger, ledger, watched, SilentDisplay(), failure_reason)
        for planned, game in zip(batch, watched, strict=False):
            yield result_of(planned, game.id, game.state)


def _body(setting: GameSetting, planned: PlannedGame) -> dict[str, object]:
    body: dict[str, object] = {
        "ruleset": setting.ruleset,
        "seed": planned.seed,
        "visibility": "unlisted",
    }
    if setting.board is not None:
        body["board"] = setting.board
    if setting.options:
        body["options"] = dict(setting.options)
    return {**body, "seats": [{"kind": "bot", "policy": policy} for policy in planned.policies]}
