"""Ids from other people's names: plain letters, and never the same one twice."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

MAX_CITY_SLUG_LENGTH: Final = (
    36  # letters; with a number behind it still an id, and two of them make a route's
)
_LETTER_REPLACEMENTS: Final = str.maketrans(
    {"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ı": "i"}
)


def slug(name: str, default: str, max_length: int = MAX_CITY_SLUG_LENGTH) -> str:
    """The name in small letters a-z, digits and dashes; `otherwise` if nothing is left of it."""
    folded = unicodedata.normalize("NFKD", name.lower().translate(_LETTER_REPLACEMENTS))
    unaccented = "".join(letter for letter in folded if not unicodedata.combining(letter))
    return re.sub("[^a-z0-9]+", "-", unaccented)[:max_length].strip("-") or default


def make_unique(ids: Iterable[str]) -> list[str]:
    """The same ids in order; what was there before gets a number: rome, rome-2, rome-3."""
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
