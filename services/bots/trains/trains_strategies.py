"""The policies that know train games alone and plan nothing: `hold-10` and `buy-now`, which players know, and `greedy`.

The first two take the first connection by its cities' names, then by length, then by colour. Hold-10 keeps the first
destinations, Buy-Now the last. Neither uses chance.

`greedy` connects its tickets by the shortest paths over free routes, then the longest route it can pay for. It
draws the colours that those paths want, builds a station for a ticket that can't be made otherwise, and sends a
passenger off when the journey is worth a turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from schemas.commands import Command
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
from schemas.trains.field_types import COLORS, LOCOMOTIVE, PLUS_FOUR
from services.bots.seat_random import SeatRandom
from services.bots.trains.planning.command_choice import even_mix, of_type, pass_or_any
from services.bots.trains.ticket_paths import shortest_paths, ticket_paths
from services.referee.games.state import ACTION
from services.referee.games.trains.board import GRAY, Board, Fare
from services.referee.games.trains.moves.cards import CARDS_PER_REQUEST
from services.referee.games.trains.moves.passengers import move_offers, points_collected
from services.referee.games.trains.moves.routes import TUNNEL_KIND, build_offers, claims_of
from services.referee.games.trains.train_state import MIX, TICKETS, TUNNEL, OpenRoutes, TrainGame


class Destination(NamedTuple):
    """Two cities by their names, a < b; destinations compare in the order that strategies go by."""

    a: str
    b: str


class Connection(NamedTuple):
    """A connection by the names of its cities, a < b; they compare in the strategies' order too."""

    a: str
    b: str
    length: int
    color: str


class Strategy(NamedTuple):
    """A strategy: the destinations that it keeps, and when it asks for cards."""

    keeps_last: bool  # of the destinations in order, not the first
    max_cards_to_ask: int  # cards in its hand; with more it acquires what it can


HOLD_10: Final = Strategy(keeps_last=False, max_cards_to_ask=10)
BUY_NOW: Final = Strategy(keeps_last=True, max_cards_to_ask=-1)


# -- their choices, from what a player is shown --------------------------------------------------


def choose_destinations(strategy: Strategy, offered: Sequence[Destination], count: int) -> tuple[int, ...]:
    """The places in the offer of the destinations that it keeps, lowest first."""
    indices = sorted(range(len(offered)), key=lambda index: offered[index])
    return tuple(sorted(indices[len(indices) - count :] if strategy.keeps_last else indices[:count]))


def choose_connection(
    strategy: Strategy, cards_held: int, possible: Iterable[Connection]
) -> Connection | None:
    """The connection that it acquires of those it can, holding so many cards; None to ask for more."""
    return None if cards_held <= strategy.max_cards_to_ask else min(possible, default=None)


# -- as policies of bots --------------------------------------------------------------------


def hold_10(state: TrainGame, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom) -> Command:
    """Keep the first destinations; ask for cards up to ten in hand, then acquire."""
    return _apply_strategy(HOLD_10, state, seat, commands)


def buy_now(state: TrainGame, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom) -> Command:
    """Keep the last destinations; acquire whenever something can be."""
    return _apply_strategy(BUY_NOW, state, seat, commands)


def _apply_strategy(strategy: Strategy, state: TrainGame, seat: Seat, commands: Sequence[Command]) -> Command:
    seat_state = state.seats[seat].own
    table = state.own
    if any(isinstance(command, KeepTickets) for command in commands):
        offered = [destination_of(table.board, str(ticket)) for ticket in seat_state.offer]
        return KeepTickets(choose_destinations(strategy, offered, seat_state.min_keep))
    possible: dict[Connection, Command] = {}
    for command in commands:
        if isinstance(command, ClaimRoute):
            possible.setdefault(connection_of(table.board, command.route), command)
    chosen = choose_connection(strategy, seat_state.cards, possible)
    return RequestCards() if chosen is None else possible[chosen]


def connection_of(board: Board, name: str) -> Connection:
    """The route of this id as players of Trains name it."""
    route = board.routes[name]
    a, b = sorted((board.cities[route.a], board.cities[route.b]))
    return Connection(a, b, route.length, route.color)


def destination_of(board: Board, name: str) -> Destination:
    """The ticket of this id as players of Trains name it."""
    ticket = board.tickets[name]
    return Destination(*sorted((board.cities[ticket.a], board.cities[ticket.b])))


MIN_JOURNEY_POINTS: Final = 8  # points of a passenger's journey
DRAWS: Final = (DrawBlind, DrawMarket)
Draw: TypeAlias = DrawBlind | DrawMarket


def greedy(state: TrainGame, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom) -> Command:
    """The command of the policy; chance decides only if nothing is worth anything, and on tunnels. It asks
    the rules for the offers that it needs, and looks at all `commands` only if nothing is worth anything."""
    command = _resolve_choice(state, seat, commands) or _choose_action(
        state, seat, shuns_risk=_shuns_risk(state, seat, seat_random)
    )
    return command or pass_or_any(commands, seat_random)


def _shuns_risk(state: TrainGame, seat: Seat, seat_random: SeatRandom) -> bool:
    """Whether it leaves risky tunnels alone, by chance, where it can do anything else: greedy seats might else begin and
    decline them for ever."""
    table, choice = state.own, state.pending_choices[seat]
    tunnels = {
        fare: tuple(name for name in table.open_routes[fare] if name in names)
        for fare, names in _tunnels_of(table.board).items()
    }
    if not tunnels or choice != ACTION:
        return False
    if not any(_is_risky(state, seat, claim) for claim in claims_of(state, seat, tunnels)):
        return False
    others = (move.offers(state, seat) for move in state.ruleset.moves[choice] if move.command != ClaimRoute)
    is_safe_left = any(others) or not all(
        _is_risky(state, seat, claim) for claim in claims_of(state, seat, table.open_routes)
    )
    return is_safe_left and seat_random.choice((True, False))


@lru_cache(maxsize=64)
def _tunnels_of(board: Board) -> Mapping[Fare, Set[str]]:
    """The tunnels, by fare, shortest first."""
    kinds = {name: route.kind for name, route in board.routes.items()}
    by_fare = {
        fare: {name for name in names if kinds[name] == TUNNEL_KIND} for fare, names in board.fares.items()
    }
    return {fare: names for fare, names in by_fare.items() if names}


def _is_risky(state: TrainGame, seat: Seat, claim: ClaimRoute) -> bool:
    if state.own.board.routes[claim.route].kind != TUNNEL_KIND:
        return False
    hand = state.seats[seat].own.hand
    remaining = sum(hand[card] - claim.cards.get(card, 0) for card in {*claim.cards, LOCOMOTIVE})
    return remaining < state.rule_options.tunnel_cards


def _resolve_choice(state: TrainGame, seat: Seat, commands: Sequence[Command]) -> Command | None:
    """The answer to an open choice, other than a second card."""
    choice = state.pending_choices[seat]
    if choice == TICKETS and (keeps := of_type(commands, KeepTickets)):
        return _best_keep(state, seat, keeps)
    if choice == TUNNEL and (paid := of_type(commands, PayTunnel)):
        return min(paid, key=lambda pay: pay.cards.get(LOCOMOTIVE, 0))
    if choice == MIX:
        return even_mix(of_type(commands, DrawTickets))
    return None


def _choose_action(state: TrainGame, seat: Seat, *, shuns_risk: bool) -> Command | None:
    """A wanted claim, else a journey, a station, cards, or any claim at all."""
    paths, choice = ticket_paths(state, seat), state.pending_choices[seat]
    moves = state.ruleset.moves[choice]
    wanted = paths.needed_by_fare or state.own.open_routes
    if choice == ACTION and (
        acted := _best_claim(state, _claims_of(state, seat, wanted, shuns_risk=shuns_risk))
        or _best_journey(state, move_offers(state, seat))
        or _best_station(state, seat)
    ):
        return acted
    draws: list[Any] = []  # Any: of the class that its move names
    for move in moves:
        if move.command in DRAWS:
            draws += move.offers(state, seat)
    if draws:
        return _best_draw(state, seat, paths.longest_needed, draws)
    if len(state.own.deck) >= CARDS_PER_REQUEST and any(move.command is RequestCards for move in moves):
        return RequestCards()
    if choice != ACTION:
        return None
    return _best_claim(state, _claims_of(state, seat, state.own.open_routes, shuns_risk=shuns_risk))


def _claims_of(state: TrainGame, seat: Seat, routes: OpenRoutes, *, shuns_risk: bool) -> Sequence[ClaimRoute]:
    claims = claims_of(state, seat, routes)
    return [claim for claim in claims if not _is_risky(state, seat, claim)] if shuns_risk else claims


def _best_claim(state: TrainGame, claims: Sequence[ClaimRoute]) -> ClaimRoute | None:
    """The longest claim; of these the one whose passenger is placed at the higher token, then of the fewest wild cards."""
    routes, tokens = state.own.board.routes, state.own.tokens
    longest, best, best_value = 0, None, (0, 0)
    for claim in claims:
        length = routes[claim.route].length
        if length < longest:
            continue
        passenger_value = 0
        if claim.passenger is not None:
            passenger_value = 1 + sum(tokens.get(claim.passenger, ())[:1])
        value = passenger_value, -claim.cards.get(LOCOMOTIVE, 0) - claim.cards.get(PLUS_FOUR, 0)
        if length > longest or value > best_value:
            longest, best, best_value = length, claim, value
    return best


def _best_journey(state: TrainGame, journeys: Sequence[MovePassenger]) -> MovePassenger | None:
    """The journey that collects most, if it is worth a turn; in the last turns any that collects."""
    best = max(journeys, key=lambda move: points_collected(state, move), default=None)
    min_points = 1 if state.own.in_last_turns else MIN_JOURNEY_POINTS
    return best if best is not None and points_collected(state, best) >= min_points else None


def _best_station(state: TrainGame, seat: Seat) -> BuildStation | None:
    """A station at the end of a ticket that no free routes make, in a city that others' routes reach."""
    seat_state, table, stations = state.seats[seat].own, state.own, build_offers(state, seat)
    if not stations:
        return None
    tickets = [table.board.tickets[str(name)] for name in seat_state.tickets]
    paths = zip(tickets, ticket_paths(state, seat).paths, strict=True)
    ends = {city for ticket, path in paths if path.cars > seat_state.cars for city in (ticket.a, ticket.b)}
    if not ends:
        return None
    served = {
        city
        for name, owner in table.route_owners.items()
        if owner != seat
        for city in (table.board.routes[name].a, table.board.routes[name].b)
    }
    useful = [station for station in stations if station.city in ends & served]
    return min(useful, key=lambda station: station.cards.get(LOCOMOTIVE, 0), default=None)


def _best_keep(state: TrainGame, seat: Seat, keeps: Sequence[KeepTickets]) -> Command:
    """The tickets that bring the most for the cars that are left, by their own paths alone."""
    offer = [state.own.board.tickets[str(name)] for name in state.seats[seat].own.offer]
    cars, lengths = state.seats[seat].own.cars, [path.cars for path in shortest_paths(state, seat, offer)]

    def gain(keep: KeepTickets) -> int:
        remaining, points = cars, 0
        for i in sorted(keep.keep, key=lengths.__getitem__):
            points += offer[i].points if lengths[i] <= remaining else -offer[i].points
            remaining -= min(lengths[i], remaining)
        return points - (cars - remaining)  # every car spent must be worth it

    return max(keeps, key=gain)


def _best_draw(state: TrainGame, seat: Seat, spaces: Mapping[str, int], draws: Sequence[Draw]) -> Draw:
    """The card that helps most: by the spaces of wanted routes of its colour that it could pay."""
    market, hand, grays = state.own.market, state.seats[seat].own.hand, spaces.get(GRAY, 0)
    most_held = max(COLORS, key=hand.__getitem__) if grays else None

    best, best_value = draws[0], -1.0
    for draw in draws:
        card = None if isinstance(draw, DrawBlind) else market[draw.slot or 0]
        held, value = hand[card], 0.0
        if card is None:
            value = 0.5
        elif card == LOCOMOTIVE:
            value = 1.5
        elif held < spaces.get(card, 0):
            value = 2 + held / 100
        elif card == most_held and held < grays:
            value = 1 + held / 100
        if value > best_value:
            best, best_value = draw, value
    return best
