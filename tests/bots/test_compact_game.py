"""The compact game of rollouts keeps the referee's rules: random games on both, with every state compared."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

import pytest

from schemas.commands import (
    ClaimRoute,
    Command,
    CreateGame,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    Pass,
    SeatPlan,
    StartGame,
)
from schemas.events import DeckShuffled, Event
from schemas.field_types import LOCOMOTIVE
from services.bots.searching.compact_game import NO_CARD, CompactGame, public_part
from services.bots.searching.compact_rules import (
    KINDS,
    WILD,
    TicketEnds,
    compact_rules,
    knows_rules,
)
from services.bots.searching.first_moves import payment_of
from services.bots.searching.rollout_policy import Rollout
from services.referee.rules import RULESETS, GameState, decide_and_apply, legal
from services.referee.rules.state import TICKETS
from tests.long_runs import short_and_long
from tests.rules.given import create_from, given, make_start_choices
from tests.rules.random_games import BOARDS_BY_RULESET, seat_counts

HABITS: Final = ((), (ClaimRoute,), (DrawBlind, DrawMarket), (DrawTickets, KeepTickets))
FEW_CARDS: Final = dict.fromkeys(KINDS, 3) | {
    "locomotive": 8
}  # so that decks are rebuilt and markets flushed
COMPARED: Final = sorted({*CompactGame.__slots__} - {"rules", "seed", "drawn"})


def compact(state: GameState) -> CompactGame:
    """The same game, with everything that is hidden."""
    game = public_part(state, compact_rules(state))
    for seat, seat_state in enumerate(state.seats):
        game.hands[seat] = [seat_state.hand.get(kind, 0) for kind in KINDS]
        game.tickets[seat] = [ends_of(state, str(name)) for name in seat_state.tickets]
    game.deck = [list(state.deck).count(kind) for kind in KINDS]
    game.ticket_deck = [ends_of(state, str(name)) for row in state.ticket_decks.values() for name in row]
    return game


def ends_of(state: GameState, name: str) -> TicketEnds:
    ticket, city = state.board.tickets[name], list(state.board.cities)
    return TicketEnds(city.index(ticket.a), city.index(ticket.b), ticket.points)


def random_opening(rng: Random, number: int) -> GameState:
    """A game on any board of `usa`, with any number of seats, dealt; every other with few cards, some with few cars."""
    board = rng.choice(BOARDS_BY_RULESET["usa"])
    options = {**({"cards": FEW_CARDS} if number % 2 else {}), **({"cars": 12} if number % 3 == 0 else {})}
    plans = (SeatPlan("bot", "random"),) * rng.choice(seat_counts(board))
    state = (
        create_from(CreateGame(plans, "usa", board, f"both {number}", options)).when(None, StartGame()).state
    )
    make_start_choices(state)
    return state


class FollowingGame(CompactGame):
    """A compact game whose deck has the order of the referee's."""

    def __init__(self, state: GameState) -> None:
        start = compact(state)
        super().__init__(start.rules, 0)
        for name in COMPARED:
            setattr(self, name, getattr(start, name))
        self.deck_order = [KINDS.index(str(card)) for card in state.deck]
        self.orders: list[list[int]] = []  # of the referee's shuffles, the next first

    def take_card(self, drawer: int) -> int:
        card = self.deck_order.pop()
        self.deck[card] -= 1
        return card

    def rebuild_deck(self) -> None:
        order = self.orders.pop(0)
        assert [order.count(kind) for kind in range(len(KINDS))] == self.discards, (
            "the same cards are shuffled"
        )
        self.deck_order[:0] = reversed(order)
        super().rebuild_deck()


class BothGames:
    """A game that the referee and the compact game play at once."""

    def __init__(self, state: GameState) -> None:
        self.state, self.game = state, FollowingGame(state)
        self.offer: list[TicketEnds] = []
        self.is_second_card = False

    def play(self, command: Command) -> None:
        seat = min(self.state.pending_choices)
        events = decide_and_apply(self.state, seat, command)
        self.game.orders = [orders_of(event) for event in events if isinstance(event, DeckShuffled)]
        self.carry_out(command)
        assert not self.game.orders

    def carry_out(self, command: Command) -> None:
        game, was_second, self.is_second_card = self.game, self.is_second_card, False
        match command:
            case ClaimRoute():
                game.claim(game.rules.graph.route_index[command.route], *payment_of(command))
            case DrawTickets():
                self.offer = game.draw_tickets()
                return
            case KeepTickets():
                game.keep_tickets(self.offer, command.keep)
            case DrawBlind() | DrawMarket():
                card = NO_CARD
                if isinstance(command, DrawMarket):
                    card = game.draw_market(command.slot or 0)
                else:
                    game.draw_blind()
                if not was_second and card != WILD and game.has_second_card():
                    self.is_second_card = True
                    return
            case Pass():
                game.pass_turn()
                return
        game.end_turn()

    def compare(self) -> None:
        if self.state.result is not None:
            assert self.game.is_over
            assert self.game.final_points() == [score.total for score in self.state.result.scores]
        elif self.state.pending_choices.get(self.game.turn) != TICKETS:
            expected = compact(self.state)
            for name in COMPARED:
                assert getattr(self.game, name) == getattr(expected, name), name


def orders_of(event: Event) -> list[int]:
    assert isinstance(event, DeckShuffled)
    return [KINDS.index(str(card)) for card in event.order]


def random_command(rng: Random, state: GameState, habit: tuple[type[Command], ...]) -> Command:
    commands = legal(state, min(state.pending_choices))
    liked = [command for command in commands if isinstance(command, habit)]
    return rng.choice(liked if liked and rng.randrange(4) else commands)


@pytest.mark.parametrize("games", short_and_long(6, 60))
def test_a_compact_game_follows_the_referee_through_random_games(games: int) -> None:
    rebuilt = 0
    for number in range(games):
        rng = Random(number)
        both = BothGames(random_opening(rng, number))
        habit = HABITS[number % len(HABITS)]
        while both.state.result is None:
            both.play(random_command(rng, both.state, habit))
            both.compare()
        rebuilt += both.state.epoch
    assert rebuilt > games, "decks were rebuilt"


class RefereedGame(FollowingGame):
    """A compact game whose every command is first decided by the referee."""

    def __init__(self, state: GameState) -> None:
        super().__init__(state)
        self.state = state

    def decide(self, command: Command) -> None:
        events = decide_and_apply(self.state, self.turn, command)
        self.orders += [orders_of(event) for event in events if isinstance(event, DeckShuffled)]

    def draw_blind(self) -> None:
        self.decide(DrawBlind())
        super().draw_blind()

    def draw_market(self, slot: int) -> int:
        self.decide(DrawMarket(slot))
        return super().draw_market(slot)

    def claim(self, route: int, colour: int, wilds: int) -> None:
        rules = self.rules
        paid = {KINDS[colour]: rules.graph.lengths[route] - wilds, LOCOMOTIVE: wilds}
        self.decide(ClaimRoute(rules.graph.routes[route].id, {card: n for card, n in paid.items() if n}))
        super().claim(route, colour, wilds)

    def draw_tickets(self) -> list[TicketEnds]:
        self.decide(DrawTickets())
        return super().draw_tickets()

    def keep_tickets(self, offer: Sequence[TicketEnds], kept: Sequence[int]) -> None:
        self.decide(KeepTickets(tuple(kept)))
        super().keep_tickets(offer, kept)

    def pass_turn(self) -> None:
        self.decide(Pass())
        super().pass_turn()


@pytest.mark.parametrize("games", short_and_long(6, 60))
def test_a_rollout_plays_no_command_that_the_referee_refuses(games: int) -> None:
    for number in range(games):
        game = RefereedGame(random_opening(Random(number), number))
        points = Rollout(game).play()
        assert game.state.result is not None, "the referee's game is over too"
        assert points == [score.total for score in game.state.result.scores]


def test_rules_with_other_parts_are_not_known() -> None:
    assert {rules for rules in RULESETS if knows_rules(given(rules=rules).state)} == {"usa"}
    scene = given()
    scene.seat_state(1).exit_reason = "left"
    assert not knows_rules(scene.state)
