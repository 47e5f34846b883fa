"""Rules of a card game with one bug each: a move, or what a seat or a table is made of, isn't as it should be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from schemas.commands import Command
from schemas.events import GameCreated, TurnStarted
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from services.referee.games import RULESETS
from services.referee.games.kit import LayTable
from services.referee.games.play_off import end_game
from services.referee.games.state import ACTION, EventStream, GameState, Move, Ruleset
from services.referee.games.tricks import CardPlayed, Hand, PlayCard, Table, TrickTaken

SOUND: Final = RULESETS["tricks"]
MOVE: Final = SOUND.moves[ACTION][0]


def with_move(
    *,
    offers: Callable[[GameState, Seat], Sequence[Command]] | None = None,
    decide: Callable[[GameState, Seat, Any], EventStream] | None = None,
) -> Ruleset:
    """The usual rules with another list, or other verdicts."""
    planted = Move(PlayCard, offers or MOVE.offers, decide or MOVE.decide)
    return replace(SOUND, moves={ACTION: (planted,)})


def with_parts(make_table: Callable[[], object], make_seat: Callable[[], object]) -> Ruleset:
    """The usual rules, where a table and a seat are made otherwise."""
    return replace(SOUND, own_appliers={**SOUND.own_appliers, GameCreated: LayTable(make_table, make_seat)})


def any_card(state: GameState, seat: Seat, command: PlayCard) -> EventStream:
    """Nobody has to follow suit, though the list says so."""
    if command.card not in state.seats[seat].own.cards:
        raise CommandRefusedError("HAND-1", "you don't hold it")
    yield CardPlayed(seat, command.card)
    if len(state.own.trick) == len(state.seats):
        yield TrickTaken(seat)
    yield from [TurnStarted(seat)] if state.seats[seat].own.cards else end_game(state, "all played")


def every_card(state: GameState, seat: Seat) -> Sequence[Command]:
    """Every card of the hand, whatever was led."""
    return [PlayCard(card) for card in state.seats[seat].own.cards if card is not None]


def nothing(state: GameState, seat: Seat) -> Sequence[Command]:
    """Nothing once a card lies there."""
    return [] if state.own.trick else MOVE.offers(state, seat)


def by_the_next_hand(state: GameState, seat: Seat) -> Sequence[Command]:
    """Fewer cards, where the next seat holds the highest of clubs."""
    listed, neighbour = MOVE.offers(state, seat), state.seats_after(seat)[0]
    return listed[:1] if "clubs-15" in state.seats[neighbour].own.cards else listed


def refused_by_the_next_hand(state: GameState, seat: Seat, command: PlayCard) -> EventStream:
    """A refusal that names a card of the next seat."""
    if command.card not in state.seats[seat].own.cards:
        held = state.seats[state.seats_after(seat)[0]].own.cards[0]
        raise CommandRefusedError("HAND-1", f"you hold no {command.card}, as little as {held}")
    return MOVE.decide(state, seat, command)


def without_end(state: GameState, seat: Seat, command: PlayCard) -> EventStream:
    """No card ever leaves a hand."""
    yield TurnStarted(state.seats_after(seat)[0])


def breaking(state: GameState, seat: Seat, command: PlayCard) -> EventStream:
    """Raises IndexError as soon as somebody has a trick."""
    if any(seat_state.own.tricks for seat_state in state.seats):
        return [*()][1]
    return MOVE.decide(state, seat, command)


@dataclass(slots=True)
class ForgetfulTable(Table):
    """Its copy has no cards of taken tricks."""

    def copy(self) -> ForgetfulTable:
        """All but the cards that were taken."""
        return ForgetfulTable([*self.deck], [*self.trick])


@dataclass(slots=True)
class SharedHand(Hand):
    """Its copy has the same list of cards."""

    def copy(self) -> SharedHand:
        """Another hand of the same cards, also after they are played."""
        return SharedHand(self.cards, self.tricks)


@dataclass
class UnpackedHand(Hand):
    """A snapshot of it has no tricks."""

    def copy(self) -> UnpackedHand:
        """Another hand with all of it."""
        return UnpackedHand([*self.cards], self.tricks)

    def __reduce__(self) -> tuple[type[UnpackedHand], tuple[list[str | None], int]]:
        return UnpackedHand, (self.cards, 0)


# by what is planted: the kind of finding, or each that may come first; and the rules
PLANTED: Final[Mapping[str, tuple[str, Ruleset]]] = {
    "nobody must follow suit": ("missed move", with_move(decide=any_card)),
    "more is listed than may be played": ("invented move", with_move(offers=every_card)),
    "nothing may be added to a trick": ("dead end", with_move(offers=nothing)),
    "a list that tells of another hand": ("leak", with_move(offers=by_the_next_hand)),
    "a refusal that tells of another hand": ("leak", with_move(decide=refused_by_the_next_hand)),
    "cards that are never played": ("endless", with_move(decide=without_end)),
    "a move that breaks": ("crash", with_move(decide=breaking)),
    "a copy that lacks a field": ("lost state", with_parts(ForgetfulTable, Hand)),
    "a copy that shares its cards": ("lost state, invented move, leak", with_parts(Table, SharedHand)),
    "a snapshot that lacks a field": ("lost state", with_parts(Table, UnpackedHand)),
}
