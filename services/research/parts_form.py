"""Observations and candidates as numbers of a fixed layout, for any game whose table is described in parts; rewards.

A word (a card's name) is its place in the sorted list of all words that the game's own state has once it is dealt.
A family of games may have forms of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, islice, pairwise
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schemas.commands import FIELDS as COMMAND_FIELDS
from schemas.commands import Command
from schemas.errors import InvalidInputError
from schemas.field_types import HIDDEN, Seat
from schemas.registry import OfItsGame
from services.referee.games import GameState
from services.referee.games.kit import texts_in
from services.referee.games.state import TablePart
from services.research.action_forms import ROW_SIZE, ActionKind, CandidateActions, FixedActions

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
