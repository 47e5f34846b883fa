"""24 recorded games of other people's programs: our rules have to give the same moves and scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.referee.games.trains.scoring import train_scores
from tests.conformance.recorded import GAMES, Recorded, routes, ticket

FILES = sorted(GAMES.glob("usa-*.json"))


def test_the_recorded_games_are_there() -> None:
    assert len(FILES) == 24
    assert len(set(routes().values())) == 100


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_game_goes_the_same_way_move_by_move(path: Path) -> None:
    game = Recorded(path)
    for seat, command, row in game.moves():
        seat_state = game.state.seats[seat]
        hand, points = dict(seat_state.own.hand), seat_state.own.points
        game.act(seat, command)
        if row.get("do") == "draw":
            assert seat_state.own.hand[row["card"]] == hand[row["card"]] + 1
            assert game.state.own.market == row["market_after"]
        if row.get("do") == "claim":
            assert (seat_state.own.points - points, seat_state.own.cars) == (
                row["points"],
                row["trains_left"],
            )
    assert game.shuffles == []
    assert game.state.result is not None
    assert game.state.result.reason == "last turns"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_game_ends_with_the_same_scores(path: Path) -> None:
    game = Recorded(path)
    for seat, command, _ in game.moves():
        game.act(seat, command)
    assert game.state.result is not None
    for ours, theirs in zip(train_scores(game.state.result), game.record["final"], strict=True):
        seat_state = game.state.seats[ours.seat]
        assert set(seat_state.own.routes) == {routes()[number] for number in theirs["routes"]}
        assert seat_state.own.cars == theirs["trains_left"]
        made = {ticket(game.state.own.board, t["ticket"]) for t in theirs["tickets"] if t["completed"]}
        missed = {ticket(game.state.own.board, t["ticket"]) for t in theirs["tickets"] if not t["completed"]}
        assert (set(ours.made), set(ours.missed)) == (made, missed)
        assert (ours.routes, ours.tickets) == (theirs["route_points"], theirs["ticket_points"])
        assert (ours.longest, ours.bonus) == (theirs["longest_path"], theirs["longest_bonus"])
        assert ours.total == theirs["total"]
    winners = [score.seat for score in game.state.result.scores if score.place == 1]
    assert winners == game.record["winners"]
