"""A seat's command by its plan: the choices in the order in which they are worth considering.

Of claims, stations and journeys: which of them is worth a turn, and with which cards.
"""

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
from schemas.trains.field_types import LOCOMOTIVE, PLUS_FOUR
from services.bots.seat_random import SeatRandom
from services.bots.trains.planning.board_graph import UNREACHABLE, TicketEnds, shortest_path
from services.bots.trains.planning.move_plan import MovePlan, blind_value, card_values, make_move_plan
from services.bots.trains.planning.network_plan import plan_network
from services.bots.trains.planning.plan_weights import WEIGHTS
from services.bots.trains.planning.seat_situation import SeatSituation, see_situation, ticket_of
from services.referee.games.state import ACTION
from services.referee.games.trains.moves.cards import CARDS_PER_REQUEST
from services.referee.games.trains.moves.passengers import points_collected
from services.referee.games.trains.moves.routes import TUNNEL_KIND
from services.referee.games.trains.train_state import MIX, TUNNEL, TrainGame

PLACED: Final = 0.5  # the worth of a passenger that is placed,
PER_TOKEN: Final = 0.1  # and more for each point of the token there
PLUS_FOUR_SHARE: Final = 0.7  # of the price of a locomotive
TICKET_POINTS: Final = 10  # that another seat's ticket is thought to bring


def best_claim(plan: MovePlan, claims: Sequence[ClaimRoute], seat_random: SeatRandom) -> ClaimRoute | None:
    """The claim that is worth most, of those that are worth it now: first for the network, else for points."""
    best, most = None, 0.0
    for claim in claims:
        route = plan.situation.graph.route_index[claim.route]
        if route not in plan.wanted or _is_risky(plan, claim, seat_random):
            continue
        in_network = route in plan.network.routes
        worth = _network_worth(plan, claim, route) if in_network else _filler_worth(plan, claim, route)
        if worth > most:
            best, most = claim, worth
    return best


def _network_worth(plan: MovePlan, claim: ClaimRoute, route: int) -> float:
    """How much it matters to have the route, less the cards that others need more."""
    worth = 2 * plan.wanted[route] + plan.situation.graph.points[route] / 10 + passenger_worth(plan, claim)
    return worth - payment_price(plan, claim, route) - WEIGHTS.claim_threshold


def _filler_worth(plan: MovePlan, claim: ClaimRoute, route: int) -> float:
    """The points of a route outside of the network, less its cars at what they could bring elsewhere."""
    graph, situation = plan.situation.graph, plan.situation
    cars = max(1, situation.cars - plan.network.cars)
    share = min(1.0, situation.turns_left * WEIGHTS.filler_pace / cars)
    if _would_end(plan):
        share *= WEIGHTS.end_share
    price = graph.lengths[route] * WEIGHTS.filler_price * graph.car_value * share
    wilds = claim.cards.get(LOCOMOTIVE, 0) + claim.cards.get(PLUS_FOUR, 0)
    price += WEIGHTS.filler_wild * max(0.0, wilds + min(0.0, plan.wilds_short))
    points = graph.points[route] + plan.bonuses.trail.get(route, 0.0)
    return points - price - payment_price(plan, claim, route) - WEIGHTS.filler_margin


def passenger_worth(plan: MovePlan, claim: ClaimRoute) -> float:
    """The worth of the passenger that is placed with the claim."""
    if claim.passenger is None:
        return 0.0
    return PLACED + PER_TOKEN * sum(plan.state.own.tokens.get(claim.passenger, ())[:1])


def _would_end(plan: MovePlan) -> bool:
    """Whether the seat hurries to the end: of a duel, with its tickets made, and ahead.

    At larger tables waiting for long routes brings more than stopping one of several others."""
    if len(plan.state.seats) != 2 or plan.network.cars or plan.situation.cars > WEIGHTS.cars_to_end:
        return False
    own, other = plan.state.seats[plan.seat].own, plan.state.seats[1 - plan.seat].own
    tickets = sum(ticket.points for ticket in plan.network.planned)
    tickets -= sum(ticket.points for ticket in plan.network.given_up)
    others = _route_points(plan, other.routes) + TICKET_POINTS * len(other.tickets)
    return _route_points(plan, own.routes) + tickets > others


def _route_points(plan: MovePlan, routes: Sequence[str]) -> int:
    graph = plan.situation.graph
    return sum(graph.points[graph.route_index[name]] for name in routes)


def payment_price(plan: MovePlan, claim: ClaimRoute, route: int) -> float:
    """The worth of a payment's cards for other routes."""
    need, hand = plan.needs.needs[route], plan.situation.hand
    wild_price = WEIGHTS.wild_price * min(1.0, max(0.0, plan.wilds_short / WEIGHTS.cards_short))
    least = plan.situation.graph.routes[route].locomotives
    price = wild_price * (claim.cards.get(LOCOMOTIVE, 0) - least)
    price += wild_price * PLUS_FOUR_SHARE * claim.cards.get(PLUS_FOUR, 0)
    for colour, count in claim.cards.items():
        if colour not in (LOCOMOTIVE, PLUS_FOUR):
            kept = plan.needs.reserved.get(colour, 0)
            if need.colour == colour:  # what is kept for this very route
                kept -= plan.situation.graph.lengths[route] - least - need.missing
            price += WEIGHTS.reserved_price * max(0, count - hand.get(colour, 0) + kept)
    return price


def _is_risky(plan: MovePlan, claim: ClaimRoute, seat_random: SeatRandom) -> bool:
    """Whether a tunnel may ask for a card that the seat lacks. Chance says no now and then, or all planners might wait."""
    if (
        plan.state.own.board.routes[claim.route].kind != TUNNEL_KIND
        or not plan.state.rule_options.tunnel_cards
    ):
        return False
    hand = plan.state.seats[plan.seat].own.hand
    left = sum(hand[card] - claim.cards.get(card, 0) for card in {*claim.cards, LOCOMOTIVE})
    return left < 1 and seat_random.choice((True, True, False))


# -- stations, journeys, the last move --------------------------------------------------------

TURNS_TO_SPARE: Final = 3  # a station isn't built before, while there are routes to claim
# The price of a card that a station takes: a locomotive, and what another one costs less for each spare one like it.
LOCOMOTIVE_PRICE: Final = 3.0
SPARE_CREDIT: Final = 0.1


def best_station(plan: MovePlan, stations: Sequence[BuildStation]) -> BuildStation | None:
    """A station for a route that the network borrows, once nothing else of it is left, or the end is near."""
    loans = sum(plan.situation.loans[route] for route in plan.network.routes)
    if plan.network.cars and plan.situation.turns_left > loans + TURNS_TO_SPARE:
        return None
    return cheapest_station(plan, stations)


def cheapest_station(plan: MovePlan, stations: Sequence[BuildStation]) -> BuildStation | None:
    """The station that costs least of those for a route that the network borrows."""
    situation, routes = plan.situation, plan.situation.graph.routes
    loans = sorted(route for route in plan.network.routes if situation.loans[route])
    cities = {city for route in loans for city in (routes[route].a, routes[route].b)}

    def price(station: BuildStation) -> float:
        spare = plan.needs.spare
        cards = station.cards.items()
        return sum(
            count * (LOCOMOTIVE_PRICE if card == LOCOMOTIVE else 1.0 - SPARE_CREDIT * spare.get(card, 0))
            for card, count in cards
        )

    return min((station for station in stations if station.city in cities), key=price, default=None)


def best_journey(plan: MovePlan, journeys: Sequence[MovePassenger]) -> MovePassenger | None:
    """The journey that collects most, if it is worth a turn."""
    best = max(journeys, key=lambda journey: points_collected(plan.state, journey), default=None)
    if best is None or points_collected(plan.state, best) < WEIGHTS.journey_points:
        return None
    return best


def best_last_move(
    plan: MovePlan,
    claims: Sequence[ClaimRoute],
    journeys: Sequence[MovePassenger],
    stations: Sequence[BuildStation],
) -> Command | None:
    """The claim (with the tickets that it makes), journey or station with most points at once; None if none has any."""
    graph, situation = plan.situation.graph, plan.situation
    missing = [route for route in plan.network.routes if situation.costs[route]]
    ticket_points = 2 * sum(ticket.points for ticket in plan.network.planned)
    best: Command | None = None
    most = 0.0
    for claim in claims:
        route = graph.route_index[claim.route]
        points = graph.points[route] + plan.bonuses.trail.get(route, 0.0)
        points += ticket_points if missing == [route] else 0
        if points > most:
            best, most = claim, points
    for journey in journeys:
        if (collected := points_collected(plan.state, journey)) > most:
            best, most = journey, collected
    station = best_station(plan, stations) if len(missing) == 1 and ticket_points > most else None
    return station or best


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
