"""A game of another package, added to this process for some tests: nothing of it is left for others."""

from __future__ import annotations

import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from schemas.contract import COMMAND_REGISTRY, EVENT_REGISTRY
from schemas.refusals import BROUGHT_PAGES, BROUGHT_RULES
from schemas.stored.rows import PLAIN_CLASSES
from services.referee.games.appliers import APPLIER_TABLE
from services.referee.games.found_games import GAMES, RULESET_VERSIONS, RULESETS, add_game

BIDS = Path(__file__).parents[2] / "examples/games/bids"
TABLES: tuple[MutableMapping[Any, Any], ...] = (
    *(getattr(COMMAND_REGISTRY, name) for name in ("by_code", "by_type", "schemas", "fields")),
    *(getattr(EVENT_REGISTRY, name) for name in ("by_code", "by_type", "schemas", "fields")),
    *(APPLIER_TABLE.functions, GAMES, RULESETS, RULESET_VERSIONS, BROUGHT_RULES, BROUGHT_PAGES, PLAIN_CLASSES),
)  # fmt: skip


@contextmanager
def added_package(folder: Path, module: str, game: str) -> Iterator[ModuleType]:
    """The package's module, with its game added until the end of the block."""
    before = [{**table} for table in TABLES]
    sys.path.insert(0, str(folder))
    try:
        package = import_module(module)
        add_game(getattr(package, game))
        yield package
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(module, None)
        for table, entries in zip(TABLES, before, strict=True):
            table.clear()
            table.update(entries)
