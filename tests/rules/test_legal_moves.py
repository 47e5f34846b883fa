"""`legal` lists exactly what the referee accepts, anywhere in random games of every ruleset."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings

from schemas.commands import FIELDS, Command, Pass
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    PayTunnel,
)
from schemas.trains.events import PassengerMoved
from services.referee.games import GameState, decide, legal
from services.referee.games.trains.train_state import TrainState
from tests.long_runs import long_after
from tests.rules.given import full_state
from tests.rules.random_commands import command_pool, near_misses
from tests.rules.random_games import RANDOM_GAMES, RandomGame
from tests.rules.test_properties import EVERY_RULESET, REPEATABLE

TRIED = 60  # of the legal moves of a seat, in one position


def normal_form(state: GameState, command: Command) -> object:
    """A command in a normal form: commands with the same effect have the same."""
    match command:
        case DrawMarket(slot, color):
            is_there = color in state.own.market if slot is None else slot < len(state.own.market)
            place = state.own.market.index(color) if slot is None and is_there else slot
            return (command.type, place if is_there else None)
        case DrawTickets(decks):
            fixed = None if state.rule_options.draw_named else held(state.rule_options.draw_tickets)
            named = held(decks or {})
            if state.turn is not None and is_any_mix_of_scarce_tickets(state, decks or {}):
                return (command.type, "all that are left")
            return (command.type, frozenset() if named == fixed else named)
        case KeepTickets(keep):
            return (command.type, tuple(sorted(keep)))
        case ClaimRoute(route, cards, passenger):
            return (command.type, route, held(cards), passenger)
        case PayTunnel(cards):
            return (command.type, held(cards))
        case BuildStation(city, cards, _):
            return (command.type, city, held(cards))
    return (command.type, *(getattr(command, name) for name in FIELDS[type(command)]))


def is_any_mix_of_scarce_tickets(state: GameState, decks: Mapping[str, int]) -> bool:
    """TICKET-3: fewer tickets are left than a mix has, and the command names them, or any mix."""
    options = state.rule_options
    left = {deck: len(state.own.ticket_decks[deck]) for deck in options.draw_tickets}
    is_a_mix = decks.keys() <= left.keys() and sum(decks.values()) == options.draw_named
    return sum(left.values()) < options.draw_named and (is_a_mix or held(decks) == held(left))


def held(cards: Mapping[str, int]) -> frozenset[tuple[str, int]]:
    return frozenset((card, count) for card, count in cards.items() if count)


def accepted(state: GameState, seat: Seat, command: Command) -> bool:
    try:
        return bool(decide(state, seat, command))
    except CommandRefusedError:
        return False


def neighbour_fits(state: GameState, command: Command) -> bool:
    """A station is offered without a neighbour, and accepted with any that there is."""
    if not isinstance(command, BuildStation) or command.neighbour is None:
        return True
    ends = {command.city, command.neighbour}
    return any({route.a, route.b} == ends for route in state.own.board.routes.values())


def moved(state: GameState, seat: Seat, command: MovePassenger) -> PassengerMoved | None:
    try:
        moved_event = decide(state, seat, command)[0]
    except CommandRefusedError:
        return None
    assert isinstance(moved_event, PassengerMoved)
    return moved_event


def check_legal(play: RandomGame, seat: Seat) -> None:
    state, rng = play.state, play.rng
    listed: list[Command] = legal(state, seat)
    walks = [command for command in listed if isinstance(command, MovePassenger)]
    others = [command for command in listed if not isinstance(command, MovePassenger)]
    meanings = {normal_form(state, command) for command in others}
    assert len(meanings) == len(others)
    sample = rng.sample(others, min(len(others), TRIED))
    for offer in sample:
        assert accepted(state, seat, offer), offer
    tried = [
        command for offer in (*sample[:20], *walks) for command in near_misses(rng, state, offer)
    ] + command_pool(rng, state)
    for command in tried:
        if not isinstance(command, MovePassenger):
            expected = normal_form(state, command) in meanings and neighbour_fits(state, command)
            assert accepted(state, seat, command) == expected, command
    check_walks(state, seat, walks, [walk for walk in tried if isinstance(walk, MovePassenger)])


def check_idle(play: RandomGame, seat: Seat) -> None:
    """The game doesn't wait for this seat: no command of it is accepted."""
    assert legal(play.state, seat) == []
    pool = command_pool(play.rng, play.state)
    for command in play.rng.sample(pool, min(len(pool), 10)):
        assert not accepted(play.state, seat, command), command


def check_walks(state: GameState, seat: Seat, walks: list[MovePassenger], tried: list[MovePassenger]) -> None:
    """Of the very many journeys the best are offered: every one is accepted, and whatever else is
    accepted brings no more for as many cards."""
    offered = [moved(state, seat, walk) for walk in walks]
    assert None not in offered
    for walk in tried:
        if moved_event := moved(state, seat, walk):
            assert any(
                best.city == walk.city
                and best.cards <= moved_event.cards
                and best.points >= moved_event.points
                for best in offered
                if best is not None
            ), walk


@pytest.mark.parametrize("examples", long_after(1, (2, 6)))
@EVERY_RULESET
def test_what_is_legal_is_what_decide_accepts(rules: str, examples: int) -> None:
    @settings(REPEATABLE, max_examples=examples)
    @given(RANDOM_GAMES[rules])
    def holds(play: RandomGame) -> None:
        state, when = play.state, {0, 1, *(play.rng.randrange(250) for _ in range(8))}
        for number in play.steps():
            stuck = state.turn is not None and legal(state, state.turn) == [Pass()]
            in_tunnel = isinstance(state.own, TrainState) and state.own.tunnel
            if number in when or in_tunnel or (stuck and play.rng.random() < 0.5):
                before = full_state(state)
                for seat in range(play.seats):
                    (check_legal if seat in state.pending_choices else check_idle)(play, seat)
                assert full_state(state) == before

    holds()
