"""How objects of frozen classes reach another process, where a slow policy thinks about a state.

Each is pickled as a call of its class with all fields: pickle's own way sets fields of an object that exists already.
"""

from __future__ import annotations

import copyreg
from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


def pickle_by_fields(*classes: type) -> None:
    """Have objects of these dataclasses pickled as calls of their classes with all fields."""
    for cls in classes:
        copyreg.pickle(cls, as_call)


def interpreted(cls: type[T]) -> type[T]:
    """Leave the class to Python in a compiled module: mypyc can't compile a dataclass that is generic."""
    return cls


def as_call(frozen: DataclassInstance) -> tuple[type, tuple[object, ...]]:
    """The call that makes an equal object, in the form of `copyreg`."""
    return frozen.__class__, tuple([getattr(frozen, field.name) for field in fields(frozen)])
