"""Commands as numbers for an agent: places in a fixed list of every command, or among the legal ones of the moment.

`legal` gives mostly the same few objects, made once. They are looked up by identity, which holds as long as they are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schemas.commands import Command, Pass, write_command
from schemas.errors import InvalidInputError
from schemas.published_contracts import COMMANDS
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    PayTunnel,
    RequestCards,
)
from schemas.trains.field_types import LOCOMOTIVE, PLUS_FOUR
from schemas.trains.rule_options import RuleOptions
from services.referee.games.state import Ruleset
from services.referee.games.trains.board import ticket_decks
from services.referee.games.trains.train_state import TrainGame

ActionKind = Literal["fixed", "candidates"]
Mask: TypeAlias = NDArray[np.int8]
FIXED_COMMANDS: Final = frozenset(
    (DrawBlind, DrawMarket, DrawTickets, KeepTickets, ClaimRoute, RequestCards, Pass)
)
MAX_CANDIDATES: Final = 512  # in a list: 431 were met with four seats
WILD_CARDS: Final = (LOCOMOTIVE, PLUS_FOUR)
_CODES: Final = {cls: cls.code for cls in COMMANDS if isinstance(cls.code, int)}
PLENTY: Final = 100  # of every kind of card
MAX_KEPT: Final = 50_000  # commands that are known by identity, before they are forgotten
FEATURES: Final = (
    "command", "route", "city", "colour", "coloured", "locomotives", "plus_fours", "slot", "tickets", "routes",
)  # fmt: skip


class PlacesByIdentity:
    """Places of commands that were seen before, by the identity of the command, which is kept as long."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, Command]] = {}

    def __reduce__(self) -> tuple[type[PlacesByIdentity], tuple[()]]:
        """In another process no command has the identity that it has here."""
        return PlacesByIdentity, ()

    def places(
        self, commands: Sequence[Command], add: Callable[[Sequence[Command], int], Iterable[int]]
    ) -> list[int]:
        """Their places. `add` gives those of commands that are new, from them and from how many are kept."""
        known = self._known
        try:
            return [known[id(command)][0] for command in commands]
        except KeyError:
            pass
        if len(known) + len(commands) > MAX_KEPT:
            known.clear()
        new = [command for command in commands if id(command) not in known]
        for command, place in zip(new, add(new, len(known)), strict=True):
            known[id(command)] = place, command
        return [known[id(command)][0] for command in commands]


class FixedActions:
    """An action is a place in the list of all commands that there can be in such a game."""

    def __init__(self, state: TrainGame) -> None:
        """The actions of games like this one. Raises InvalidInputError: its rules have commands that no list can have."""
        answers = {move.command for moves in state.ruleset.moves.values() for move in moves}
        if not answers <= FIXED_COMMANDS:
            reason = f"the rules {state.ruleset.name} have no fixed list; take 'candidates'"
            raise InvalidInputError("actions", reason)
        self.commands = tuple(_every_command(state, answers))
        self.size = len(self.commands)
        self._place_by_key = {_key(command): place for place, command in enumerate(self.commands)}
        self._places = PlacesByIdentity()

    def __deepcopy__(self, memo: object) -> FixedActions:
        """Itself: what it keeps of commands holds for every game of its kind."""
        return self

    def mask(self, legal: Sequence[Command]) -> Mask:
        """1 for every legal command, 0 for the others."""
        mask = np.zeros(self.size, np.int8)
        mask[self._places.places(legal, self._find)] = 1
        return mask

    def _find(self, commands: Sequence[Command], _: int) -> list[int]:
        return [self._place_by_key[_key(command)] for command in commands]

    def command(self, action: int, legal: Sequence[Command]) -> Command:
        """The command of an action that the mask allows."""
        return self.commands[action]


class CandidateActions:
    """An action is a place in the list of the commands that are legal now; each command has a row of numbers."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._places = PlacesByIdentity()
        self._table = _no_rows()  # a row for each known command

    def __deepcopy__(self, memo: object) -> CandidateActions:
        """Itself: what it keeps of commands holds for every game of its kind."""
        return self

    def __getstate__(self) -> dict[str, object]:
        """All but the rows, which belong to commands known by identity."""
        return {name: value for name, value in self.__dict__.items() if name != "_table"}

    def __setstate__(self, fields: Mapping[str, object]) -> None:
        """Begin with no rows."""
        self.__dict__.update(fields, _table=_no_rows())

    def mask(self, legal: Sequence[Command]) -> Mask:
        """1 for every place in the list that is taken, 0 for the others."""
        mask = np.zeros(self.size, np.int8)
        mask[: len(legal)] = 1
        return mask

    def command(self, action: int, legal: Sequence[Command]) -> Command:
        """The command of an action that the mask allows."""
        return legal[action]

    def rows(self, legal: Sequence[Command]) -> NDArray[np.int16]:
        """The row of each command, in the order of FEATURES; the rest are rows of 0."""
        rows = np.zeros((self.size, len(FEATURES)), np.int16)
        rows[: len(legal)] = self._table[self._places.places(legal, self._add_rows)]
        return rows

    def _add_rows(self, commands: Sequence[Command], start: int) -> range:
        places = range(start, start + len(commands))
        self._table[start : places.stop] = [self._describe(command) for command in commands]
        return places

    def _describe(self, command: Command) -> tuple[int, ...]:
        """The row of a command, as many numbers as FEATURES."""
        raise NotImplementedError


class TrainActions(CandidateActions):
    """The candidates of a train game."""

    def __init__(self, state: TrainGame, size: int) -> None:
        super().__init__(size)
        table = state.own
        self._routes = {name: place + 1 for place, name in enumerate(table.board.routes)}
        self._cities = {name: place + 1 for place, name in enumerate(table.board.cities)}
        self._kinds = {name: place + 1 for place, name in enumerate(state.rule_options.cards)}
        self._decks = {deck: 10**place for place, deck in enumerate(ticket_decks(state.rule_options))}

    def _describe(self, command: Command) -> tuple[int, ...]:
        """The row of a command, in the order of FEATURES."""
        route = city = slot = tickets = routes = 0
        cards: Mapping[str, int] = {}
        if isinstance(command, ClaimRoute):
            route, cards = self._routes[command.route], command.cards
            city = self._cities[command.passenger] if command.passenger else 0
        elif isinstance(command, BuildStation):
            city, cards = self._cities[command.city], command.cards
        elif isinstance(command, PayTunnel):
            cards = command.cards
        elif isinstance(command, DrawMarket):
            slot = 0 if command.slot is None else command.slot + 1
        elif isinstance(command, KeepTickets):
            tickets = sum(1 << place for place in command.keep)
        elif isinstance(command, DrawTickets):
            tickets = sum(count * self._decks[deck] for deck, count in (command.decks or {}).items())
        elif isinstance(command, MovePassenger):
            city, route, routes = (
                self._cities[command.city],
                self._routes[command.path[-1]],
                len(command.path),
            )
        colour = coloured = 0
        for card in cards:
            if card not in WILD_CARDS:
                colour, coloured = self._kinds[card], cards[card]
        wild = cards.get(LOCOMOTIVE, 0), cards.get(PLUS_FOUR, 0)
        return (_CODES[command.__class__], route, city, colour, coloured, *wild, slot, tickets, routes)


def _no_rows() -> NDArray[np.int16]:
    return np.zeros((MAX_KEPT, len(FEATURES)), np.int16)


def _every_command(state: TrainGame, answers: set[type[Command]]) -> Iterator[Command]:
    """Every command that a seat of such a game may ever give, but leaving."""
    rule_options = state.rule_options
    yield from (cls() for cls in (DrawBlind, RequestCards, Pass) if cls in answers)
    if DrawMarket in answers:
        yield from (DrawMarket(slot) for slot in range(rule_options.market))
    if DrawTickets in answers:
        yield DrawTickets()
    yield from _every_keeping(rule_options)
    yield from every_claim(state.ruleset, state, rule_options)


def _every_keeping(rule_options: RuleOptions) -> Iterator[KeepTickets]:
    offered = max(sum(rule_options.start_tickets.values()), sum(rule_options.draw_tickets.values()))
    for size in range(offered + 1):
        yield from (KeepTickets(keep) for keep in combinations(range(offered), size))


def every_claim(ruleset: Ruleset, state: TrainGame, rule_options: RuleOptions) -> Iterator[ClaimRoute]:
    """Every route of the board with every way to pay for it."""
    hand = dict.fromkeys(state.seats[0].own.hand, PLENTY)
    for routes, ways in ruleset.parts.find_payable_routes(
        hand, dict(state.own.board.fares), PLENTY, rule_options
    ):
        yield from (claims[route] for route in routes for claims in ways)


def _key(command: Command) -> str:
    return json.dumps(write_command(command), sort_keys=True)
