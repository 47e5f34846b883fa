"""What a ruleset is: rule options and parts, put together. No code branches on a ruleset's name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from schemas.commands import Command
from schemas.events import Event, SeatScore
from schemas.field_types import Seat
from schemas.registry import OfItsKey
from schemas.rule_options import RuleOptions
from services.referee.rules.frozen_classes import pickle_by_fields

if TYPE_CHECKING:
    from services.referee.rules.board import Board, Fare, Route
    from services.referee.rules.moves.payment import ClaimsByRoute
    from services.referee.rules.state import Choice, GameState

EventStream: TypeAlias = Iterable[Event]  # lazily: each is applied before the next is asked for
Cards: TypeAlias = Mapping[str, int]
Hand: TypeAlias = dict[str | None, int]
OpenRoutes: TypeAlias = "dict[Fare, tuple[str, ...]]"
PayableRoutes: TypeAlias = "list[tuple[tuple[str, ...], list[ClaimsByRoute]]]"


@dataclass(frozen=True, slots=True)
class Move:
    """One kind of action: `offers` lists the commands worth proposing, `decide` gives a command's events.

    `decide` checks everything before it yields its first event. Each event is applied to the state before
    the next is asked for, so later events depend on earlier ones."""

    command: type[Command]
    offers: Callable[[GameState, Seat], Sequence[Command]]
    decide: Callable[[GameState, Seat, OfItsKey], EventStream]  # of a command of the class `command`


class RandomnessPolicy(NamedTuple):
    """How cards and tickets are shuffled, and what commits to their order (docs/proof.md)."""

    shuffle: Callable[[GameState, Sequence[str]], tuple[str, ...]]  # cards or tickets, shuffled
    order_root: Callable[[GameState, Sequence[str]], str]  # the commitment to that order


@dataclass(frozen=True, slots=True, eq=False)
class Ruleset:
    """The rules of a game as a value, compared by identity. `version` rises when a rule's meaning changes."""

    name: str
    version: int
    default_board: str  # the board of a game that names none
    rule_options: RuleOptions
    randomness: RandomnessPolicy
    route_kinds: frozenset[str]  # the kinds of routes that it has rules for
    bot_policies: frozenset[str]  # the policies that can play it
    moves: Mapping[Choice, tuple[Move, ...]]  # by the choice that they answer
    setup: Callable[[GameState], EventStream]  # from the shuffled decks to the first choices
    # the deck when it has fewer cards than are needed
    rebuild_deck: Callable[[GameState], EventStream]
    # refuses a board that these rules can't be played on
    require_board: Callable[[RuleOptions, Board], None]
    # refuses a game whose board has too few tickets for so many seats
    require_enough_tickets: Callable[[RuleOptions, Board, int], None]
    # what a seat gives back that is removed before it has chosen its starting tickets
    return_unchosen: Callable[[GameState, Seat], EventStream]
    # after a starting choice was made, or its seat left the game
    after_start_choice: Callable[[GameState], EventStream]
    # what a hand and a number of cars can claim
    find_payable_routes: Callable[[Hand, OpenRoutes, int, RuleOptions], PayableRoutes]
    # each refuses one kind of wrong payment
    payment_checks: tuple[Callable[[Cards, Route, RuleOptions], None], ...]
    measure_longest: Callable[[Iterable[tuple[str, str, int]]], int]  # (city, city, spaces) to spaces
    # higher wins; the first decides before the second
    tie_breaks: tuple[Callable[[SeatScore, Sequence[SeatScore]], int], ...]

    def has_command(self, command: type[Command]) -> bool:
        """Whether the command answers anything in these rules."""
        return any(move.command is command for moves in self.moves.values() for move in moves)


pickle_by_fields(Move, Ruleset)
