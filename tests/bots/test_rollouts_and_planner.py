"""A rollout's seat plays as `planner` does: a search can't be better than what it plays games out with."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean

from schemas.commands import Command
from schemas.trains.commands import ClaimRoute, DrawBlind, DrawMarket
from services.bots.trains.searching.compact_game import CompactGame
from services.bots.trains.searching.rollout_policy import Rollout
from services.referee.games.state import ACTION
from services.tournament.viewed_game import CoreGame, GameSetting
from tests.bots.compact_games import compact


def both_moves(seed: str) -> Iterator[tuple[Command, CompactGame]]:
    """Each claim and first card of a duel of planners, and the game after the turn that a rollout plays there."""
    game = CoreGame(GameSetting("usa"), ("planner",) * 2, seed)
    while game.state.result is None:
        seat = min(game.state.pending_choices)
        is_action, rollout = game.state.pending_choices[seat] == ACTION, compact(game.state)
        command = game.choose(seat)
        if is_action and isinstance(command, ClaimRoute | DrawBlind | DrawMarket):
            Rollout(rollout).play_turn()
            yield command, rollout
        game.moves[seat] -= 1
        game.play_move(seat)


def test_a_rollout_claims_where_planner_claims_and_mostly_the_same_route() -> None:
    same = []
    for number in range(4):
        claimed = 0
        for command, after in both_moves(f"agr{number}"):
            routes = {route for own in after.routes for route in own}
            if isinstance(command, ClaimRoute):
                same.append(after.rules.graph.route_index[command.route] in routes)
                claimed += 1
            else:
                same.append(len(routes) == claimed)
    assert len(same) > 200
    assert mean(same) > 0.93, "before it counted the longest route it was 0.89"
