"""Players that fail, at every point of a game over TCP: the server's result is that of the course's referee."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any

import pytest

from services.tournament.knock_out import GameOutcome
from tests.long_runs import short_and_long
from tests.process_faults.seeds import SOAK
from tests.trains_server.course_referee import CourseGame, CoursePlayer
from tests.trains_server.peers import CITIES, MAP, Peer, Played, cards_of, play

NAMES = ("Ann", "Bob", "Cyd", "Dee", "Eli", "Fay", "Gus", "Hal")
CALLS = ("setup", "pick", "play", "more", "win")


def ranking(played: Played) -> tuple[list[list[str]], list[str]]:
    """The only game of a tournament: the names of each rank, and of those who were removed."""
    (game,) = played.result.games
    outcome: GameOutcome = game.outcome
    return [sorted(NAMES[seat] for seat in rank) for rank in outcome.ranks], sorted(
        NAMES[seat] for seat in outcome.removed
    )


def large_map(rng: Random) -> dict[str, Any]:
    """A map on which a player can use up its rails, so that there are last turns."""
    connections: dict[str, Any] = {city: {} for city in CITIES}
    for a, b in combinations(CITIES, 2):
        colors = rng.sample(("red", "blue", "green", "white"), rng.randrange(4))
        connections[a][b] = {color: rng.randint(3, 5) for color in colors}
    return {**MAP, "connections": connections}


def players_of(rng: Random, call: str) -> list[CoursePlayer]:
    """Two to five players, of whom at least one fails at this call."""
    count = rng.randint(2, 5)
    failing = rng.randrange(count)
    return [
        CoursePlayer(
            name,
            rng.choice(("hold-10", "buy-now", "buy-now")),
            call if place == failing or rng.random() < 0.25 else "",
            0,
        )
        for place, name in enumerate(NAMES[:count])
    ]


def failing_at_some(
    rng: Random, map_json: Any, players: list[CoursePlayer], cards: list[str]
) -> list[CoursePlayer]:
    """The players, each failing at one of the calls of that name that it would get, often the last one."""
    whole = CourseGame(map_json, [player._replace(call="") for player in players], cards)
    whole.play()
    counts = [max(1, whole.calls[place][player.call]) for place, player in enumerate(players)]
    return [
        player._replace(nth=rng.choice((count - 1, rng.randrange(count))))
        for player, count in zip(players, counts, strict=True)
    ]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("seeds", short_and_long(10, 400 if SOAK else 15))
def test_CONDUCT_2_a_game_ends_as_at_the_course_wherever_a_player_fails(call: str, seeds: int) -> None:
    for seed in range(seeds):
        rng = Random(f"{call}/{seed}")
        map_json, players = large_map(rng), players_of(rng, call)
        cards = cards_of(seed, 4 * len(players) + rng.randrange(2, 60 * len(players)))[:250]
        players = failing_at_some(rng, map_json, players, cards)
        expected = CourseGame(map_json, players, cards).play()
        peers = [Peer(each.name, each.strategy, each.call, each.nth) for each in players]
        assert ranking(play(peers, cards, map_json)) == expected, (seed, players)


# -- at `more` -----------------------------------------------------------------------------------


def calls_of(played: Played, name: str, call: str) -> list[Any]:
    """The arguments of each such call."""
    return [each.arguments[0] for each in played.calls[name] if each.name == call]


def test_CONDUCT_2_cards_that_cannot_be_handed_over_are_there_for_the_next() -> None:
    cards = ["red"] * 12 + ["green", "white"] + ["blue"] * 20
    peers = [Peer("Ann", "hold-10", "more"), Peer("Bob", "hold-10"), Peer("Cyd", "hold-10")]
    played = play(peers, cards)
    assert calls_of(played, "Ann", "more") == [["green", "white"]]
    assert calls_of(played, "Bob", "more")[0] == ["green", "white"]
    assert calls_of(played, "Cyd", "more")[0] == ["blue", "blue"]
