"""Turns: who is next, when the last turns begin, and how a game ends (TURN-*, END-*)."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.commands import Pass
from schemas.events import (
    EndReason,
    GameEnded,
    LastTurnsBegan,
    Passed,
    RevealedDiscarded,
    TicketsShown,
    TurnStarted,
)  # fmt: skip
from schemas.field_types import Seat
from schemas.refusals import require
from services.referee.rules.moves.market import fill_market
from services.referee.rules.moves.play_off import play_off
from services.referee.rules.ruleset import Facts, Move
from services.referee.rules.scoring import score
from services.referee.rules.table import Table


def end_turn(table: Table, seat: Seat) -> Facts:
    """The seat's turn is over: begin the last turns if it triggers them, then the next turn."""
    if table.tunnel is not None or None in table.market:
        yield from clear_up(table)
    figures, place = table.figures, table.places[seat]
    if place.cars <= figures.last_cars and not table.ending and place.gone is None:
        others = figures.last_turns == "others"
        last = (s for s in table.following(seat) if not (others and s == seat))
        yield LastTurnsBegan(tuple(s for s in last if table.places[s].gone is None))
    yield from next_turn(table, seat)


def clear_up(table: Table) -> Facts:
    """Turned-up cards of a tunnel go (TUNNEL-4); then gaps that stayed open for want of cards
    are filled (CARD-4)."""
    if table.tunnel is not None:
        yield RevealedDiscarded()
    if None in table.market:
        yield from fill_market(table)


def next_turn(table: Table, seat: Seat) -> Facts:
    """The next seat that takes part begins; without one the game is over."""
    for following in table.following(seat):
        if table.places[following].gone is None and (not table.ending or following in table.last):
            yield TurnStarted(following)
            return
    if table.playing:
        yield from end_game(table, "last turns")
    else:
        slow = all(place.gone == "out of time" for place in table.places)
        yield from end_game(table, "out of time" if slow else "all gone")


def first_turn(table: Table) -> Facts:
    """Setting up is done: the first seat that takes part begins."""
    yield from next_turn(table, table.order[-1])


def end_game(table: Table, reason: EndReason) -> Facts:
    """Tickets are laid open and everything is counted."""
    for seat, place in enumerate(table.places):
        if place.gone != "removed":
            yield TicketsShown(seat, tuple(ticket for ticket in place.tickets if ticket is not None))
    scores = score(table)
    yield from play_off(table, scores)
    yield from table.rules.dealing.reveal(table)
    yield GameEnded(reason, scores)


def no_pass(table: Table, seat: Seat) -> Sequence[Pass]:
    """Passing is no choice: `legal` offers it where nothing else is (TURN-4)."""
    return ()


def passes(table: Table, seat: Seat, command: Pass) -> Facts:
    able = any(move.offers(table, seat) for move in table.rules.moves[table.awaits[seat]])
    require(not able, "TURN-4", "there is something that you can do")
    yield Passed(seat)
    if table.passed.issuperset(table.playing):
        yield from end_game(table, "all passed")
    else:
        yield from end_turn(table, seat)


PASS = Move(Pass, no_pass, passes)
