"""Commands and events, each declared once; what else there is for each is checked against these.

A contract enters its registry by its decorator (`command` and `event` in schemas/contract.py). A function
that belongs to one, as an applier or a sentence, enters a `HandlerTable` by a decorator that names the
class. `complete()` is called where the table is used, at import: a class without a function, or a function
for a class that isn't declared, stops the program there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, Final, Generic, TypeAlias, TypeVar

# What a function in a table takes: an object of the class that is its key, which the table's type can't say.
OfItsKey: TypeAlias = Any
# An object of the class that a game declares: its options, or its own part of a state.
OfItsGame: TypeAlias = Any
C = TypeVar("C")
F = TypeVar("F")
S = TypeVar("S")
K = TypeVar("K")
GAMES_CODE: Final = re.compile(r"[a-z][a-z0-9-]{0,19}:[1-9][0-9]{0,2}(\^[1-9])?")


def _bare(code: int | str) -> int | str:
    """The code without the place of the cards that its event draws: with it or not, it is declared once."""
    return code.partition("^")[0] if isinstance(code, str) else code


class Registry(Generic[C, S]):
    """The contracts of one kind, in the order of their declarations. `C` is their base class, `S` what reads
    and writes one."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.by_code: dict[int | str, type[C]] = {}
        self.by_type: dict[str, type[C]] = {}
        self.schemas: dict[str, S] = {}  # by type
        self.fields: dict[type[C], tuple[str, ...]] = {}  # their names, in the order of the declaration

    def add(self, cls: type[C], type_name: str, code: int | str) -> None:
        """Raises TypeError where another one has its type or its code, or where the code is neither a number from 1
        nor `game:number`, which a game uses that doesn't come with the product."""
        if not type_name or not (code > 0 if isinstance(code, int) else GAMES_CODE.fullmatch(code)):
            raise TypeError(
                f"the {self.kind} {cls.__name__} needs a type, and a code from 1 or like 'bids:1'"
            )
        taken_codes = {_bare(known): other for known, other in self.by_code.items()}
        for taken, key in ((self.by_type, type_name), (taken_codes, _bare(code))):
            if key in taken:
                other = taken[key]  # type: ignore[index]  # each has keys of its own type
                raise TypeError(
                    f"the {self.kind} {cls.__name__} of {cls.__module__} has the type or the code {key!r} of"
                    f" {other.__name__} of {other.__module__}"
                )
        self.by_type[type_name] = self.by_code[code] = cls

    def __contains__(self, cls: object) -> bool:
        return cls in self.by_type.values()

    @property
    def classes(self) -> tuple[type[C], ...]:
        return tuple(self.by_type.values())


class MadeOnce(dict[type[C], F]):
    """A value for each class, made when it is first asked for: games that are found later have theirs too."""

    def __init__(self, make: Callable[[type[C]], F]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, cls: type[C]) -> F:
        self[cls] = made = self._make(cls)
        return made


class FilledWhenAsked(MutableMapping[K, F]):
    """A dict that calls `fill` before it is read: what could not be known at the start enters it then."""

    def __init__(self, fill: Callable[[], None]) -> None:
        self._fill = fill
        self._values: dict[K, F] = {}

    def __getitem__(self, key: K) -> F:
        self._fill()
        return self._values[key]

    def __setitem__(self, key: K, value: F) -> None:
        self._values[key] = value

    def __delitem__(self, key: K) -> None:
        del self._values[key]

    def __iter__(self) -> Iterator[K]:
        self._fill()
        return iter(self._values)

    def __len__(self) -> int:
        self._fill()
        return len(self._values)


class HandlerTable(Generic[C, F]):
    """One function for each class of a registry."""

    def __init__(self, what: str, registry: Registry[C, OfItsGame]) -> None:
        self.what = what
        self.registry = registry
        self.functions: dict[type[C], F] = {}

    def __call__(self, cls: type[C]) -> Callable[[F], F]:
        """The decorator of a class's function. Raises TypeError for a class that isn't declared, or that
        has one."""
        if cls not in self.registry:
            raise TypeError(f"{self.what} for {cls.__name__}, which is no declared {self.registry.kind}")
        if cls in self.functions:
            raise TypeError(f"a second {self.what} for the {self.registry.kind} {cls.__name__}")

        def decorate(function: F) -> F:
            self.functions[cls] = function
            return function

        return decorate

    def complete(self) -> Mapping[type[C], F]:
        """The functions by class. Raises TypeError, naming the classes of the registry that have none."""
        if missing := [cls.__name__ for cls in self.registry.classes if cls not in self.functions]:
            raise TypeError(f"no {self.what} for the {self.registry.kind} {', '.join(missing)}")
        return self.functions
