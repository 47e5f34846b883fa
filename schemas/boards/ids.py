"""Ids from names: a-z, digits and dashes only, and no id twice."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

# Characters. With a number behind it a slug is still a valid id, and two of them make a route's.
MAX_CITY_SLUG_LENGTH: Final = 36
_REPLACEMENTS: Final = str.maketrans(
    {"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ı": "i"}
)


def slug(name: str, default: str, max_length: int = MAX_CITY_SLUG_LENGTH) -> str:
    """The name in lower-case a-z, digits and dashes; `default` if nothing is left of it."""
    folded = unicodedata.normalize("NFKD", name.lower().translate(_REPLACEMENTS))
    unaccented = "".join(character for character in folded if not unicodedata.combining(character))
    return re.sub("[^a-z0-9]+", "-", unaccented)[:max_length].strip("-") or default


def make_unique(ids: Iterable[str]) -> list[str]:
    """The same ids in order; repeats get a number: rome, rome-2, rome-3."""
    used: set[str] = set()
    unique_ids: list[str] = []
    repeats: dict[str, int] = {}
    for base in ids:
        candidate = base
        while candidate in used:
            repeats[base] = repeats.get(base, 1) + 1
            candidate = f"{base}-{repeats[base]}"
        used.add(candidate)
        unique_ids.append(candidate)
    return unique_ids
