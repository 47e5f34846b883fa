"""Stations in rollouts: built for the routes of others that a seat's plan borrows, as `planner` does (other_actions)."""

from __future__ import annotations

from services.bots.planning.other_actions import LOCOMOTIVE_PRICE, SPARE_CREDIT, TURNS_TO_SPARE
from services.bots.searching.compact_game import CompactGame, Payment
from services.bots.searching.compact_rules import WILD
from services.bots.searching.rollout_needs import RolloutNeeds
from services.bots.searching.rollout_plan import RolloutPlan


def is_station_next(plan: RolloutPlan) -> bool:
    """Whether a station comes before any claim in the last turn: where it alone is missing."""
    return len(plan.loans) == 1 and not plan.routes


def is_station_due(plan: RolloutPlan, turns: int) -> bool:
    """Whether a station is built where no claim is worth it: nothing else is left to do, or the end is near."""
    return not plan.routes or turns <= len(plan.loans) + TURNS_TO_SPARE


def build_station(game: CompactGame, plan: RolloutPlan, needs: RolloutNeeds) -> bool:
    """Build a station for the plan, if one can be paid for; returns whether."""
    costs, built = game.rules.station_costs, len(game.stations[game.turn])
    places = free_places(game, plan)
    payment = _cheapest(game, needs, costs[built]) if places and built < len(costs) else None
    if payment is None:
        return False
    game.build_station(places[0], payment)
    return True


def free_places(game: CompactGame, plan: RolloutPlan) -> list[int]:
    """The cities in which a station would lend what the plan borrows (STATION-1)."""
    taken = game.station_cities()
    return [city for route in plan.loans for city in game.rules.graph.ends[route] if city not in taken]


def _cheapest(game: CompactGame, needs: RolloutNeeds, cost: int) -> Payment | None:
    """So many cards of one colour, locomotives wild: those that routes miss least (STATION-2)."""
    hand, best, least = game.hands[game.turn], None, 0.0
    for colour in range(WILD):
        wilds = max(0, cost - hand[colour])
        if wilds <= hand[WILD]:
            price = LOCOMOTIVE_PRICE * wilds + (cost - wilds) * (1 - SPARE_CREDIT * needs.spare[colour])
            if best is None or price < least:
                payment = ((colour, cost - wilds), (WILD, wilds))
                best, least = [(kind, count) for kind, count in payment if count], price
    return best
