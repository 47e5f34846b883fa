"""Rulesets with one bug each: a move of the usual one decides, or lists, what it shouldn't."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any, Final

import pytest

from schemas.commands import Command
from schemas.events import TurnStarted
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from schemas.trains.commands import DrawBlind, DrawMarket, DrawTickets, KeepTickets
from services.referee.games import RULESETS as SOUND_RULESETS
from services.referee.games.found_games import RULESET_VERSIONS
from services.referee.games.state import ACTION, EventStream, GameState, Move, Ruleset
from services.referee.games.trains.moves.cards import DRAW_BLIND, blind_offers, draw_blind, market_offers
from services.referee.games.trains.moves.tickets import draw_offers, draw_tickets, keep_offers
from services.referee.games.trains.rulesets import USA

Offers = Callable[[GameState, Seat], Sequence[Command]]
Decide = Callable[[GameState, Seat, Any], EventStream]  # a command of the class that it decides
_TURNS: Final = count()


def with_move(
    command: type[Command], *, offers: Offers | None = None, decide: Decide | None = None
) -> Ruleset:
    """The usual rules, with another move of this command wherever it answers a choice."""

    def planted(move: Move) -> Move:
        if move.command is not command:
            return move
        return replace(move, offers=offers or move.offers, decide=decide or move.decide)

    return replace(USA, moves={choice: tuple(map(planted, moves)) for choice, moves in USA.moves.items()})


def draw_that_breaks(state: GameState, seat: Seat, command: DrawTickets) -> EventStream:
    """Raises KeyError once somebody has a route."""
    if state.own.route_owners:
        raise KeyError("no such deck")
    return draw_tickets(state, seat, command)


def draw_without_end(state: GameState, seat: Seat, command: DrawBlind) -> EventStream:
    """The next turn begins, and nothing else happens."""
    yield TurnStarted(state.seats_after(seat)[0])


def no_draw(state: GameState, seat: Seat, command: DrawTickets) -> EventStream:
    """No ticket can be drawn."""
    raise CommandRefusedError("TICKET-1", "no ticket is left")


def not_offered(state: GameState, seat: Seat) -> Sequence[Command]:
    """No draw of tickets at all."""
    return ()


def nothing_to_keep(state: GameState, seat: Seat) -> Sequence[Command]:
    """No choice at all among tickets that are drawn during the game."""
    return keep_offers(state, seat) if state.turn is None else ()


def a_slot_too_many(state: GameState, seat: Seat) -> Sequence[Command]:
    """A draw from a slot that no market has, once cards were discarded."""
    more = [DrawMarket(9)] if any(state.own.discards.values()) else []
    return [*market_offers(state, seat), *more]


def no_late_tickets(state: GameState, seat: Seat) -> Sequence[Command]:
    """No draw of tickets once somebody has a route, though it is accepted."""
    return () if state.own.route_owners else draw_offers(state, seat)


def by_the_next_card(state: GameState, seat: Seat) -> Sequence[Command]:
    """A blind draw is listed by the card that it would bring."""
    return () if state.own.deck and state.own.deck[-1] == "red" else blind_offers(state, seat)


def refused_by_the_next_card(state: GameState, seat: Seat, command: DrawMarket) -> EventStream:
    """The refusal says what lies face down."""
    if command.color is not None:
        raise CommandRefusedError("CARD-1", f"take the {state.own.deck[-1]} from the deck")
    return _draw_market(state, seat, command)


def draw_by_chance(state: GameState, seat: Seat, command: DrawBlind) -> EventStream:
    """Every thirtieth draw ever ends the turn at once."""
    if state.own.deck and next(_TURNS) % 30 == 0:
        yield from draw_without_end(state, seat, command)
    else:
        yield from draw_blind(state, seat, command)


NO_DRAW: Final = Move(DrawTickets, not_offered, no_draw)
_draw_market: Final[Decide] = next(move.decide for move in USA.moves[ACTION] if move.command is DrawMarket)
RULESETS: Final[
    Mapping[str, tuple[str, Ruleset]]
] = {  # by what is planted: the kind of finding, or each that may come first; and the rules
    "a move that breaks": ("crash", with_move(DrawTickets, decide=draw_that_breaks)),
    "a choice without a command": ("dead end", with_move(KeepTickets, offers=nothing_to_keep)),
    "a turn without an effect": (
        "endless",
        replace(USA, moves={**USA.moves, ACTION: (replace(DRAW_BLIND, decide=draw_without_end), NO_DRAW)}),
    ),
    "a listed command that is refused": ("invented move", with_move(DrawMarket, offers=a_slot_too_many)),
    "an accepted command that isn't listed": ("missed move", with_move(DrawTickets, offers=no_late_tickets)),
    "a list that tells the next card": ("leak", with_move(DrawBlind, offers=by_the_next_card)),
    "a refusal that tells the next card": ("leak", with_move(DrawMarket, decide=refused_by_the_next_card)),
    "a decision by chance": ("other replay, lost state", with_move(DrawBlind, decide=draw_by_chance)),
}


@contextmanager
def standing_in(ruleset: Ruleset) -> Iterator[None]:
    """The ruleset stands for the sound one of its name, in new games and in logs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SOUND_RULESETS, ruleset.name, ruleset)
        patch.setitem(RULESET_VERSIONS, (ruleset.name, ruleset.version), ruleset)
        yield
