"""The candidates for a seat's move, with the points that each is expected to bring: flat Monte Carlo.

All candidates are played out in equal worlds with equal chance (common random numbers). Half of them are dropped a round,
and the planner's choice is left only for one that is clearly better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    PayTunnel,
    RequestCards,
)
from services.bots.searching.candidate_halving import (
    Candidate,
    CandidateValue,
    best_of,
    run_halving,
    standard_error,
    values_of,
)
from services.bots.seat_random import SeatRandom
from services.bots.trains.planning.action_choice import cheapest_station, passenger_worth, payment_price
from services.bots.trains.planning.command_choice import best_card, even_mix, of_type, plan_command
from services.bots.trains.planning.move_plan import MovePlan, make_move_plan
from services.bots.trains.searching.compact_game import NOWHERE, CompactGame, Payment
from services.bots.trains.searching.compact_rules import KINDS, WILD, compact_rules
from services.bots.trains.searching.rollout_policy import Rollout
from services.bots.trains.searching.world_sampler import WorldSampler, ticket_ends
from services.referee.games.state import ACTION
from services.referee.games.trains.moves.passengers import points_collected
from services.referee.games.trains.moves.tunnels import pending_tunnel
from services.referee.games.trains.pending_choices import TICKETS, TUNNEL
from services.referee.games.trains.train_state import TrainGame

ERRORS_TO_LEAVE: Final = 2.0  # standard errors by which another candidate must be better than the planner's
WORLD_SEEDS: Final = range(1 << 32)


def evaluate_candidates(
    view: TrainGame, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom, rollouts: int
) -> tuple[CandidateValue, ...]:
    """The sensible candidates among the seat's legal commands (at least one), the one to choose first, by so many
    rollouts of all of them together. A single candidate is the planner's choice, and isn't played out.

    Pure: nothing is read that the seat doesn't see, and all chance comes from `seat_random`."""
    planned = plan_command(view, seat, commands, seat_random)
    found = _list_candidates(view, seat, commands, planned)
    candidates = [Candidate(command, command is planned) for command in found]
    if len(candidates) > 1:
        sampler = WorldSampler(view, seat, compact_rules(view))
        search = _Search(view, seat, sampler, seat_random.choice(WORLD_SEEDS))
        run_halving(candidates, rollouts, search.play_out)
    return values_of(candidates, _choose(candidates))


@dataclass(slots=True)
class _Search:
    """Rollouts of a move's candidates; world number n is the same for each of them."""

    view: TrainGame
    seat: Seat
    sampler: WorldSampler
    seed: int
    worlds: list[CompactGame] = field(default_factory=list)

    def play_out(self, candidate: Candidate) -> None:
        """One more rollout of the candidate."""
        number = len(candidate.points)
        if number == len(self.worlds):
            chance = Random(self.seed + number)  # noqa: S311  it decides nothing that is secret
            self.worlds.append(self.sampler.sample(chance))
        rollout = Rollout(self.worlds[number].copy())
        play_first(rollout, self.view, self.seat, candidate.command)
        points = rollout.play()
        own, others = points[self.seat], [each for each in rollout.game.rules.scoring if each != self.seat]
        candidate.points.append(own)
        candidate.leads.append(own - max([points[other] for other in others], default=0))


def _choose(candidates: Sequence[Candidate]) -> Candidate:
    """The one with the best lead, if it is clearly better than the planner's choice in the same worlds."""
    planned = candidates[0]
    best = best_of(candidates)
    gains = [a - b for a, b in zip(best.leads, planned.leads, strict=False)]
    error = standard_error(gains)
    is_clear = error is not None and mean(gains) > errors_to_leave(len(gains)) * error
    return best if is_clear else planned


def errors_to_leave(count: int) -> float:
    """The limit for so many gains, two or more: their own spread says little of how sure the mean of few is.

    From three on a mean of 0 goes beyond it about as seldom as a normal one beyond ERRORS_TO_LEAVE (Student's t)."""
    return ERRORS_TO_LEAVE + 2.5 / (count - 1.9)


# -- which commands are worth a rollout ------------------------------------------------------

CLAIMS: Final = 4  # routes at most
JOURNEYS: Final = 2  # at most
CARS_FOR_TICKETS: Final = 12  # with fewer left no more tickets are drawn
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
    """The best claims, the best card, more tickets while cars are left, a request, a pass, the cheapest station, the best
    journeys."""
    actions: list[Command] = [*_claims(plan, of_type(commands, ClaimRoute))]
    draws = [command for command in commands if isinstance(command, DrawBlind | DrawMarket)]
    if (card := best_card(plan, draws)) is not None:
        actions.append(card)
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


# -- the first move of a rollout ------------------------------------------------------------


def play_first(rollout: Rollout, state: TrainGame, seat: Seat, command: Command) -> None:
    """Carry out the seat's command in the rollout, and the rest of its turn."""
    game = rollout.game
    acting, game.turn = game.turn, seat
    _carry_out(rollout, state, command)
    if state.turn is None:
        game.turn = acting  # the first turn is still to come
    else:
        game.end_turn()


def _carry_out(rollout: Rollout, state: TrainGame, command: Command) -> None:
    game, graph = rollout.game, rollout.game.rules.graph
    routes, cities = graph.route_index, graph.city_index
    table = state.own
    match command:
        case KeepTickets():
            ends = ticket_ends(state, game.rules)
            offer = [ends[str(name)] for name in state.seats[game.turn].own.offer]
            game.keep_tickets(offer, command.keep)
        case ClaimRoute():
            passenger = NOWHERE if command.passenger is None else cities[command.passenger]
            rollout.claim_for(routes[command.route], payment_of(command.cards), passenger)
        case PayTunnel():
            tunnel = pending_tunnel(state)
            cards = Counter(tunnel.cards) + Counter(command.cards)
            game.claim(routes[tunnel.route], payment_of(cards))
        case BuildStation():
            neighbour = NOWHERE if command.neighbour is None else cities[command.neighbour]
            game.build_station(cities[command.city], payment_of(command.cards), neighbour)
        case MovePassenger():
            game.move_passenger(cities[command.city], [routes[route] for route in command.path])
        case DrawTickets():
            decks = command.decks
            counts = [decks.get(name, 0) for name in table.ticket_decks] if decks else rollout.next_tickets()
            rollout.draw_tickets(counts)
        case DrawBlind():
            game.draw_blind()
            rollout.draw_second_card()
        case DrawMarket():
            slot = table.market.index(command.color) if command.slot is None else command.slot
            if game.draw_market(slot) != WILD:
                rollout.draw_second_card()
        case RequestCards():
            game.request_cards()
        case Pass():
            game.pass_turn()
        case _:
            assert isinstance(command, DeclineTunnel), "nothing else is a candidate"


def payment_of(cards: Mapping[str, int]) -> Payment:
    """The cards by kind, the colour first."""
    return sorted((KINDS.index(card), count) for card, count in cards.items() if count)
