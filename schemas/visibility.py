"""Who may know what an event holds. Every event declares it, and its redactor follows from that.

What is hidden is turned face down for everybody else: a row becomes a row of as many nulls, so that
counts stay public and contents don't; anything else becomes null.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

WHOLE_EVENT: Final = ("*",)  # others don't know that it happened, only that there is an entry


@dataclass(frozen=True, slots=True)
class Public:
    """Everybody may know all of it."""


@dataclass(frozen=True, slots=True)
class Private:
    """The seat that the field `owner` names knows all of it; from everybody else the fields `hides` are
    hidden. Where the field `public_if_null` is null there is nothing to hide, and the event is public."""

    owner: str
    hides: tuple[str, ...]
    public_if_null: str | None = None


@dataclass(frozen=True, slots=True)
class Secret:
    """Nobody knows the fields `hides` before the game is over."""

    hides: tuple[str, ...]


PUBLIC: Final = Public()
Visibility: TypeAlias = Public | Private | Secret


def require_fields(visibility: Visibility, class_name: str, field_names: tuple[str, ...]) -> None:
    """The visibility names fields of its event, and no others. Raises TypeError."""
    named: set[str] = set()
    match visibility:
        case Private(owner, hides, public_if_null):
            named = {owner, *hides, *(() if public_if_null is None else (public_if_null,))}
        case Secret(hides):
            named = set(hides)
        case Public():
            return
        case _:
            raise TypeError(f"{class_name} must declare who may see it: PUBLIC, Private or Secret")
    if unknown := named - {*field_names, *WHOLE_EVENT}:
        raise TypeError(f"the visibility of {class_name} names fields that it lacks: {sorted(unknown)}")
    if not hides:
        raise TypeError(f"the visibility of {class_name} hides nothing: that is PUBLIC")
