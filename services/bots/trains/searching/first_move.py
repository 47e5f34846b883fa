"""The first move of a rollout: the command that is tried, by number, and the rest of its turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

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
from services.bots.trains.planning.board_graph import TicketEnds
from services.bots.trains.searching.compact_game import NOWHERE, Payment
from services.bots.trains.searching.compact_rules import KINDS, WILD, CompactRules
from services.bots.trains.searching.rollout_policy import Rollout
from services.bots.trains.searching.world_sampler import ticket_ends
from services.referee.games.trains.moves.routes import pending_tunnel
from services.referee.games.trains.train_state import TrainGame


class MoveKind(IntEnum):
    """What is done; rollout_engine.c has the same numbers."""

    KEEP = 1
    CLAIM = 2
    PAY_TUNNEL = 3
    STATION = 4
    PASSENGER = 5
    TICKETS = 6
    BLIND = 7
    OPEN_CARD = 8
    REQUEST = 9
    IDLE = 10


class FirstMove(NamedTuple):
    """A seat's command by number; which fields it has follows from its kind."""

    seat: Seat
    ends_turn: bool  # not while no turn has begun yet
    kind: MoveKind
    place: int = 0  # a route, a city, a slot; of an idle turn whether it passed
    other: int = NOWHERE  # the passenger's city or the station's neighbour
    payment: Payment = ()
    numbers: Sequence[int] = ()  # the places kept, the routes of a path, how many tickets of each deck
    offer: Sequence[TicketEnds] = ()


def first_move(state: TrainGame, seat: Seat, rules: CompactRules, command: Command) -> FirstMove:
    """The command of this seat, in this state or view."""
    return FirstMove(seat, state.turn is not None, *_by_number(state, seat, rules, command))


def _by_number(
    state: TrainGame, seat: Seat, rules: CompactRules, command: Command
) -> tuple[MoveKind, int, int, Payment, Sequence[int], Sequence[TicketEnds]]:
    routes, cities, table = rules.graph.route_index, rules.graph.city_index, state.own
    match command:
        case KeepTickets():
            ends = ticket_ends(state, rules)
            offer = [ends[str(name)] for name in state.seats[seat].own.offer]
            return MoveKind.KEEP, 0, NOWHERE, (), command.keep, offer
        case ClaimRoute():
            passenger = NOWHERE if command.passenger is None else cities[command.passenger]
            return MoveKind.CLAIM, routes[command.route], passenger, payment_of(command.cards), (), ()
        case PayTunnel():
            tunnel = pending_tunnel(state)
            cards = Counter(tunnel.cards) + Counter(command.cards)
            return MoveKind.PAY_TUNNEL, routes[tunnel.route], NOWHERE, payment_of(cards), (), ()
        case BuildStation():
            neighbour = NOWHERE if command.neighbour is None else cities[command.neighbour]
            return MoveKind.STATION, cities[command.city], neighbour, payment_of(command.cards), (), ()
        case MovePassenger():
            path = [routes[route] for route in command.path]
            return MoveKind.PASSENGER, cities[command.city], NOWHERE, (), path, ()
        case DrawTickets():
            decks = command.decks
            counts = [decks.get(name, 0) for name in table.ticket_decks] if decks else []
            return MoveKind.TICKETS, 0, NOWHERE, (), counts, ()
        case DrawBlind():
            return MoveKind.BLIND, 0, NOWHERE, (), (), ()
        case DrawMarket():
            slot = table.market.index(command.color) if command.slot is None else command.slot
            return MoveKind.OPEN_CARD, slot, NOWHERE, (), (), ()
        case RequestCards():
            return MoveKind.REQUEST, 0, NOWHERE, (), (), ()
        case Pass() | DeclineTunnel():
            return MoveKind.IDLE, int(isinstance(command, Pass)), NOWHERE, (), (), ()
    raise AssertionError(f"no candidate: {command}")


def payment_of(cards: Mapping[str, int]) -> Payment:
    """The cards by kind, the colour first."""
    return sorted((KINDS.index(card), count) for card, count in cards.items() if count)


def play_first(rollout: Rollout, move: FirstMove) -> None:
    """Carry out the move in the rollout, and the rest of its turn."""
    game = rollout.game
    acting, game.turn = game.turn, move.seat
    _carry_out(rollout, move)
    if move.ends_turn:
        game.end_turn()
    else:
        game.turn = acting  # the first turn is still to come


def _carry_out(rollout: Rollout, move: FirstMove) -> None:
    game = rollout.game
    match move.kind:
        case MoveKind.KEEP:
            game.keep_tickets(move.offer, move.numbers)
        case MoveKind.CLAIM:
            rollout.claim_for(move.place, move.payment, move.other)
        case MoveKind.PAY_TUNNEL:
            game.claim(move.place, move.payment)
        case MoveKind.STATION:
            game.build_station(move.place, move.payment, move.other)
        case MoveKind.PASSENGER:
            game.move_passenger(move.place, move.numbers)
        case MoveKind.TICKETS:
            rollout.draw_tickets(list(move.numbers) or rollout.next_tickets())
        case MoveKind.BLIND:
            game.draw_blind()
            rollout.draw_second_card()
        case MoveKind.OPEN_CARD:
            if game.draw_market(move.place) != WILD:
                rollout.draw_second_card()
        case MoveKind.REQUEST:
            game.request_cards()
        case MoveKind.IDLE:
            game.passes += move.place
