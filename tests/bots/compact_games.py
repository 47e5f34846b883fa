"""Compact games that follow the referee's: the same cards in the same order, and every command decided by it first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any, Final

from schemas.commands import Command, CreateGame, Pass, SeatPlan, StartGame
from schemas.events import DeckShuffled
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
from schemas.trains.events import DeckRecreated
from services.bots.trains.planning.board_graph import TicketEnds
from services.bots.trains.searching.compact_game import NOWHERE, CompactGame, Payment
from services.bots.trains.searching.compact_rules import KINDS, compact_rules
from services.bots.trains.searching.rollout_policy import Rollout
from services.bots.trains.searching.world_sampler import public_part, ticket_ends
from services.referee.games import GameState, decide_and_apply
from tests.rules.given import create_from, make_start_choices
from tests.rules.random_games import BOARDS_BY_RULESET, seat_counts, small_deck

OPTIONS: Final[Sequence[dict[str, Any]]] = (
    {},
    {"cars": 12},
    {"last_turns": "others", "most_tickets_bonus": 7, "strict": False},
    {"points_at_once": False, "strict": True},
    {"last_turns": "all", "parallel_owned": True, "flush_most": 1},
)
COMPARED: Final = sorted({*CompactGame.__slots__} - {"rules", "seed", "drawn"})


def compact(state: GameState) -> CompactGame:
    """The same game, with everything that is hidden."""
    rules = compact_rules(state)
    game, ends = public_part(state, rules), ticket_ends(state, rules)
    for seat, seat_state in enumerate(state.seats):
        game.hands[seat] = [seat_state.own.hand.get(kind, 0) for kind in KINDS[: rules.kind_count]]
        game.tickets[seat] = [ends[str(name)] for name in seat_state.own.tickets]
    game.deck = [list(state.own.deck).count(kind) for kind in KINDS[: rules.kind_count]]
    game.ticket_decks = [[ends[str(name)] for name in row] for row in state.own.ticket_decks.values()]
    return game


def random_opening(rng: Random, rules: str, number: int) -> GameState:
    """A game on any board of these rules, with any number of seats, dealt; every other with few cards, most with
    options that differ."""
    board = rng.choice(BOARDS_BY_RULESET[rules])
    options = {**({"cards": small_deck(rules)} if number % 2 else {}), **OPTIONS[number % len(OPTIONS)]}
    plans = (SeatPlan("bot", "random"),) * rng.choice(seat_counts(board))
    state = (
        create_from(CreateGame(plans, rules, board, f"both {number}", options)).when(None, StartGame()).state
    )
    make_start_choices(state)
    return state


class FollowingGame(CompactGame):
    """A compact game whose deck has the order of the referee's."""

    def __init__(self, state: GameState) -> None:
        start = compact(state)
        super().__init__(start.rules, len(state.seats))
        for name in COMPARED:
            setattr(self, name, getattr(start, name))
        self.deck_order = [KINDS.index(str(card)) for card in state.own.deck]
        self.shuffles: list[DeckShuffled | DeckRecreated] = []  # of the referee, the next first
        self.rebuilt = 0

    def take_card(self, drawer: int) -> int:
        card = self.deck_order.pop()
        self.deck[card] -= 1
        return card

    def rebuild_deck(self) -> None:
        shuffle = self.shuffles.pop(0)
        order = [KINDS.index(str(card)) for card in shuffle.order]
        rest = [] if isinstance(shuffle, DeckRecreated) else self.deck_order
        self.deck_order = [*reversed(order), *rest]
        super().rebuild_deck()
        cards = [self.deck_order.count(kind) for kind in range(len(self.deck))]
        assert cards == self.deck, "the same cards are shuffled"
        self.rebuilt += 1


class RefereedGame(FollowingGame):
    """A compact game whose every command is first decided by the referee."""

    def __init__(self, state: GameState) -> None:
        super().__init__(state)
        self.state = state
        self.claiming = ""  # the route that a tunnel is turned up for

    def decide(self, command: Command) -> None:
        events = decide_and_apply(self.state, self.turn, command)
        self.shuffles += [event for event in events if isinstance(event, DeckShuffled | DeckRecreated)]

    def draw_blind(self) -> None:
        self.decide(DrawBlind())
        super().draw_blind()

    def draw_market(self, slot: int) -> int:
        self.decide(DrawMarket(slot))
        return super().draw_market(slot)

    def request_cards(self) -> None:
        self.decide(RequestCards())
        super().request_cards()

    def reveal_tunnel(self, payment: Payment) -> int:
        self.decide(ClaimRoute(self.claiming, cards_of(payment)))
        return super().reveal_tunnel(payment)

    def claim(self, route: int, payment: Payment, passenger: int = NOWHERE) -> None:
        name, tunnel = self.rules.graph.routes[route].id, self.state.own.tunnel
        if tunnel is not None:
            self.decide(PayTunnel(dict(Counter(cards_of(payment)) - Counter(tunnel.cards))))
        elif not self.rules.is_tunnel[route]:
            place = None if passenger == NOWHERE else self.rules.cities[passenger]
            self.decide(ClaimRoute(name, cards_of(payment), place))
        super().claim(route, payment, passenger)

    def draw_tickets(self, counts: Sequence[int]) -> list[TicketEnds]:
        decks = dict(zip(self.state.own.ticket_decks, counts, strict=True))
        self.decide(DrawTickets(decks if self.rules.tickets_named else None))
        return super().draw_tickets(counts)

    def keep_tickets(self, offer: Sequence[TicketEnds], kept: Sequence[int]) -> None:
        self.decide(KeepTickets(tuple(kept)))
        super().keep_tickets(offer, kept)

    def build_station(self, city: int, payment: Payment, neighbour: int = NOWHERE) -> None:
        self.decide(BuildStation(self.rules.cities[city], cards_of(payment)))
        super().build_station(city, payment, neighbour)

    def move_passenger(self, city: int, path: Iterable[int]) -> None:
        names = tuple(self.rules.graph.routes[route].id for route in path)
        self.decide(MovePassenger(self.rules.cities[city], names))
        super().move_passenger(city, path)

    def pass_turn(self) -> None:
        self.decide(Pass())
        super().pass_turn()

    def end_turn(self) -> None:
        if self.state.own.tunnel is not None:
            self.decide(DeclineTunnel())
        super().end_turn()


class RefereedRollout(Rollout):
    """A rollout of such a game."""

    def claim_for(self, route: int, payment: Payment, passenger: int = NOWHERE) -> None:
        assert isinstance(self.game, RefereedGame)
        self.game.claiming = self.game.rules.graph.routes[route].id
        super().claim_for(route, payment, passenger)


def cards_of(payment: Payment) -> dict[str, int]:
    cards = Counter[str]()
    for kind, count in payment:
        cards[KINDS[kind]] += count
    return dict(cards)
