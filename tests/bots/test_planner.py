"""The policy planner: it plays better than greedy. That it breaks no rule is in test_policy_games.py."""

from __future__ import annotations

from statistics import mean
from time import thread_time
from typing import Final

import pytest

from schemas.commands import Command, StartGame
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DrawBlind,
    DrawMarket,
    KeepTickets,
    MovePassenger,
)
from services.bots.seat_random import SeatRandom
from services.bots.trains.planning.command_choice import plan_command
from services.bots.trains.planning.network_plan import plan_network
from services.bots.trains.planning.seat_situation import see_situation
from services.tournament.viewed_game import CoreGame, GameSetting
from tests.long_runs import short_and_long
from tests.process_faults.seeds import SOAK
from tests.rules.given import MARKET, Scene, created, given

DECISION_S: Final = 0.02
WINS_OF_GREEDY: Final = 0.85


def choice(scene: Scene, seat: int = 0) -> Command:
    return plan_command(scene.state, seat, scene.legal(seat), SeatRandom("00" * 32, 0))


def test_planner_decides_quickly() -> None:
    game = CoreGame(GameSetting("europe"), ("planner",) * 4, "quick")
    before = thread_time()
    game.play_to_end()
    assert (thread_time() - before) / sum(game.moves) < DECISION_S


@pytest.mark.parametrize("deals", short_and_long(4, 100 if SOAK else 15))
def test_planner_beats_greedy(deals: int) -> None:
    won = []
    for deal in range(deals):
        for seats in (("planner", "greedy"), ("greedy", "planner")):
            state = CoreGame(GameSetting("usa"), seats, f"duel {deal}").play_to_end()
            assert state.result is not None
            won.append(state.result.scores[seats.index("planner")].place == 1)
    assert mean(won) >= WINS_OF_GREEDY


# -- single decisions ------------------------------------------------------------------------

DALLAS_TO_PITTSBURGH: Final = dict.fromkeys(
    ("dallas-little-rock-a", "little-rock-saint-louis-a", "pittsburgh-saint-louis-a"), 0
)


def before_new_york(hand: dict[str, int]) -> Scene:
    """The seat has the way from Dallas to Pittsburgh, and is to get to New York."""
    return given(2, hands=[hand], tickets=[["dallas:new-york"]], owners=DALLAS_TO_PITTSBURGH, cars=[10, 30])


def test_in_its_last_turn_it_completes_a_ticket_rather_than_claim_a_longer_route() -> None:
    scene = before_new_york({"white": 2, "red": 4})
    scene.state.own.in_last_turns = True
    assert choice(scene) == ClaimRoute("new-york-pittsburgh-a", {"white": 2})
    scene.seat_state(0).own.tickets = []
    command = choice(scene)
    assert isinstance(command, ClaimRoute) and command.cards == {"red": 4}


def test_it_takes_the_card_that_its_network_misses() -> None:
    assert choice(before_new_york({"white": 1})) == DrawMarket(MARKET.index("white"))
    assert choice(before_new_york({"green": 1})) == DrawMarket(MARKET.index("green"))


def test_it_keeps_locomotives_that_its_network_needs_for_it() -> None:
    scene = before_new_york(
        {"locomotive": 2, "red": 3}
    )  # Dallas - El Paso, for 3 red and a locomotive: 7 points
    assert choice(scene) == ClaimRoute("new-york-pittsburgh-a", {"locomotive": 2})


def test_without_cars_for_any_ticket_it_keeps_those_that_cost_least() -> None:
    scene = choosing_tickets("denver:el-paso", "los-angeles:new-york", "houston:kansas-city")
    scene.seat_state(0).own.cars = 1
    assert choice(scene) == KeepTickets((0, 2))


def test_it_plans_a_shorter_way_before_it_gives_a_ticket_up() -> None:
    scene = given(2, hands=[{}], tickets=[["atlanta:san-francisco"]], cars=[20, 45])
    situation = see_situation(scene.state, 0)  # by long routes it is 28 cars, by the shortest way 17
    plan = plan_network(situation, situation.tickets)
    assert plan.planned == situation.tickets and plan.cars <= 20


def test_it_keeps_tickets_that_share_their_way() -> None:
    scene = choosing_tickets("new-york:seattle", "los-angeles:seattle", "los-angeles:new-york", keep=2)
    scene.seat_state(0).own.cars = 45
    chosen = choice(scene)
    assert isinstance(chosen, KeepTickets) and 0 in chosen.keep


def choosing_tickets(*offer: str, keep: int = 2) -> Scene:
    scene = created(2).when(None, StartGame())
    scene.seat_state(0).own.offer, scene.seat_state(0).own.min_keep = [*offer], keep
    return scene


def test_STATION_3_it_builds_a_station_where_another_seat_has_the_last_route_of_its_ticket() -> None:
    scene = given(
        2,
        rules="europe",
        hands=[{"red": 1}],
        tickets=[["berlin:bucuresti"]],
        owners={"berlin-wien-a": 0, "budapest-wien-a": 0, "bucuresti-budapest-a": 1},
        cars=[10, 30],
    )
    scene.state.own.in_last_turns = True
    command = choice(scene)
    assert isinstance(command, BuildStation) and command.city in {"bucuresti", "budapest"}


def test_PASSENGER_2_it_sends_a_passenger_off_when_the_journey_brings_enough() -> None:
    ways = {"berlin-leipzig-a": 0}
    scene = given(2, rules="marklin", hands=[{}], owners=ways, passengers={"leipzig": 0}, tickets=[[]])
    scene.state.own.tokens["berlin"] = (7,)
    assert not isinstance(choice(scene), MovePassenger)
    scene.state.own.tokens["berlin"] = (9,)
    assert isinstance(choice(scene), MovePassenger)


RIVAL: Final = {"seattle-vancouver-a": 1, "helena-seattle-a": 1, "denver-helena-a": 1, "denver-santa-fe-a": 1}


def test_SCORE_3_in_its_last_turn_it_lengthens_its_longest_route_where_that_wins_the_bonus() -> None:
    ways = dict.fromkeys((*DALLAS_TO_PITTSBURGH, "new-york-pittsburgh-a"), 0)
    scene = given(2, hands=[{"yellow": 2}], owners={**ways, **RIVAL}, tickets=[[]], cars=[10, 30])
    scene.state.own.in_last_turns = True
    command = choice(scene)
    assert isinstance(command, ClaimRoute)
    route = scene.state.own.board.routes[command.route]
    assert route.length == 2 and {route.a, route.b} & {"dallas", "new-york"}


def test_it_ends_a_duel_that_it_leads_and_no_other() -> None:
    assert isinstance(with_four_cars(DALLAS_TO_PITTSBURGH), ClaimRoute)
    assert isinstance(with_four_cars({**DALLAS_TO_PITTSBURGH, **RIVAL}), DrawMarket | DrawBlind)


def with_four_cars(owners: dict[str, int]) -> Command:
    """The choice of a seat that can claim Calgary - Helena with its last cars, its tickets made."""
    return choice(given(2, hands=[{"white": 4}], owners=owners, tickets=[[], []], cars=[4, 30]))
