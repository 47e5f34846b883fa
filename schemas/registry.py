"""Commands and events, each declared once; what else there is for each is checked against these.

A contract enters its registry by its decorator (`command` and `event` in schemas/contract.py). A function
that belongs to one, as an applier or a sentence, enters a `HandlerTable` by a decorator that names the
class. `complete()` is called where the table is used, at import: a class without a function, or a function
for a class that isn't declared, stops the program there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar, get_args

# What a function in a table takes: an object of the class that is its key, which the table's type can't say.
OfItsKey: TypeAlias = Any
C = TypeVar("C")
F = TypeVar("F")


class Registry(Generic[C]):
    """The contracts of one kind, in the order of their declarations. `C` is their base class."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._classes: dict[int, type[C]] = {}  # by code
        self._types: set[str] = set()

    def add(self, cls: type[C], type_name: str, code: int) -> None:
        """Raises TypeError where another one has its type or its code."""
        if not type_name or code <= 0:
            raise TypeError(f"the {self.kind} {cls.__name__} needs a type and a code")
        if type_name in self._types or code in self._classes:
            raise TypeError(f"the {self.kind} {cls.__name__} has the type or the code of another one")
        self._types.add(type_name)
        self._classes[code] = cls

    def __contains__(self, cls: object) -> bool:
        return cls in self._classes.values()

    @property
    def classes(self) -> tuple[type[C], ...]:
        return tuple(self._classes.values())


def union_members(union: object, declared: Iterable[type]) -> tuple[Any, ...]:  # a union has no type
    """The declared classes, which are those of the union that the type checker knows. Raises TypeError,
    naming the difference."""
    classes = tuple(declared)
    if difference := set(classes) ^ set(get_args(union)):
        names = ", ".join(sorted(cls.__name__ for cls in difference))
        raise TypeError(f"declared, and not in the union of their types; or in it, and not declared: {names}")
    return classes


class HandlerTable(Generic[C, F]):
    """One function for each class of a registry."""

    def __init__(self, what: str, registry: Registry[C]) -> None:
        self.what = what
        self.registry = registry
        self._functions: dict[type[C], F] = {}
        self._without: set[type[C]] = set()

    def __call__(self, cls: type[C]) -> Callable[[F], F]:
        """The decorator of a class's function. Raises TypeError for a class that isn't declared, or that
        has one."""
        self._require_new(cls)

        def decorate(function: F) -> F:
            self._functions[cls] = function
            return function

        return decorate

    def none_for(self, *classes: type[C]) -> None:
        """These have none, and need none. Raises TypeError as above."""
        for cls in classes:
            self._require_new(cls)
            self._without.add(cls)

    def complete(self) -> Mapping[type[C], F]:
        """The functions by class. Raises TypeError, naming the classes of the registry that have neither a
        function nor a word that they need none."""
        covered = self._functions.keys() | self._without
        if missing := [cls.__name__ for cls in self.registry.classes if cls not in covered]:
            raise TypeError(f"no {self.what} for the {self.registry.kind} {', '.join(missing)}")
        return self._functions

    def _require_new(self, cls: type[C]) -> None:
        if cls not in self.registry:
            raise TypeError(f"{self.what} for {cls.__name__}, which is no declared {self.registry.kind}")
        if cls in self._functions or cls in self._without:
            raise TypeError(f"a second {self.what} for the {self.registry.kind} {cls.__name__}")
