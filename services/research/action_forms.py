"""Commands as numbers for an agent: places in a fixed list of every command, or among the legal ones of the moment.

`legal` gives mostly the same few objects, made once. They are looked up by identity, which holds as long as they are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schemas.commands import Command, write_command

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
