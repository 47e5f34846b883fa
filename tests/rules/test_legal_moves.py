"""What is legal is what the referee accepts, both ways, anywhere in random games of every ruleset."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, settings

from schemas.commands import (
    BuildStation,
    ClaimRoute,
    Command,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    Pass,
    PayTunnel,
)
from schemas.events import PassengerMoved
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from services.referee.rules import GameState, decide, legal
from tests.rules.given import everything
from tests.rules.random_commands import bent, pool
from tests.rules.random_games import Play, games
from tests.rules.test_properties import EVERY_RULESET, REPEATABLE

TRIED = 60  # of the legal moves of a seat, in one position


def meaning(table: GameState, command: Command) -> object:
    """What a command comes down to, whichever way it is put."""
    match command:
        case DrawMarket(slot, color):
            lies = color in table.market if slot is None else slot < len(table.market)
            place = table.market.index(color) if slot is None and lies else slot
            return (command.type, place if lies else None)
        case DrawTickets(decks):
            fixed = None if table.rule_options.draw_named else held(table.rule_options.draw_tickets)
            named = held(decks or {})
            return (command.type, frozenset() if named == fixed else named)
        case KeepTickets(keep):
            return (command.type, tuple(sorted(keep)))
        case ClaimRoute(route, cards, passenger):
            return (command.type, route, held(cards), passenger)
        case PayTunnel(cards):
            return (command.type, held(cards))
        case BuildStation(city, cards, _):
            return (command.type, city, held(cards))
    return command.type


def held(cards: Mapping[str, int]) -> frozenset[tuple[str, int]]:
    return frozenset((card, count) for card, count in cards.items() if count)


def accepted(table: GameState, seat: Seat, command: Command) -> bool:
    try:
        return bool(decide(table, seat, command))
    except CommandRefusedError:
        return False


def neighbour_fits(table: GameState, command: Command) -> bool:
    """A station is offered without a neighbour, and accepted with any that there is."""
    if not isinstance(command, BuildStation) or command.neighbour is None:
        return True
    ends = {command.city, command.neighbour}
    return any({route.a, route.b} == ends for route in table.board.routes.values())


def moved(table: GameState, seat: Seat, command: MovePassenger) -> PassengerMoved | None:
    try:
        told = decide(table, seat, command)[0]
    except CommandRefusedError:
        return None
    assert isinstance(told, PassengerMoved)
    return told


def check_legal(play: Play, seat: Seat) -> None:
    table, dice = play.table, play.dice
    listed: list[Command] = legal(table, seat)
    walks = [command for command in listed if isinstance(command, MovePassenger)]
    others = [command for command in listed if not isinstance(command, MovePassenger)]
    meanings = {meaning(table, command) for command in others}
    assert len(meanings) == len(others)
    sample = dice.sample(others, min(len(others), TRIED))
    for offer in sample:
        assert accepted(table, seat, offer), offer
    tried = [wish for offer in (*sample[:20], *walks) for wish in bent(dice, table, offer)] + pool(
        dice, table
    )
    for command in tried:
        if not isinstance(command, MovePassenger):
            expected = meaning(table, command) in meanings and neighbour_fits(table, command)
            assert accepted(table, seat, command) == expected, command
    check_walks(table, seat, walks, [walk for walk in tried if isinstance(walk, MovePassenger)])


def check_idle(play: Play, seat: Seat) -> None:
    """The table doesn't wait for this seat: nothing that it may think of is accepted."""
    assert legal(play.table, seat) == []
    for command in play.dice.sample(pool(play.dice, play.table), 10):
        assert not accepted(play.table, seat, command), command


def check_walks(table: GameState, seat: Seat, walks: list[MovePassenger], tried: list[MovePassenger]) -> None:
    """Of the very many journeys the best are offered: every one is accepted, and whatever else is
    accepted brings no more for as many cards."""
    offered = [moved(table, seat, walk) for walk in walks]
    assert None not in offered
    for walk in tried:
        if told := moved(table, seat, walk):
            assert any(
                best.city == walk.city and best.cards <= told.cards and best.points >= told.points
                for best in offered
                if best is not None
            ), walk


@EVERY_RULESET
def test_what_is_legal_is_what_decide_accepts(rules: str) -> None:
    @settings(REPEATABLE, max_examples=15)
    @given(games[rules])
    def holds(play: Play) -> None:
        table, when = play.table, {0, 1, *(play.dice.randrange(250) for _ in range(8))}
        for number in play.steps():
            stuck = table.turn is not None and legal(table, table.turn) == [Pass()]
            if number in when or table.tunnel or (stuck and play.dice.random() < 0.5):
                before = everything(table)
                for seat in range(play.seats):
                    (check_legal if seat in table.pending_choices else check_idle)(play, seat)
                assert everything(table) == before

    holds()
