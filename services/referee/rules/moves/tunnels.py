"""Tunnels: cards are turned up, and may ask for more (TUNNEL-*)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from schemas.commands import DeclineTunnel, PayTunnel
from schemas.events import TunnelDeclined, TunnelRevealed
from schemas.field_types import LOCOMOTIVE, Seat
from schemas.refusals import require
from services.referee.rules.board import Route
from services.referee.rules.moves.claim_effects import lay_cars
from services.referee.rules.moves.market import ready_deck
from services.referee.rules.moves.payment import require_held, spelled
from services.referee.rules.moves.turns import end_turn
from services.referee.rules.ruleset import Cards, Facts, Move
from services.referee.rules.table import Table, Tunnel

TUNNEL_KIND: Final = "tunnel"


def begin_tunnel(table: Table, seat: Seat, route: Route, cards: Cards) -> Facts:
    """Turn up cards beside the base payment; with nothing more to pay the route is claimed."""
    yield from ready_deck(table, table.figures.tunnel_cards)
    top = table.deck[: -table.figures.tunnel_cards - 1 : -1]
    revealed = tuple(card for card in top if card is not None)
    extra = asks(cards, revealed)
    yield TunnelRevealed(seat, route.id, cards, revealed, extra)
    if not extra:
        yield from lay_cars(table, seat, route, cards, None)


def asks(cards: Cards, revealed: Sequence[str]) -> int:
    """How many cards more: one for each turned-up card of the played colour or locomotive.

    Where only locomotives were played, only locomotives count (TUNNEL-2)."""
    return sum(card in cards or card == LOCOMOTIVE for card in revealed)


def pay_offers(table: Table, seat: Seat) -> Sequence[PayTunnel]:
    tunnel, hand = opened(table), table.places[seat].hand
    left = tuple((card, hand[card] - tunnel.cards.get(card, 0)) for card in suits(tunnel))
    return _ways(left, tunnel.extra)


def pay_tunnel(table: Table, seat: Seat, command: PayTunnel) -> Facts:
    tunnel, cards = opened(table), command.cards
    kinds = " or ".join(suits(tunnel))
    exact = sum(cards.values()) == tunnel.extra and all(card in suits(tunnel) for card in cards)
    require(
        exact, "TUNNEL-3", f"{spelled(cards)} doesn't pay: the tunnel asks for {tunnel.extra} more, {kinds}"
    )
    require_held(table.places[seat], cards, tunnel.cards)
    whole = dict(Counter(tunnel.cards) + Counter(cards))
    yield from lay_cars(table, seat, table.board.routes[tunnel.route], whole, None)


def decline_offers(table: Table, seat: Seat) -> Sequence[DeclineTunnel]:
    return (_DECLINE,)


def decline_tunnel(table: Table, seat: Seat, command: DeclineTunnel) -> Facts:
    yield TunnelDeclined(seat)
    yield from end_turn(table, seat)


def opened(table: Table) -> Tunnel:
    """The tunnel that waits to be paid."""
    assert table.tunnel is not None, "a tunnel is open"
    return table.tunnel


def suits(tunnel: Tunnel) -> tuple[str, ...]:
    """The kinds of cards that pay what the tunnel asks for besides: the colour played first."""
    return tuple(dict.fromkeys((*tunnel.cards, LOCOMOTIVE)))


@lru_cache(maxsize=10_000)
def _ways(left: tuple[tuple[str, int], ...], extra: int) -> Sequence[PayTunnel]:
    held = {LOCOMOTIVE: 0, **dict(left)}
    coloured = [card for card in held if card != LOCOMOTIVE]
    ways = []
    for wilds in range(min(extra, held[LOCOMOTIVE]) + 1):
        rest = extra - wilds
        if not rest:
            ways.append(PayTunnel({LOCOMOTIVE: wilds}))
        elif coloured and held[coloured[0]] >= rest:
            paid = {coloured[0]: rest}
            ways.append(PayTunnel({**paid, LOCOMOTIVE: wilds} if wilds else paid))
    return tuple(ways)


_DECLINE = DeclineTunnel()

PAY_TUNNEL = Move(PayTunnel, pay_offers, pay_tunnel)
DECLINE_TUNNEL = Move(DeclineTunnel, decline_offers, decline_tunnel)
