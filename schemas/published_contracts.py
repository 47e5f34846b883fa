"""The contracts that the product publishes: what every game has, and what the train games add to it.

A game whose codes begin with its name publishes its own with itself.
"""

from __future__ import annotations

from typing import Final, TypeVar

from schemas import commands, events
from schemas.contract import COMMAND_REGISTRY, EVENT_REGISTRY, CommandContract, Contract, EventContract
from schemas.refusals import GAME_RULES, MESSAGE_RULES
from schemas.trains import commands as train_commands  # noqa: F401 - a game's contracts are known once they are imported
from schemas.trains import events as train_events  # noqa: F401 - likewise
from schemas.trains.refusals import TRAIN_RULES

ContractT = TypeVar("ContractT", bound=type[Contract])
_KERNEL: Final = (commands.__name__, events.__name__)


def in_order(classes: tuple[ContractT, ...]) -> tuple[ContractT, ...]:
    """The contracts, whichever module was imported first: those of the trains, of every game, of games that were found."""
    return tuple(
        sorted(classes, key=lambda cls: (isinstance(cls.code, str), cls.__module__.startswith(_KERNEL)))
    )


def _is_published(cls: type[Contract]) -> bool:
    return isinstance(cls.code, int)


EVENTS: Final[tuple[type[EventContract], ...]] = in_order(
    tuple(filter(_is_published, EVENT_REGISTRY.classes))
)
COMMANDS: Final[tuple[type[CommandContract], ...]] = in_order(
    tuple(filter(_is_published, COMMAND_REGISTRY.classes))
)
PLAYER_COMMANDS: Final = tuple(cls for cls in COMMANDS if cls.sender == "player")
ALL_RULES: Final[dict[str, str]] = {**GAME_RULES, **TRAIN_RULES, **MESSAGE_RULES}
