"""The table of appliers: one function for each event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

from schemas.contract import EVENT_REGISTRY, EventContract
from schemas.events import Event
from schemas.registry import HandlerTable, OfItsKey
from services.referee.games.state import GameState

E = TypeVar("E", bound=EventContract)
Applier: TypeAlias = Callable[[GameState, OfItsKey], None]

APPLIER_TABLE: Final[HandlerTable[EventContract, Applier]] = HandlerTable("applier", EVENT_REGISTRY)


def applies(cls: type[E]) -> Callable[[Callable[[GameState, E], None]], Callable[[GameState, E], None]]:
    """The decorator of the function that applies these events. It changes the state in place, and may take
    for granted that the event fits it. Raises TypeError where the event has an applier already."""
    return APPLIER_TABLE(cls)


def apply_own(state: GameState, event: Event) -> None:
    """Change the game's own part by an event that every game has, where its ruleset says so."""
    applier = state.ruleset.own_appliers.get(event.__class__)
    if applier is not None:
        applier(state, event)
