"""Observations and candidates as numbers of a fixed layout, for any game whose table is described in parts; rewards.

A command is a place in a fixed list of every command, or among the legal ones of the moment. `legal` gives mostly the same
few objects, made once. They are looked up by identity, which holds as long as they are kept.

A word (a card's name) is its place in the sorted list of all words that the game's own state has once it is dealt.
A family of games may have forms of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice, pairwise
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schemas.commands import FIELDS as COMMAND_FIELDS
from schemas.commands import Command, write_command
from schemas.errors import InvalidInputError
from schemas.field_types import HIDDEN, Seat
from schemas.registry import OfItsGame
from services.referee.games import GameState
from services.referee.games.kit import texts_in
from services.referee.games.state import TablePart

ActionKind = Literal["fixed", "candidates"]
Mask: TypeAlias = NDArray[np.int8]
MAX_CANDIDATES: Final = 512  # in a list: 431 were met with four seats
ROW_SIZE: Final = 10  # numbers that describe a candidate
MAX_KEPT: Final = 50_000  # commands that are known by identity, before they are forgotten


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

    def __init__(self, commands: Iterable[Command]) -> None:
        self.commands = tuple(commands)
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
        """The row of each command, ROW_SIZE numbers; the rest are rows of 0."""
        rows = np.zeros((self.size, ROW_SIZE), np.int16)
        rows[: len(legal)] = self._table[self._places.places(legal, self._add_rows)]
        return rows

    def _add_rows(self, commands: Sequence[Command], start: int) -> range:
        places = range(start, start + len(commands))
        self._table[start : places.stop] = [self._describe(command) for command in commands]
        return places

    def _describe(self, command: Command) -> tuple[int, ...]:
        """The row of a command, ROW_SIZE numbers."""
        raise NotImplementedError


def _no_rows() -> NDArray[np.int16]:
    return np.zeros((MAX_KEPT, ROW_SIZE), np.int16)


def _key(command: Command) -> str:
    return json.dumps(write_command(command), sort_keys=True)


Reward = Literal["win", "points"]
Numbers: TypeAlias = NDArray[np.int16]
NUMBER: Final = np.iinfo(np.int16)
KERNEL_SEAT_FIELDS: Final = ("is_to_act", "is_gone")


class PartsObservation:
    """The layout of observations of one kind of game, by the parts of its table as they are dealt. It never changes."""

    def __init__(self, state: GameState) -> None:
        """The layout for games like this one, which was dealt."""
        seats = len(state.seats)
        self.words = _words_of(state)
        self._numbers = {word: place for place, word in enumerate(self.words, 1)}
        self.choices = tuple(sorted(state.ruleset.moves))
        sizes = {"choice": len(self.choices), "seats": seats * len(KERNEL_SEAT_FIELDS)}
        for part in _parts_of(state, 0):
            sizes[_name_of(part, 0, seats)] = 1 if part.cards is None else 1 + 2 * len(self.words)
        ends = [0, *accumulate(sizes.values())]
        self.size = ends[-1]
        self.layout: Mapping[str, slice] = {
            name: slice(start, end) for name, (start, end) in zip(sizes, pairwise(ends), strict=True)
        }

    def __deepcopy__(self, memo: object) -> PartsObservation:
        """Itself, which copies of an environment share."""
        return self

    def encode(self, view: GameState, seat: Seat) -> Numbers:
        """The observation of this seat, `size` whole numbers laid out as `layout` says. Raises InvalidInputError: the game
        describes a part that it hadn't when it was dealt."""
        row, count = np.zeros(self.size, np.int16), len(view.seats)
        row[self.layout["choice"]] = [view.pending_choices.get(seat) == each for each in self.choices]
        row[self.layout["seats"]] = [
            number
            for other in (*range(seat, count), *range(seat))
            for number in (other in view.pending_choices, view.seats[other].exit_reason is not None)
        ]
        for part in _parts_of(view, seat):
            name = _name_of(part, seat, count)
            if name not in self.layout:
                raise InvalidInputError(
                    "observation", f"{view.ruleset.name} had no part {name!r} when it was dealt"
                )
            row[self.layout[name]] = self._part(part)
        return row

    def _part(self, part: TablePart) -> list[int]:
        """A number, a text's word; or of cards how many are hidden, then by word how many there are, and the first one's place."""
        if part.cards is None:
            number = self._numbers.get(part.text or "", 0) if part.number is None else part.number
            return [max(NUMBER.min, min(NUMBER.max, number))]
        known = [card for card in part.cards if card is not HIDDEN]
        places = {card: place for place, card in reversed([*enumerate(part.cards, 1)])}
        counts = (known.count(word) for word in self.words)
        return [len(part.cards) - len(known), *counts, *(places.get(word, 0) for word in self.words)]


class PartsActions(CandidateActions):
    """An action is a place in the list of the commands that are legal now; each command has a row of numbers: its kind, and
    what its fields hold."""

    def __init__(self, state: GameState, size: int) -> None:
        moves = (move for choice in sorted(state.ruleset.moves) for move in state.ruleset.moves[choice])
        self._kinds = {
            cls: place for place, cls in enumerate(dict.fromkeys(move.command for move in moves), 1)
        }
        self._words = {word: place for place, word in enumerate(_words_of(state), 1)}
        super().__init__(size)

    def _describe(self, command: Command) -> tuple[int, ...]:
        fields = (getattr(command, name) for name in COMMAND_FIELDS[command.__class__])
        numbers = islice((number for field in fields for number in self._numbers_of(field)), ROW_SIZE - 1)
        row = (self._kinds.get(command.__class__, 0), *numbers)
        return (*row, *(0,) * (ROW_SIZE - len(row)))

    def _numbers_of(self, value: object) -> Iterator[int]:
        if isinstance(value, Mapping):
            for pair in sorted(value.items()):
                yield from self._numbers_of(pair)
        elif isinstance(value, tuple | list):
            for item in value:
                yield from self._numbers_of(item)
        else:
            number = value if isinstance(value, int) else self._words.get(str(value), 0)
            yield max(NUMBER.min, min(NUMBER.max, number))


def describe_table(views: Sequence[GameState]) -> str:
    """The parts of the table, by the views of all its seats, one line for each; cards that not all of them see are "?"."""
    described = zip(*(_parts_of(view, seat) for seat, view in enumerate(views)), strict=True)
    return "\n".join(f"{_name_of(parts[0], 0, len(views))}: {_shown(parts)}" for parts in described)


def _shown(parts: Sequence[TablePart]) -> str:
    first = parts[0]
    if first.cards is None:
        return str(first.number) if first.text is None else first.text
    places = zip(*(part.cards or () for part in parts), strict=True)
    return " ".join("?" if HIDDEN in cards else str(cards[0]) for cards in places)


def _words_of(state: GameState) -> tuple[str, ...]:
    return tuple(sorted({*texts_in([state.own, *(seat_state.own for seat_state in state.seats)])}))


def _parts_of(state: GameState, viewer: Seat | None) -> Iterator[TablePart]:
    if state.ruleset.describe is None:
        raise InvalidInputError(
            "ruleset", f"{state.ruleset.name} describes no parts of its table, so it has no observations"
        )
    yield from state.ruleset.describe(state, viewer)


def _name_of(part: TablePart, seat: Seat, seats: int) -> str:
    """The part's name, with its seat counted from the observer."""
    return part.name if part.seat is None else f"{part.name} of {(part.seat - seat) % seats}"


# -- the forms of a game ----------------------------------------------------------------------


class Observation(Protocol):
    """The layout of observations of one kind of game."""

    size: int
    layout: Mapping[str, slice]

    def encode(self, view: OfItsGame, seat: Seat) -> Numbers:
        """The observation of this seat, `size` whole numbers laid out as `layout` says."""


class GameForms(NamedTuple):
    """How a game like this one, which was dealt, is given to agents."""

    observation: Callable[[GameState], Observation]
    candidates: Callable[[GameState, int], CandidateActions]  # so many at most
    every_command: Callable[[GameState], Sequence[Command]]  # raises InvalidInputError: no list has all
    table: Callable[[Sequence[GameState]], str]  # in words, by the views of all its seats


def _no_list(state: GameState) -> Sequence[Command]:
    reason = f"the rules {state.ruleset.name} have no fixed list; take 'candidates'"
    raise InvalidInputError("actions", reason)


IN_PARTS: Final = GameForms(PartsObservation, PartsActions, _no_list, describe_table)
OWN_FORMS: Final[dict[type, GameForms]] = {}  # by the class of the game's own state


def forms_of(state: GameState) -> GameForms:
    """The forms of games like this one: its own, or those of its parts."""
    return OWN_FORMS.get(type(state.own), IN_PARTS)


def make_action_form(
    state: GameState, kind: ActionKind | None, max_candidates: int
) -> FixedActions | CandidateActions:
    """The actions of games like this one; `kind` None: fixed if the rules allow it. Raises InvalidInputError for "fixed" if not."""
    forms = forms_of(state)
    if kind != "candidates":
        try:
            return FixedActions(forms.every_command(state))
        except InvalidInputError:
            if kind == "fixed":
                raise
    return forms.candidates(state, max_candidates)


def final_rewards(state: GameState, reward: Reward) -> list[float]:
    """By seat of a game that is over: its points, or an equal share of 1 among the winners."""
    assert state.result is not None, "the game is over"
    scores = sorted(state.result.scores, key=lambda score: score.seat)
    if reward == "points":
        return [float(score.total) for score in scores]
    winners = sum(score.place == 1 for score in scores)
    return [(score.place == 1) / winners for score in scores]
