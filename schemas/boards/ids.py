"""Ids from other people's names: plain letters, and never the same one twice."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

CITY_MOST: Final = 36  # letters; with a number behind it still an id, and two of them make a route's
_UNFOLDED: Final = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ı": "i"})


def slug(name: str, otherwise: str, most: int = CITY_MOST) -> str:
    """The name in small letters a-z, digits and dashes; `otherwise` if nothing is left of it."""
    folded = unicodedata.normalize("NFKD", name.lower().translate(_UNFOLDED))
    plain = "".join(letter for letter in folded if not unicodedata.combining(letter))
    return re.sub("[^a-z0-9]+", "-", plain)[:most].strip("-") or otherwise


def unique(ids: Iterable[str]) -> list[str]:
    """The same ids in order; what was there before gets a number: rome, rome-2, rome-3."""
    taken: set[str] = set()
    made: list[str] = []
    again: dict[str, int] = {}
    for wanted in ids:
        name = wanted
        while name in taken:
            again[wanted] = again.get(wanted, 1) + 1
            name = f"{wanted}-{again[wanted]}"
        taken.add(name)
        made.append(name)
    return made
