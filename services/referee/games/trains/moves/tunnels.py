"""Tunnels: turned-up cards may raise the price (TUNNEL-*)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from schemas.field_types import Seat
from schemas.refusals import require
from schemas.trains.commands import DeclineTunnel, PayTunnel
from schemas.trains.events import TunnelDeclined, TunnelRevealed
from schemas.trains.field_types import LOCOMOTIVE
from services.referee.games.state import EventStream, Move
from services.referee.games.trains.board import Route
from services.referee.games.trains.moves.claim_effects import complete_claim
from services.referee.games.trains.moves.market import ensure_deck
from services.referee.games.trains.moves.payment import format_cards, require_held
from services.referee.games.trains.moves.turns import end_turn
from services.referee.games.trains.train_state import Cards, TrainGame, Tunnel

TUNNEL_KIND: Final = "tunnel"


def begin_tunnel(state: TrainGame, seat: Seat, route: Route, cards: Cards) -> EventStream:
    """Turn up cards for a base payment; with nothing more to pay the route is claimed (TUNNEL-1)."""
    yield from ensure_deck(state, state.rule_options.tunnel_cards)
    top_cards = state.own.deck[: -state.rule_options.tunnel_cards - 1 : -1]
    revealed = tuple(card for card in top_cards if card is not None)
    extra = extra_cost(cards, revealed)
    yield TunnelRevealed(seat, route.id, cards, revealed, extra)
    if not extra:
        yield from complete_claim(state, seat, route, cards, None)


def extra_cost(cards: Cards, revealed: Sequence[str]) -> int:
    """Count the extra cards of a tunnel: one for each turned-up card of the played colour, and one for
    each locomotive. If only locomotives were played, only locomotives count (TUNNEL-2)."""
    return sum(card in cards or card == LOCOMOTIVE for card in revealed)


def pay_offers(state: TrainGame, seat: Seat) -> Sequence[PayTunnel]:
    """Every way to pay the extra with cards that aren't reserved for the base payment."""
    tunnel, hand = pending_tunnel(state), state.seats[seat].own.hand
    remaining_cards = tuple((card, hand[card] - tunnel.cards.get(card, 0)) for card in payable_kinds(tunnel))
    return _payment_commands(remaining_cards, tunnel.extra)


def pay_tunnel(state: TrainGame, seat: Seat, command: PayTunnel) -> EventStream:
    """The extra payment: the tunnel is claimed. Refuses with TUNNEL-3 or ROUTE-3."""
    tunnel, cards = pending_tunnel(state), command.cards
    kinds = " or ".join(payable_kinds(tunnel))
    is_exact = sum(cards.values()) == tunnel.extra and all(card in payable_kinds(tunnel) for card in cards)
    require(
        is_exact,
        "TUNNEL-3",
        f"{format_cards(cards)} doesn't pay: the tunnel asks for {tunnel.extra} more, {kinds}",
    )
    require_held(state.seats[seat], cards, tunnel.cards)
    total_payment = dict(Counter(tunnel.cards) + Counter(cards))
    yield from complete_claim(state, seat, state.own.board.routes[tunnel.route], total_payment, None)


def decline_offers(state: TrainGame, seat: Seat) -> Sequence[DeclineTunnel]:
    """Declining, which is always possible."""
    return (_DECLINE,)


def decline_tunnel(state: TrainGame, seat: Seat, command: DeclineTunnel) -> EventStream:
    """The tunnel is given up: the turn ends, the cards stay in the hand (TUNNEL-3)."""
    yield TunnelDeclined(seat)
    yield from end_turn(state, seat)


def pending_tunnel(state: TrainGame) -> Tunnel:
    """The tunnel that waits for its extra payment; there must be one."""
    table = state.own
    assert table.tunnel is not None, "a tunnel is open"
    return table.tunnel


def payable_kinds(tunnel: Tunnel) -> tuple[str, ...]:
    """The kinds of cards that can pay the extra, the played colour first (TUNNEL-2)."""
    return tuple(dict.fromkeys((*tunnel.cards, LOCOMOTIVE)))


@lru_cache(maxsize=10_000)
def _payment_commands(remaining_cards: tuple[tuple[str, int], ...], extra: int) -> Sequence[PayTunnel]:
    held_cards = {LOCOMOTIVE: 0, **dict(remaining_cards)}
    coloured = [card for card in held_cards if card != LOCOMOTIVE]
    ways = []
    for wilds in range(min(extra, held_cards[LOCOMOTIVE]) + 1):
        rest = extra - wilds
        if not rest:
            ways.append(PayTunnel({LOCOMOTIVE: wilds}))
        elif coloured and held_cards[coloured[0]] >= rest:
            payment = {coloured[0]: rest}
            ways.append(PayTunnel({**payment, LOCOMOTIVE: wilds} if wilds else payment))
    return tuple(ways)


_DECLINE = DeclineTunnel()

PAY_TUNNEL = Move(PayTunnel, pay_offers, pay_tunnel)
DECLINE_TUNNEL = Move(DeclineTunnel, decline_offers, decline_tunnel)
