"""The candidates for a seat's move, with the points that each is expected to bring: flat Monte Carlo.

All candidates are played out in equal worlds with equal chance (common random numbers). Half of them are dropped a round,
and the planner's choice is left only for one that is clearly better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from random import Random
from statistics import mean, stdev
from typing import Final, NamedTuple

from schemas.commands import (
    BuildStation,
    ClaimRoute,
    Command,
    DeclineTunnel,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    Pass,
    PayTunnel,
    RequestCards,
)  # fmt: skip
from schemas.field_types import Seat
from services.bots.planning.action_choice import cheapest_station, passenger_worth, payment_price
from services.bots.planning.command_choice import best_card, even_mix, of_type, plan_command
from services.bots.planning.move_plan import MovePlan, make_move_plan
from services.bots.searching.compact_game import NOWHERE, CompactGame, Payment
from services.bots.searching.compact_rules import KINDS, WILD, compact_rules
from services.bots.searching.rollout_policy import Rollout
from services.bots.searching.world_sampler import WorldSampler, ticket_ends
from services.bots.seat_random import SeatRandom
from services.referee.games.state import ACTION
from services.referee.games.trains.moves.passengers import points_collected
from services.referee.games.trains.moves.tunnels import pending_tunnel
from services.referee.games.trains.pending_choices import TICKETS, TUNNEL
from services.referee.games.trains.train_state import TrainGame

ERRORS_TO_LEAVE: Final = 2.0  # standard errors by which another candidate must be better than the planner's
WORLD_SEEDS: Final = range(1 << 32)
ROLLOUTS: Final = 64  # of all candidates of a move together, for the policy `searcher`


class CandidateValue(NamedTuple):
    """A candidate, and the mean over its rollouts; all numbers are None without a rollout."""

    command: Command
    rollouts: int
    points: float | None  # the seat's own at the end
    points_error: float | None  # the standard error of that mean; None with one rollout
    lead: float | None  # the seat's points less those of the best other seat: what is chosen by
    lead_error: float | None
    is_planners: bool  # whether it is the choice of `planner`


@dataclass(slots=True)
class _Candidate:
    command: Command
    is_planners: bool
    points: list[int] = field(default_factory=list)
    leads: list[int] = field(default_factory=list)


def search_command(
    view: TrainGame, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom
) -> Command:
    """The policy `searcher`: the candidate that brings most in games played out, or the planner's choice."""
    return evaluate_candidates(view, seat, commands, seat_random, ROLLOUTS)[0].command


def evaluate_candidates(
    view: TrainGame, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom, rollouts: int
) -> tuple[CandidateValue, ...]:
    """The sensible candidates among the seat's legal commands (at least one), the one to choose first, by so many
    rollouts of all of them together. A single candidate is the planner's choice, and isn't played out.

    Pure: nothing is read that the seat doesn't see, and all chance comes from `seat_random`."""
    planned = plan_command(view, seat, commands, seat_random)
    found = _list_candidates(view, seat, commands, planned)
    candidates = [_Candidate(command, command is planned) for command in found]
    if len(candidates) > 1:
        sampler = WorldSampler(view, seat, compact_rules(view))
        _Search(view, seat, sampler, seat_random.choice(WORLD_SEEDS)).run(candidates, rollouts)
    best = _choose(candidates)
    others = sorted((each for each in candidates if each is not best), key=lambda each: -_mean_lead(each))
    return tuple(_value(each) for each in (best, *others))


@dataclass(slots=True)
class _Search:
    """Rollouts of a move's candidates; world number n is the same for each of them."""

    view: TrainGame
    seat: Seat
    sampler: WorldSampler
    seed: int
    worlds: list[CompactGame] = field(default_factory=list)

    def run(self, candidates: Sequence[_Candidate], rollouts: int) -> None:
        """Successive halving: every round has an equal share, half of the candidates go on to the next."""
        left = list(candidates)
        rounds = max(1, (len(left) - 1).bit_length())
        for _round in range(rounds):
            for _ in range(max(1, rollouts // (rounds * len(left)))):
                for candidate in left:
                    self.play_out(candidate)
            left = _better_half(left)

    def play_out(self, candidate: _Candidate) -> None:
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


def _better_half(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Half of them, and the planner's choice in any case."""
    ranked = sorted(candidates, key=lambda each: -_mean_lead(each))
    kept = ranked[: max(2, (len(ranked) + 1) // 2)]
    return [each for each in candidates if each in kept or each.is_planners]


def _choose(candidates: Sequence[_Candidate]) -> _Candidate:
    """The one with the best lead, if it is clearly better than the planner's choice in the same worlds."""
    planned = candidates[0]
    best = max(candidates, key=lambda each: (len(each.leads), _mean_lead(each)))
    gains = [a - b for a, b in zip(best.leads, planned.leads, strict=False)]
    error = _standard_error(gains)
    is_clear = error is not None and mean(gains) > errors_to_leave(len(gains)) * error
    return best if is_clear else planned


def errors_to_leave(count: int) -> float:
    """The limit for so many gains, two or more: their own spread says little of how sure the mean of few is.

    From three on a mean of 0 goes beyond it about as seldom as a normal one beyond ERRORS_TO_LEAVE (Student's t)."""
    return ERRORS_TO_LEAVE + 2.5 / (count - 1.9)


def _mean_lead(candidate: _Candidate) -> float:
    return mean(candidate.leads) if candidate.leads else 0.0


def _standard_error(values: Sequence[float]) -> float | None:
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else None


def _value(candidate: _Candidate) -> CandidateValue:
    has_any = bool(candidate.points)
    return CandidateValue(
        candidate.command,
        len(candidate.points),
        mean(candidate.points) if has_any else None,
        _standard_error(candidate.points),
        mean(candidate.leads) if has_any else None,
        _standard_error(candidate.leads),
        candidate.is_planners,
    )


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
