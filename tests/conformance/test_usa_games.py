"""24 recorded games of other people's programs: ours must tell every one of them the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.recorded import GAMES, Recorded, routes, ticket

FILES = sorted(GAMES.glob("usa-*.json"))


def test_the_recorded_games_are_there() -> None:
    assert len(FILES) == 24
    assert len(set(routes().values())) == 100


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_game_goes_the_same_way_move_by_move(path: Path) -> None:
    game = Recorded(path)
    for seat, command, told in game.moves():
        place = game.table.seats[seat]
        held, points = dict(place.hand), place.points
        game.act(seat, command)
        if told.get("do") == "draw":
            assert place.hand[told["card"]] == held[told["card"]] + 1
            assert game.table.market == told["market_after"]
        if told.get("do") == "claim":
            assert (place.points - points, place.cars) == (told["points"], told["trains_left"])
    assert game.shuffles == []
    assert game.table.result is not None
    assert game.table.result.reason == "last turns"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_game_ends_with_the_same_scores(path: Path) -> None:
    game = Recorded(path)
    for seat, command, _ in game.moves():
        game.act(seat, command)
    assert game.table.result is not None
    for ours, theirs in zip(game.table.result.scores, game.told["final"], strict=True):
        place = game.table.seats[ours.seat]
        assert set(place.routes) == {routes()[number] for number in theirs["routes"]}
        assert place.cars == theirs["trains_left"]
        made = {ticket(game.table.board, t["ticket"]) for t in theirs["tickets"] if t["completed"]}
        missed = {ticket(game.table.board, t["ticket"]) for t in theirs["tickets"] if not t["completed"]}
        assert (set(ours.made), set(ours.missed)) == (made, missed)
        assert (ours.routes, ours.tickets) == (theirs["route_points"], theirs["ticket_points"])
        assert (ours.longest, ours.bonus) == (theirs["longest_path"], theirs["longest_bonus"])
        assert ours.total == theirs["total"]
    winners = [score.seat for score in game.table.result.scores if score.place == 1]
    assert winners == game.told["winners"]
