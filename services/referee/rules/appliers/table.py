"""The table of appliers: one function for each event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

from schemas.contract import EVENT_REGISTRY, EventContract
from schemas.registry import HandlerTable, OfItsKey
from services.referee.rules.state import GameState

E = TypeVar("E", bound=EventContract)
Applier: TypeAlias = Callable[[GameState, OfItsKey], None]

APPLIER_TABLE: Final[HandlerTable[EventContract, Applier]] = HandlerTable("applier", EVENT_REGISTRY)


def applies(cls: type[E]) -> Callable[[Callable[[GameState, E], None]], Callable[[GameState, E], None]]:
    """The decorator of the function that applies these events. It changes the state in place, and may take
    for granted that the event fits it. Raises TypeError where the event has an applier already."""
    return APPLIER_TABLE(cls)
