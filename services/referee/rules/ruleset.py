"""What a ruleset is: figures and parts, put together. Never a branch on its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from schemas.commands import ClaimRoute, Command
from schemas.events import Contributor, Event, SeatScore
from schemas.field_types import Seat
from schemas.rule_options import Parameters

if TYPE_CHECKING:
    from services.referee.rules.board import Board, Fare, Route
    from services.referee.rules.table import Choice, Table

Facts: TypeAlias = Iterator[Event]
Cards: TypeAlias = Mapping[str, int]
Hand: TypeAlias = Mapping[str | None, int]
OpenRoutes: TypeAlias = "Mapping[Fare, Mapping[str, None]]"
Payable: TypeAlias = Iterator[tuple[Iterable[str], Sequence[Mapping[str, ClaimRoute]]]]


class Move(NamedTuple):
    """One thing that a seat may do: what is worth offering, and what comes of it.

    `decide` checks everything before it yields its first event; each event is applied to
    the table before the next is asked for, so what follows sees what came before."""

    command: type[Command]
    offers: Callable[[Table, Seat], Sequence[Command]]
    decide: Callable[[Table, Seat, Any], Facts]


class Dealing(NamedTuple):
    """Where a game's chance comes from, and what is told of it when (docs/proof.md)."""

    order: Callable[[Table, Sequence[str]], tuple[str, ...]]  # these cards or tickets, shuffled
    root: Callable[[Table, Sequence[str]], str | None]  # what such an order is committed to by
    luck: Callable[[str, str, Seat, str | None], str | None]  # of a seat, from seed, game and policy
    contribution: Callable[[str, bool, Seat, str | None, str | None], tuple[str | None, Contributor | None]]
    reveal: Callable[[Table], Facts]  # at the end
    sealed: bool  # entries commit to what they hide


@dataclass(frozen=True, slots=True, eq=False)
class Ruleset:
    """A game's rules as a value; there is one of each. `version` rises when a rule's meaning changes."""

    name: str
    version: int
    board: str  # the board that it is usually played on
    figures: Parameters
    dealing: Dealing
    kinds: frozenset[str]  # of routes that it has rules for
    policies: frozenset[str]  # of bots that can play it
    moves: Mapping[Choice, tuple[Move, ...]]  # by what the table waits for
    setup: Callable[[Table], Facts]  # from the shuffled decks to the first choices
    tickets_suffice: Callable[[Parameters, Board, int], None]  # for so many seats, else refuses
    unchosen: Callable[[Table, Seat], Facts]  # starting tickets that a removed seat was just offered
    chosen: Callable[[Table], Facts]  # goes on when a starting choice was made, or its seat went out
    payable: Callable[[Hand, OpenRoutes, int, Parameters], Payable]  # what a hand and its cars can claim
    payment: tuple[Callable[[Cards, Route, Parameters], None], ...]  # each refuses what it is there to refuse
    longest: Callable[[Iterable[tuple[str, str, int]]], int]
    tie_breaks: tuple[
        Callable[[SeatScore, Sequence[SeatScore]], int], ...
    ]  # more is better, first counts most

    def move(self, choice: Choice, command: Command) -> Move | None:
        """The move that answers this choice with this command, if there is one."""
        for move in self.moves[choice]:
            if move.command is type(command):
                return move
        return None

    def has(self, command: type[Command]) -> bool:
        """Whether the command answers anything in these rules."""
        return any(move.command is command for moves in self.moves.values() for move in moves)
