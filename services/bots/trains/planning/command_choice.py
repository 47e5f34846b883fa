"""A seat's command by its plan: the choices in the order in which they are worth considering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from schemas.commands import Command, Pass
from schemas.field_types import Seat
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    PayTunnel,
    RequestCards,
)
from schemas.trains.field_types import LOCOMOTIVE
from services.bots.seat_random import SeatRandom
from services.bots.trains.planning.action_choice import best_claim, best_journey, best_last_move, best_station
from services.bots.trains.planning.board_graph import UNREACHABLE, TicketEnds, shortest_path
from services.bots.trains.planning.move_plan import MovePlan, blind_value, card_values, make_move_plan
from services.bots.trains.planning.network_plan import plan_network
from services.bots.trains.planning.plan_weights import WEIGHTS
from services.bots.trains.planning.seat_situation import SeatSituation, see_situation, ticket_of
from services.referee.games.state import ACTION
from services.referee.games.trains.moves.cards import CARDS_PER_REQUEST
from services.referee.games.trains.train_state import MIX, TUNNEL, TrainGame

C = TypeVar("C", bound=Command)


def plan_command(
    state: TrainGame, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom
) -> Command:
    """The policy `planner`: a cheap network for the tickets worth making, cards by what it still needs, and long
    routes with the cars that are left over. Chance decides only on risky tunnels, and if nothing is worth anything."""
    if len(commands) == 1:
        return commands[0]
    choice = state.pending_choices[seat]
    if choice == MIX:
        return even_mix(of_type(commands, DrawTickets))
    if choice == TUNNEL:
        paid = of_type(commands, PayTunnel)
        return min(paid, key=lambda pay: pay.cards.get(LOCOMOTIVE, 0), default=commands[0])
    if keeps := of_type(commands, KeepTickets):
        return choose_kept(state, seat, keeps)
    plan = make_move_plan(state, seat)
    return _choose_action(plan, commands, seat_random) or pass_or_any(commands, seat_random)


def _choose_action(plan: MovePlan, commands: Sequence[Command], seat_random: SeatRandom) -> Command | None:
    """An action, or a second card."""
    claims, stations = of_type(commands, ClaimRoute), of_type(commands, BuildStation)
    journeys = of_type(commands, MovePassenger)
    if plan.situation.turns_left <= 1:
        return best_last_move(plan, claims, journeys, stations) or _draw(plan, commands)
    return (
        best_journey(plan, journeys)
        or best_claim(plan, claims, seat_random)
        or best_station(plan, stations)
        or best_ticket_draw(plan, of_type(commands, DrawTickets))
        or _draw(plan, commands)
        or _longest(plan, claims)
    )


def _draw(plan: MovePlan, commands: Sequence[Command]) -> Command | None:
    """A card, or a request for cards that brings some."""
    if requests := of_type(commands, RequestCards):
        return requests[0] if len(plan.state.own.deck) >= CARDS_PER_REQUEST else None
    return best_card(plan, [draw for draw in commands if isinstance(draw, DrawBlind | DrawMarket)])


def _longest(plan: MovePlan, claims: Sequence[ClaimRoute]) -> ClaimRoute | None:
    """The claim with the most points."""
    graph = plan.situation.graph
    return max(claims, key=lambda claim: graph.points[graph.route_index[claim.route]], default=None)


def pass_or_any(commands: Sequence[Command], seat_random: SeatRandom) -> Command:
    """A pass where one is legal, so that no station is built for nothing; else any command."""
    return next(iter(of_type(commands, Pass)), None) or seat_random.choice(commands)


def of_type(commands: Sequence[Command], command_type: type[C]) -> list[C]:
    """The commands of this type, in their order."""
    return [command for command in commands if isinstance(command, command_type)]


# -- draws ------------------------------------------------------------------------------------

BLIND_BONUS: Final = 0.01  # of two cards that are worth the same the one that others don't see
LEAST_TURNS: Final = 8  # with fewer left no more tickets are drawn


def best_card(plan: MovePlan, draws: Sequence[DrawBlind | DrawMarket]) -> Command | None:
    """The card that is worth most. An open locomotive costs the second card (CARD-2)."""
    state, values = plan.state, card_values(plan.situation, plan.needs)
    blind = blind_value(state, plan.seat, values)
    open_cards = [str(card) for card in state.own.market if card not in (None, LOCOMOTIVE)]
    second = max([blind, *(values[card] for card in open_cards)])
    is_first = state.pending_choices[plan.seat] == ACTION

    def worth(draw: DrawBlind | DrawMarket) -> float:
        if isinstance(draw, DrawBlind):
            return blind + BLIND_BONUS
        card = str(state.own.market[draw.slot or 0])
        return values[card] - (second if card == LOCOMOTIVE and is_first else 0.0)

    return max(draws, key=worth, default=None)


def best_ticket_draw(plan: MovePlan, draws: Sequence[DrawTickets]) -> DrawTickets | None:
    """A draw of tickets in an even mix, if the network is complete and another ticket should pay."""
    situation, options = plan.situation, plan.state.rule_options
    is_early = situation.cars >= WEIGHTS.cars_to_draw * options.cars
    has_enough = len(situation.tickets) >= WEIGHTS.tickets_to_draw
    if not draws or not is_early or has_enough or plan.network.cars or situation.turns_left < LEAST_TURNS:
        return None
    drawn = options.draw_named or sum(options.draw_tickets.values())
    if expected_gain(plan, drawn) < WEIGHTS.draw_margin:
        return None
    return even_mix(draws)


def even_mix(draws: Sequence[DrawTickets]) -> DrawTickets:
    """The draw that takes most evenly from the decks."""
    return min(draws, key=lambda draw: max((draw.decks or {"": 0}).values()))


# -- tickets ----------------------------------------------------------------------------------

MOST_CHOICES: Final = 64  # that are all planned; of more only those that add a ticket to the best so far
MOST_TICKETS: Final = 60  # of the tickets that may be drawn, that are looked at
SHARE_KEPT: Final = 0.9  # of a new ticket's points: the rest is the risk


def choose_kept(state: TrainGame, seat: Seat, keeps: Sequence[KeepTickets]) -> KeepTickets:
    """The tickets of the offer that bring most together with those that the seat has."""
    situation = see_situation(state, seat)
    offer = [ticket_of(situation.graph, state, str(name)) for name in state.seats[seat].own.offer]

    def worth(keep: KeepTickets) -> float:
        tickets = situation.tickets + [offer[index] for index in keep.keep]
        return plan_network(situation, tickets).worth

    return max(keeps, key=worth) if len(keeps) <= MOST_CHOICES else _grow_choice(keeps, worth)


def _grow_choice(keeps: Sequence[KeepTickets], worth: Callable[[KeepTickets], float]) -> KeepTickets:
    """The best of the smallest choices, then one ticket more as long as it pays."""
    by_size: dict[int, list[KeepTickets]] = {}
    for keep in keeps:
        by_size.setdefault(len(keep.keep), []).append(keep)
    first, *larger_sizes = sorted(by_size)
    best = max(by_size[first][:MOST_CHOICES], key=worth)
    best_worth = worth(best)
    for size in larger_sizes:
        candidate = max((k for k in by_size[size] if {*best.keep} <= {*k.keep}), key=worth)
        if (candidate_worth := worth(candidate)) <= best_worth:
            break
        best, best_worth = candidate, candidate_worth
    return best


def expected_gain(plan: MovePlan, drawn: int) -> float:
    """The points that the best of `drawn` random tickets would bring beside the network."""
    situation, state = plan.situation, plan.state
    costs = list(situation.costs)
    for route in plan.network.routes:
        costs[route] = 0.0
    held, decks = set(state.seats[plan.seat].own.tickets), state.rule_options.draw_tickets
    names = [t.id for t in state.own.board.tickets.values() if t.id not in held and decks.get(t.deck)]
    names = names[:: 1 + len(names) // MOST_TICKETS]
    cars = situation.cars - plan.network.cars
    gains = sorted(_gain(situation, costs, ticket_of(situation.graph, state, name), cars) for name in names)
    below = expected = 0.0
    for rank, gain in enumerate(gains, 1):  # the chance that this one is the best of those drawn
        chance = (rank / len(gains)) ** drawn
        expected += gain * (chance - below)
        below = chance
    return expected


def _gain(situation: SeatSituation, costs: Sequence[float], ticket: TicketEnds, cars: int) -> float:
    cost, routes = shortest_path(situation.graph, costs, ticket.a, ticket.b)
    needed = sum(situation.graph.lengths[route] for route in routes if costs[route])
    if cost >= UNREACHABLE or needed > cars:
        return -float(ticket.points)
    return max(SHARE_KEPT * ticket.points - cost, -float(ticket.points))
