"""What a ruleset is: figures and parts, put together. Never a branch on its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from schemas.commands import ClaimRoute, Command
from schemas.events import Contributor, Event, SeatScore
from schemas.field_types import Seat
from schemas.rule_options import RuleOptions

if TYPE_CHECKING:
    from services.referee.rules.board import Board, Fare, Route
    from services.referee.rules.state import Choice, GameState

EventStream: TypeAlias = Iterator[Event]
Cards: TypeAlias = Mapping[str, int]
Hand: TypeAlias = Mapping[str | None, int]
OpenRoutes: TypeAlias = "Mapping[Fare, Mapping[str, None]]"
PayableRoutes: TypeAlias = Iterator[tuple[Iterable[str], Sequence[Mapping[str, ClaimRoute]]]]


class Move(NamedTuple):
    """One thing that a seat may do: what is worth offering, and what comes of it.

    `decide` checks everything before it yields its first event; each event is applied to
    the table before the next is asked for, so what follows sees what came before."""

    command: type[Command]
    offers: Callable[[GameState, Seat], Sequence[Command]]
    decide: Callable[[GameState, Seat, Any], EventStream]


class RandomnessPolicy(NamedTuple):
    """Where a game's chance comes from, and what is told of it when (docs/proof.md)."""

    shuffle: Callable[[GameState, Sequence[str]], tuple[str, ...]]  # these cards or tickets, shuffled
    order_root: Callable[[GameState, Sequence[str]], str | None]  # what such an order is committed to by
    seat_secret: Callable[[str, str, Seat, str | None], str | None]  # of a seat, from seed, game and policy
    contribution: Callable[[str, bool, Seat, str | None, str | None], tuple[str | None, Contributor | None]]
    reveal_seed: Callable[[GameState], EventStream]  # at the end
    sealed: bool  # entries commit to what they hide


@dataclass(frozen=True, slots=True, eq=False)
class Ruleset:
    """A game's rules as a value; there is one of each. `version` rises when a rule's meaning changes."""

    name: str
    version: int
    default_board: str  # the board that it is usually played on
    rule_options: RuleOptions
    randomness: RandomnessPolicy
    route_kinds: frozenset[str]  # of routes that it has rules for
    bot_policies: frozenset[str]  # of bots that can play it
    moves: Mapping[Choice, tuple[Move, ...]]  # by what the table waits for
    setup: Callable[[GameState], EventStream]  # from the shuffled decks to the first choices
    require_enough_tickets: Callable[[RuleOptions, Board, int], None]  # for so many seats, else refuses
    resolve_open_offer: Callable[
        [GameState, Seat], EventStream
    ]  # starting tickets that a removed seat was just offered
    after_start_choice: Callable[
        [GameState], EventStream
    ]  # goes on when a starting choice was made, or its seat went out
    find_payable_routes: Callable[
        [Hand, OpenRoutes, int, RuleOptions], PayableRoutes
    ]  # what a hand and its cars can claim
    payment_checks: tuple[
        Callable[[Cards, Route, RuleOptions], None], ...
    ]  # each refuses what it is there to refuse
    measure_longest: Callable[[Iterable[tuple[str, str, int]]], int]
    tie_breaks: tuple[
        Callable[[SeatScore, Sequence[SeatScore]], int], ...
    ]  # more is better, first counts most

    def find_move(self, choice: Choice, command: Command) -> Move | None:
        """The move that answers this choice with this command, if there is one."""
        for move in self.moves[choice]:
            if move.command is type(command):
                return move
        return None

    def has_command(self, command: type[Command]) -> bool:
        """Whether the command answers anything in these rules."""
        return any(move.command is command for moves in self.moves.values() for move in moves)
