"""The candidates for a seat's move, with the points that each is expected to bring: flat Monte Carlo.

All candidates are played out in equal worlds with equal chance (common random numbers). Half of them are dropped a round,
and the planner's choice is left only for one that is clearly better.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from statistics import mean
from typing import Final

from schemas.commands import Command, Pass
from schemas.field_types import Seat
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DeclineTunnel,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    RequestCards,
)
from services.bots.searching.candidate_halving import (
    OWN_SEARCHES,
    WORLD_SEEDS,
    Candidate,
    CandidateValue,
    OwnSearch,
    best_of,
    run_halving,
    standard_error,
    values_of,
)
from services.bots.seat_random import SeatRandom
from services.bots.trains.planning.command_choice import (
    cheapest_station,
    even_mix,
    of_type,
    passenger_worth,
    payment_price,
    plan_command,
)
from services.bots.trains.planning.move_plan import MovePlan, make_move_plan
from services.bots.trains.searching.compact_rules import compact_rules
from services.bots.trains.searching.first_move import first_move
from services.bots.trains.searching.rollout_forms import IS_COMPILED, Rollouts, World
from services.bots.trains.searching.world_sampler import WorldSampler
from services.referee.games.state import ACTION
from services.referee.games.trains.moves.passengers import points_collected
from services.referee.games.trains.train_state import TICKETS, TUNNEL, TrainGame, TrainState

MOST_LEAD: Final = 12  # points: what wins is chosen, not what now and then wins by far
ERRORS_TO_LEAVE: Final = 0.5  # standard errors by which another candidate must be better than the planner's


def evaluate_candidates(
    view: TrainGame,
    seat: Seat,
    commands: Sequence[Command],
    seat_random: SeatRandom,
    rollouts: int,
    done: Command | None = None,
) -> tuple[CandidateValue, ...]:
    """The sensible candidates among the seat's legal commands (at least one), and what was `done` where others are played
    out, the one to choose first, by so many rollouts of all of them together. A single candidate isn't played out.

    Pure: nothing is read that the seat doesn't see, and all chance comes from `seat_random`."""
    planned = plan_command(view, seat, commands, seat_random)
    found = _list_candidates(view, seat, commands, planned)
    if done is not None and done not in found and view.pending_choices[seat] in PLAYED_OUT:
        found.append(done)
    candidates = [Candidate(command, command is planned, command == done, MOST_LEAD) for command in found]
    if len(candidates) > 1:
        search = _Search(view, seat, seat_random.choice(WORLD_SEEDS), candidates)
        run_halving(candidates, rollouts, search.play_out)
    return values_of(candidates, choose(candidates))


OWN_SEARCHES[TrainState] = OwnSearch(evaluate_candidates, 1_024 if IS_COMPILED else 64)


class _Search:
    """Rollouts of a move's candidates; world number n is the same for each of them."""

    def __init__(self, view: TrainGame, seat: Seat, seed: int, candidates: Sequence[Candidate]) -> None:
        self.seat, self.seed, self.rules = seat, seed, compact_rules(view)
        self.sampler = WorldSampler(view, seat, self.rules)
        self.rollouts = Rollouts(self.rules, len(view.seats))
        self.worlds: list[World] = []
        self.openings = {
            id(each): self.rollouts.opening(first_move(view, seat, self.rules, each.command))
            for each in candidates
        }

    def play_out(self, candidate: Candidate) -> None:
        """One more rollout of the candidate."""
        number = len(candidate.points)
        if number == len(self.worlds):
            chance = Random(self.seed + number)  # noqa: S311  it decides nothing that is secret
            self.worlds.append(self.rollouts.world(self.sampler.sample(chance)))
        points = self.rollouts.play(self.worlds[number], self.openings[id(candidate)])
        own, others = points[self.seat], [each for each in self.rules.scoring if each != self.seat]
        candidate.points.append(own)
        candidate.leads.append(own - max([points[other] for other in others], default=0))


def choose(candidates: Sequence[Candidate]) -> Candidate:
    """The one that is worth most, if it is clearly better than the planner's choice in the same worlds."""
    planned = candidates[0]
    best = best_of(candidates)
    gains = [a - b for a, b in zip(best.worths, planned.worths, strict=False)]
    error = standard_error(gains)
    is_clear = error is not None and mean(gains) > ERRORS_TO_LEAVE * error
    return best if is_clear else planned


# -- which commands are worth a rollout ------------------------------------------------------

CLAIMS: Final = 8  # routes at most
JOURNEYS: Final = 2  # at most
CARS_FOR_TICKETS: Final = 12  # with fewer left no more tickets are drawn
PLAYED_OUT: Final = (ACTION, TICKETS, TUNNEL)  # the choices with alternatives
KEEPS: Final = 16  # choices of tickets: of more only those close to the planner's


def _list_candidates(
    state: TrainGame, seat: Seat, commands: Sequence[Command], planned: Command
) -> list[Command]:
    """The planner's choice and its alternatives; that choice alone if there is nothing to search."""
    choice, candidates = state.pending_choices[seat], [planned]
    if choice == TICKETS and isinstance(planned, KeepTickets):
        candidates += _other_keeps(of_type(commands, KeepTickets), planned)
    elif choice == TUNNEL:
        candidates += of_type(commands, DeclineTunnel)
    elif choice == ACTION:
        candidates += _actions(make_move_plan(state, seat), commands)
    return [each for index, each in enumerate(candidates) if each not in candidates[:index]]


def _other_keeps(keeps: Sequence[KeepTickets], planned: KeepTickets) -> Sequence[KeepTickets]:
    """All choices; of many only those with one ticket more, less or exchanged."""
    if len(keeps) <= KEEPS:
        return keeps
    return [keep for keep in keeps if len({*keep.keep} ^ {*planned.keep}) <= 2]


def _actions(plan: MovePlan, commands: Sequence[Command]) -> list[Command]:
    """The best claims, a card of each kind, more tickets while cars are left, a request, a pass, the cheapest station, the
    best journeys."""
    actions: list[Command] = [*_claims(plan, of_type(commands, ClaimRoute))]
    market = plan.state.own.market
    open_cards = {
        market[draw.slot or 0]: draw for draw in reversed(of_type(commands, DrawMarket))
    }  # the first of each
    actions += [*of_type(commands, DrawBlind), *open_cards.values()]
    actions += [*of_type(commands, RequestCards), *of_type(commands, Pass)]
    if plan.situation.cars >= CARS_FOR_TICKETS and (tickets := of_type(commands, DrawTickets)):
        actions.append(even_mix(tickets))
    if (station := cheapest_station(plan, of_type(commands, BuildStation))) is not None:
        actions.append(station)
    journeys = of_type(commands, MovePassenger)
    journeys.sort(key=lambda journey: -points_collected(plan.state, journey))
    return actions + journeys[:JOURNEYS]


def _claims(plan: MovePlan, claims: Sequence[ClaimRoute]) -> list[ClaimRoute]:
    """The claims that seem worth most, each route with its cheapest payment and its best passenger."""
    best: dict[int, ClaimRoute] = {}
    prices: dict[int, float] = {}
    graph = plan.situation.graph
    for claim in claims:
        route = graph.route_index[claim.route]
        price = _payment_price(plan, claim, route) - passenger_worth(plan, claim)
        if price < prices.get(route, price + 1):
            best[route], prices[route] = claim, price

    def worth(route: int) -> float:
        return 4 * plan.wanted.get(route, 0.0) + graph.points[route] - prices[route]

    return [best[route] for route in sorted(best, key=worth, reverse=True)[:CLAIMS]]


def _payment_price(plan: MovePlan, claim: ClaimRoute, route: int) -> float:
    """The price of a payment: `payment_price` for wanted routes; else reserved cards and locomotives alone count."""
    if route in plan.needs.needs:
        return payment_price(plan, claim, route)
    return sum(
        plan.needs.reserved.get(card, 0) + 2.0 * (card not in plan.situation.hand) for card in claim.cards
    )
