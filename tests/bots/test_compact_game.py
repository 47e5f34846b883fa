"""The compact game of rollouts keeps the referee's rules: random games on both, with every state compared."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Final

import pytest

from schemas.commands import Command, Leave, Pass
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
from services.bots.trains.searching.compact_game import NOWHERE, final_points
from services.bots.trains.searching.compact_rules import WILD
from services.bots.trains.searching.first_move import payment_of
from services.referee.games import GameState, decide_and_apply, legal
from services.referee.games.state import ACTION
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.referee.games.trains.train_state import TICKETS
from tests.bots.compact_games import (
    COMPARED,
    FollowingGame,
    RefereedGame,
    RefereedRollout,
    compact,
    random_opening,
)
from tests.long_runs import short_and_long
from tests.process_faults.seeds import SOAK

HABITS: Final = (
    (),
    (ClaimRoute, PayTunnel),
    (DrawBlind, DrawMarket, RequestCards),
    (DrawTickets, KeepTickets, MovePassenger),
    (BuildStation, ClaimRoute, DeclineTunnel),
)


class BothGames:
    """A game that the referee and the compact game play at once."""

    def __init__(self, state: GameState) -> None:
        self.state, self.game = state, FollowingGame(state)
        self.offer: list[TicketEnds] = []
        self.is_second_card = False

    def play(self, command: Command) -> None:
        seat = min(self.state.pending_choices)
        tunnel = self.state.own.tunnel
        events = decide_and_apply(self.state, seat, command)
        self.game.shuffles = [event for event in events if isinstance(event, DeckShuffled | DeckRecreated)]
        if isinstance(command, PayTunnel):
            assert tunnel is not None
            command = ClaimRoute(tunnel.route, dict(Counter(tunnel.cards) + Counter(command.cards)))
            self.claim(command)
            self.game.end_turn()
        else:
            self.carry_out(command)
        assert not self.game.shuffles

    def leave(self, seat: int) -> None:
        """Rollouts begin anew at every move: so does this game without the seat."""
        decide_and_apply(self.state, seat, Leave())
        if self.state.result is None:
            self.game = FollowingGame(self.state)

    def claim(self, command: ClaimRoute) -> None:
        graph = self.game.rules.graph
        passenger = NOWHERE if command.passenger is None else graph.city_index[command.passenger]
        self.game.claim(graph.route_index[command.route], payment_of(command.cards), passenger)

    def carry_out(self, command: Command) -> None:
        game, was_second, self.is_second_card = self.game, self.is_second_card, False
        graph = game.rules.graph
        match command:
            case ClaimRoute():
                route = graph.route_index[command.route]
                if game.rules.is_tunnel[route] and game.reveal_tunnel(payment_of(command.cards)):
                    return
                self.claim(command)
            case BuildStation():
                game.build_station(graph.city_index[command.city], payment_of(command.cards))
            case MovePassenger():
                path = [graph.route_index[route] for route in command.path]
                game.move_passenger(graph.city_index[command.city], path)
            case DrawTickets():
                decks = command.decks or self.state.rule_options.draw_tickets
                self.offer = game.draw_tickets([decks.get(name, 0) for name in self.state.own.ticket_decks])
                return
            case KeepTickets():
                game.keep_tickets(self.offer, command.keep)
            case RequestCards():
                game.request_cards()
            case DrawBlind() | DrawMarket():
                if self.draw(command) and not was_second and game.has_second_card():
                    self.is_second_card = True
                    return
            case Pass():
                game.pass_turn()
        game.end_turn()

    def draw(self, command: DrawBlind | DrawMarket) -> bool:
        """Returns whether a second card may follow."""
        if isinstance(command, DrawMarket):
            return self.game.draw_market(command.slot or 0) != WILD
        self.game.draw_blind()
        return True

    def compare(self) -> None:
        if self.state.result is not None:
            assert self.game.is_over
            assert final_points(self.game) == [score.total for score in self.state.result.scores]
        elif self.state.pending_choices.get(self.game.turn) != TICKETS:
            expected = compact(self.state)
            for name in COMPARED:
                assert getattr(self.game, name) == getattr(expected, name), name


def random_command(rng: Random, state: GameState, habit: tuple[type[Command], ...]) -> Command:
    commands = legal(state, min(state.pending_choices))
    liked = [command for command in commands if isinstance(command, habit)]
    return rng.choice(liked if liked and rng.randrange(4) else commands)


@pytest.mark.parametrize("games", short_and_long(2, 200 if SOAK else 12))
@pytest.mark.parametrize("rules", sorted(TRAIN_RULESETS))
def test_a_compact_game_follows_the_referee_through_random_games(rules: str, games: int) -> None:
    rebuilt = 0
    for number in range(games):
        rng = Random(number)
        both = BothGames(random_opening(rng, rules, number))
        habit = HABITS[number % len(HABITS)]
        while both.state.result is None:
            if number % 4 == 1 and rng.randrange(60) == 0 and ACTION in both.state.pending_choices.values():
                both.leave(rng.choice(both.state.active_seats))
            else:
                both.play(random_command(rng, both.state, habit))
                both.compare()
        rebuilt += both.game.rebuilt
    assert bool(rebuilt) == (not TRAIN_RULESETS[rules].has_command(RequestCards)), (
        "decks were rebuilt, where there is a market"
    )


@pytest.mark.parametrize("games", short_and_long(2, 200 if SOAK else 12))
@pytest.mark.parametrize("rules", sorted(TRAIN_RULESETS))
def test_a_rollout_plays_no_command_that_the_referee_refuses(rules: str, games: int) -> None:
    for number in range(games):
        state = random_opening(Random(number), rules, number)
        if number % 4 == 1:
            decide_and_apply(state, state.active_seats[-1], Leave())
        game = RefereedGame(state)
        points = RefereedRollout(game).play()
        assert game.state.result is not None, "the referee's game is over too"
        assert points == [score.total for score in game.state.result.scores]
