"""Golden games to audit, and ways to tamper with their logs."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from schemas.events import Event
from schemas.stored.codec import pack_entry, unpack_entry
from schemas.stored.entries import Entry
from services.referee.games import split_by_visibility

GOLDEN = Path(__file__).parents[2] / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.json"))
USA = "usa-four-mixed"


@cache
def _stored(game: str) -> tuple[bytes, ...]:
    recorded = json.loads((GOLDEN / f"{game}.json").read_text())
    return tuple(b64decode(line) for line in recorded["log"])


def golden(game: str = USA) -> list[bytes]:
    """A copy of the log of a golden game."""
    return list(_stored(game))


def entries(game: str = USA) -> list[Entry]:
    return [unpack_entry(data) for data in _stored(game)]


def find(game: str, fits: Callable[[Entry], object], skip: int = 0) -> int:
    """The number of an entry that fits, after skipping so many that do."""
    numbers = [number for number, entry in enumerate(entries(game), 1) if fits(entry)]
    return numbers[skip]


def rewritten(log: list[bytes], number: int, *events: Event, **fields: Any) -> list[bytes]:
    """The log with one entry rewritten."""
    entry = unpack_entry(log[number - 1])
    changed = replace(entry, events=events or entry.events, **fields)
    return [*log[: number - 1], pack_entry(changed, split_by_visibility(changed.events))[0], *log[number:]]
