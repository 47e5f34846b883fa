"""What the seats of a rollout do with stations, tunnels, passengers and paths. Whole rollouts: test_compact_game.py."""

from __future__ import annotations

from random import Random
from statistics import mean

import pytest

from services.bots.trains.searching.compact_game import CompactGame
from services.bots.trains.searching.rollout_needs import find_spans, path_bonuses
from services.bots.trains.searching.rollout_plan import make_plan
from services.bots.trains.searching.rollout_policy import Rollout
from services.referee.games.state import ACTION
from services.referee.games.trains.search.sweeps import longest_path
from services.tournament.viewed_game import CoreGame, GameSetting
from tests.bots.compact_games import compact
from tests.rules.given import Scene, given


def after_a_turn(scene: Scene) -> CompactGame:
    """The game after the turn that a rollout plays."""
    game = compact(scene.state)
    Rollout(game).play_turn()
    return game


def test_STATION_3_a_station_lends_the_last_route_of_a_ticket_in_the_last_turn() -> None:
    owners = {"berlin-wien-a": 0, "budapest-wien-a": 0, "bucuresti-budapest-a": 1}
    scene = given(
        2, rules="europe", hands=[{"red": 2}], tickets=[["berlin:bucuresti"]], owners=owners, cars=[10, 30]
    )
    scene.state.own.in_last_turns = True
    game = after_a_turn(scene)
    ((city, _neighbour),) = game.stations[0]
    assert game.rules.cities[city] in {"bucuresti", "budapest"}
    assert sum(game.hands[0]) == 1, "the first station costs a card"


@pytest.mark.parametrize(("spare", "is_begun"), [(0, False), (1, True)])
def test_TUNNEL_2_a_tunnel_is_begun_with_a_card_to_spare(spare: int, is_begun: bool) -> None:
    game = compact(given(2, rules="europe").state)
    tunnel = game.rules.is_tunnel.index(True)
    a, b = game.rules.graph.ends[tunnel]
    length, colour = game.rules.graph.lengths[tunnel], game.rules.colours[tunnel] % 8
    game.hands[0] = [0] * game.rules.kind_count
    game.hands[0][colour] = length + spare
    game.tickets[0] = [game.tickets[0][0]._replace(a=a, b=b, points=20)]
    game.owners = [owner if route == tunnel else 1 for route, owner in enumerate(game.owners)]
    before = sum(game.deck)
    Rollout(game).play_turn()
    assert (before - sum(game.deck) == game.rules.tunnel_cards) is is_begun


@pytest.mark.parametrize(("owner", "is_ended"), [(0, True), (1, False)])
def test_END_1_a_duel_is_ended_by_who_leads_it(owner: int, is_ended: bool) -> None:
    owners = dict.fromkeys(
        ("dallas-little-rock-a", "little-rock-nashville-a", "nashville-pittsburgh-a"), owner
    )
    hands = [{"white": 4}]  # for Calgary - Helena
    game = after_a_turn(given(2, hands=hands, owners=owners, tickets=[[], []], cars=[4, 30]))
    assert (game.cars[0] == 0) is is_ended


@pytest.mark.parametrize(("token", "is_sent"), [(7, False), (9, True)])
def test_PASSENGER_3_a_passenger_is_sent_off_when_the_journey_brings_enough(
    token: int, is_sent: bool
) -> None:
    scene = given(
        2,
        rules="marklin",
        hands=[{}],
        owners={"berlin-leipzig-a": 0},
        passengers={"leipzig": 0},
        tickets=[[]],
    )
    scene.state.own.tokens["berlin"] = (token,)
    before = compact(scene.state).points[0]
    game = after_a_turn(scene)
    assert game.points[0] - before == (token if is_sent else 0)
    assert bool(game.passenger_owners) is not is_sent


def test_SCORE_3_spans_of_a_tree_have_its_longest_path_and_a_route_at_its_end_brings_most() -> None:
    game = compact(given(2, rules="trains").state)
    graph, rng = game.rules.graph, Random(5)
    for _ in range(10):
        cities, tree = {rng.randrange(len(graph.exits))}, list[int]()
        while len(tree) < 6:
            route, other = rng.choice(graph.exits[rng.choice(sorted(cities))])
            if other not in cities:
                cities.add(other)
                tree.append(route)
        spans = find_spans(game, tree)
        assert spans.keys() == cities
        assert max(spaces for spaces, _ in spans.values()) == longest_path(
            game.rules.measured_routes[route] for route in tree
        )
        for route, bonus in path_bonuses(game, tree).items():
            longer = longest_path(game.rules.measured_routes[each] for each in (*tree, route))
            assert bonus > 0 and longer > max(spaces for spaces, _ in spans.values())


def test_SCORE_3_of_two_routes_with_as_many_points_the_one_that_makes_the_longest_is_claimed() -> None:
    own = dict.fromkeys(("dallas-little-rock-a", "little-rock-nashville-a"), 0)
    rivals = dict.fromkeys(("seattle-vancouver-a", "calgary-vancouver-a", "calgary-seattle-a"), 1)
    hands = [{"white": 4, "yellow": 4}]  # for Calgary - Helena, and for Nashville - Pittsburgh
    scene = given(2, hands=hands, owners={**own, **rivals}, tickets=[[], []], cars=[10, 30])
    scene.state.own.in_last_turns = True
    game = after_a_turn(scene)
    assert game.rules.graph.routes[game.routes[0][-1]].id == "nashville-pittsburgh-a"


def test_it_plans_a_shorter_way_before_it_gives_a_ticket_up() -> None:
    scene = given(2, hands=[{}], tickets=[["atlanta:san-francisco"]], cars=[20, 45])
    game = compact(scene.state)  # by long routes it is 28 cars, by the shortest way 17
    routes = make_plan(game, 0).routes
    assert routes and sum(game.rules.graph.lengths[route] for route in routes) <= 20


def test_seats_of_rollouts_come_to_nearly_as_many_points_as_planners() -> None:
    """A search can't be better than what it plays games out with."""
    in_rollouts, of_planners = list[int](), list[int]()
    for number in range(20):
        # given a duel of planners with its tickets chosen
        game = CoreGame(GameSetting("usa"), ("planner",) * 2, f"agr{number}")
        while ACTION not in game.state.pending_choices.values():
            game.play_move(min(game.state.pending_choices))
        # when a rollout plays it on, and the planners do
        in_rollouts += Rollout(compact(game.state)).play()
        while game.state.result is None:
            game.play_move(min(game.state.pending_choices))
        of_planners += [score.total for score in game.state.result.scores]
    # then few points are between them
    assert mean(in_rollouts) > mean(of_planners) - 5
