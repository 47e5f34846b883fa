"""Ledgerline for programs in Python: the names that other people's programs import; docs/how-to/library.md shows each.

The product's packages are `services` and `schemas`. Nothing of them is imported before a name is asked for, and then it is
checked first that they are Ledgerline's: `import ledgerline` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledgerline.library import (
        Board,
        SeatClient,
        __version__,
        ask,
        create,
        env,
        join,
        openspiel_game,
        read_board,
        replay,
        verify,
    )

__all__ = ["create", "join", "SeatClient", "replay", "verify", "ask", "Board", "read_board", "env", "openspiel_game", "__version__"]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'ledgerline' has no {name!r}")
    from ledgerline.launcher import require_packages  # noqa: PLC0415 - see the top

    require_packages()
    return getattr(import_module("ledgerline.library"), name)


def __dir__() -> list[str]:
    return [*__all__]
