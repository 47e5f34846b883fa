"""The first move of a rollout: a candidate command, carried out on the compact game, to the end of its turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

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
    PayTunnel,
    RequestCards,
)  # fmt: skip
from schemas.field_types import Seat
from services.bots.searching.compact_game import NOWHERE, Payment
from services.bots.searching.compact_rules import KINDS, WILD
from services.bots.searching.rollout_policy import Rollout
from services.bots.searching.world_sampler import ticket_ends
from services.referee.rules import GameState
from services.referee.rules.moves.tunnels import pending_tunnel


def play_first(rollout: Rollout, state: GameState, seat: Seat, command: Command) -> None:
    """Carry out the command of the seat, and what else belongs to its turn."""
    game = rollout.game
    acting, game.turn = game.turn, seat
    FIRST_MOVES[type(command)](rollout, state, command)
    if state.turn is None:
        game.turn = acting  # the first turn is still to come
    else:
        game.end_turn()


def payment_of(cards: Mapping[str, int]) -> Payment:
    """The cards by kind, the colour first."""
    return sorted((KINDS.index(card), count) for card, count in cards.items() if count)


def _keep(rollout: Rollout, state: GameState, command: KeepTickets) -> None:
    ends, seat = ticket_ends(state, rollout.game.rules), rollout.game.turn
    rollout.game.keep_tickets([ends[str(name)] for name in state.seats[seat].offer], command.keep)


def _claim(rollout: Rollout, state: GameState, command: ClaimRoute) -> None:
    graph = rollout.game.rules.graph
    passenger = NOWHERE if command.passenger is None else graph.city_index[command.passenger]
    rollout.claim_for(graph.route_index[command.route], payment_of(command.cards), passenger)


def _pay_tunnel(rollout: Rollout, state: GameState, command: PayTunnel) -> None:
    tunnel = pending_tunnel(state)
    cards = Counter(tunnel.cards) + Counter(command.cards)
    rollout.game.claim(rollout.game.rules.graph.route_index[tunnel.route], payment_of(cards))


def _decline_tunnel(rollout: Rollout, state: GameState, command: DeclineTunnel) -> None:
    """The cards stay in the hand."""


def _build(rollout: Rollout, state: GameState, command: BuildStation) -> None:
    city = rollout.game.rules.graph.city_index
    neighbour = NOWHERE if command.neighbour is None else city[command.neighbour]
    rollout.game.build_station(city[command.city], payment_of(command.cards), neighbour)


def _move_passenger(rollout: Rollout, state: GameState, command: MovePassenger) -> None:
    graph = rollout.game.rules.graph
    rollout.game.move_passenger(
        graph.city_index[command.city], [graph.route_index[route] for route in command.path]
    )


def _draw_tickets(rollout: Rollout, state: GameState, command: DrawTickets) -> None:
    decks = command.decks
    rollout.draw_tickets(
        rollout.next_tickets() if not decks else [decks.get(name, 0) for name in state.ticket_decks]
    )


def _draw_blind(rollout: Rollout, state: GameState, command: DrawBlind) -> None:
    rollout.game.draw_blind()
    _draw_second(rollout)


def _draw_market(rollout: Rollout, state: GameState, command: DrawMarket) -> None:
    slot = state.market.index(command.color) if command.slot is None else command.slot
    if rollout.game.draw_market(slot) != WILD:
        _draw_second(rollout)


def _draw_second(rollout: Rollout) -> None:
    """A second card as the rollout's policy chooses it."""
    if rollout.game.has_second_card():
        rollout.draw_second_card()


def _request_cards(rollout: Rollout, state: GameState, command: RequestCards) -> None:
    rollout.game.request_cards()


FirstMove: TypeAlias = Callable[[Rollout, GameState, Any], None]  # Any: its key's type
FIRST_MOVES: Final[Mapping[type[Command], FirstMove]] = {
    KeepTickets: _keep,
    ClaimRoute: _claim,
    PayTunnel: _pay_tunnel,
    DeclineTunnel: _decline_tunnel,
    BuildStation: _build,
    MovePassenger: _move_passenger,
    DrawTickets: _draw_tickets,
    DrawBlind: _draw_blind,
    DrawMarket: _draw_market,
    RequestCards: _request_cards,
}
