"""Ids of a board by what people write for them: `Atlanta-Miami`, `St. Louis`, `kiev`.

What is written is normalised: to lower-case letters without accents, one word for every saint, the order of a route's
two cities, another spelling of a city. It must then name one thing; nothing that is only like it is taken.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from itertools import islice
from typing import Final, TypeAlias

from schemas.errors import InvalidInputError, what_was_meant
from schemas.trains.boards.form import BoardForm

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
    """Make ids unique, in their order: repeats get a number: rome, rome-2, rome-3."""
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


MAX_TEXT_LENGTH: Final = 80  # characters, as a route's id has at most
MAX_SUGGESTIONS: Final = 3
LEAST_LIKENESS: Final = 0.6  # of an id that is suggested, from 0 to 1
_SAINTS: Final = frozenset(("saint", "sainte", "sankt", "ste"))  # all are st
# Other spellings of cities on built-in boards: today's, English or French ones; each as `_key` writes it.
_SPELLINGS: Final[Mapping[str, str]] = {
    "ankara": "angora",
    "athens": "athina",
    "brussels": "bruxelles",
    "bucharest": "bucuresti",
    "cologne": "koln",
    "copenhagen": "kobenhavn",
    "gdansk": "danzig",
    "istanbul": "constantinople",
    "izmir": "smyrna",
    "kharkiv": "kharkov",
    "kiev": "kyiv",
    "leningrad": "petrograd",
    "lisbon": "lisboa",
    "moscow": "moskva",
    "munich": "munchen",
    "nuremberg": "nurnberg",
    "rome": "roma",
    "st-petersburg": "petrograd",
    "venice": "venezia",
    "vienna": "wien",
    "vilnius": "wilno",
    "warsaw": "warszawa",
    "zagreb": "zagrab",
}


class BoardIds:
    """The ids of one board's cities and routes."""

    def __init__(self, form: BoardForm) -> None:
        self.cities = frozenset(city.id for city in form.cities)
        self.routes = frozenset(route.id for route in form.routes)
        counts = Counter(city.name for city in form.cities) + Counter(city.id for city in form.cities)
        self._by_name = {city.name: city.id for city in form.cities if counts[city.name] == 1}
        self._by_key = _unique((key, city.id) for city in form.cities for key in _keys(city.id, city.name))
        self._between: dict[frozenset[str], list[str]] = {}
        for route in form.routes:
            self._between.setdefault(frozenset(route.between), []).append(route.id)

    def city(self, text: str) -> str | None:
        """The one city that the text names; None where it names none."""
        if text in self._by_name:
            return self._by_name[text]
        if text in self.cities:
            return text
        if len(text) > MAX_TEXT_LENGTH:
            return None
        key = _key(text)
        return self._by_key.get(key) or self._by_key.get(_key(_SPELLINGS.get(key, "")))

    def route(self, text: str) -> str | None:
        """The one route that the text names; None where it names none, or several."""
        named = self.routes_named(text)
        return named[0] if len(named) == 1 else None

    def routes_named(self, text: str) -> list[str]:
        """Every route that the text may name: by its id, or by its cities in either order, with or without what
        tells it from its parallels."""
        if text in self.routes:
            return [text]
        if len(text) > MAX_TEXT_LENGTH:
            return []
        normal = slug(text, "", MAX_TEXT_LENGTH)
        if normal in self.routes:
            return [normal]
        words = normal.split("-")
        return self._routes_between(words) or [
            route for route in self._routes_between(words[:-1]) if route.endswith(f"-{words[-1]}")
        ]

    def routes_meant(self, text: str) -> list[str]:
        """Routes to suggest for a text that names none: those between its cities, else those with a like id."""
        return self.routes_named(text)[:MAX_SUGGESTIONS] or near_ids(text, self.routes)

    def cities_meant(self, text: str) -> list[str]:
        """Cities to suggest for a text that names none."""
        return near_ids(text, self.cities)

    def _routes_between(self, words: list[str]) -> list[str]:
        """The routes between the two cities that these words name."""
        for index in range(1, len(words)):
            a, b = self.city("-".join(words[:index])), self.city("-".join(words[index:]))
            if a is not None and b is not None and (routes := self._between.get(frozenset((a, b)))):
                return routes
        return []


def near_ids(text: str, ids: Iterable[str]) -> list[str]:
    """At most MAX_SUGGESTIONS ids that are like the text, the likest first."""
    return get_close_matches(
        slug(text[:MAX_TEXT_LENGTH], "", MAX_TEXT_LENGTH), sorted(ids), MAX_SUGGESTIONS, LEAST_LIKENESS
    )


def did_you_mean(text: str, ids: Iterable[str]) -> str:
    """The end of a sentence that says that no id is this text: which ones may be meant, or nothing."""
    return what_was_meant(near_ids(text, ids))


def _keys(city_id: str, name: str) -> Iterator[str]:
    yield from dict.fromkeys((_key(city_id), _key(name)))


def _key(text: str) -> str:
    words = slug(text, "", MAX_TEXT_LENGTH).split("-")
    return "-".join("st" if word in _SAINTS else word for word in words)


def _unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The ids by key, without keys that two ids have."""
    ids_by_key: dict[str, set[str]] = {}
    for key, city_id in pairs:
        ids_by_key.setdefault(key, set()).add(city_id)
    return {key: next(islice(ids, 1)) for key, ids in ids_by_key.items() if key and len(ids) == 1}


ToId: TypeAlias = Callable[[object], object]  # a name to its id; anything else to itself
MAX_NAME_LENGTH: Final = 40
_ID: Final = re.compile(r"[a-z0-9][a-z0-9.-]*")
_CITY_KEYED_FIELDS: Final = ("stations", "passengers", "tokens")


def replace_names(query: dict[str, object], ids: BoardIds | None) -> dict[str, object]:
    """The query with ids for the names of cities and routes; without a board only their form is normalised. What
    isn't of its form is left as it is.

    Raises InvalidInputError if a city or a route is there twice, once by its id and once by its name."""
    to_city = partial(_to_id, ids.city if ids else _no_id, MAX_NAME_LENGTH)
    to_route = partial(_to_id, ids.route if ids else _no_id, MAX_TEXT_LENGTH)
    position = query.get("position")
    converted = dict(query)
    if isinstance(position, dict):
        converted["position"] = _convert_position(position, to_city, to_route)
    if isinstance(query.get("commands"), list):
        with_cities = _convert_rows(query["commands"], to_city, "city", "neighbour", "passenger")
        converted["commands"] = _convert_rows(with_cities, to_route, "route", "path")
    return converted


def _convert_position(position: dict[str, object], to_city: ToId, to_route: ToId) -> dict[str, object]:
    converted = dict(position)
    for field in _CITY_KEYED_FIELDS:
        if isinstance(by_city := position.get(field), dict):
            converted[field] = _convert_keys(by_city, to_city, f"position.{field}")
    if isinstance(owners := position.get("routes"), dict):
        converted["routes"] = _convert_keys(owners, to_route, "position.routes")
    if isinstance(stations := converted.get("stations"), dict):
        converted["stations"] = {
            city: _convert_fields(station, to_city, "neighbour") for city, station in stations.items()
        }
    if isinstance(rows := position.get("tickets"), list):
        converted["tickets"] = [_convert_rows(row, to_city, "between") for row in rows]
    if isinstance(decks := position.get("ticket_decks"), dict):
        converted["ticket_decks"] = {
            deck: _convert_rows(row, to_city, "between") for deck, row in decks.items()
        }
    return converted


def _convert_keys(by_name: dict[str, object], to_id: ToId, field_path: str) -> dict[str, object]:
    converted: dict[str, object] = {}
    for name, value in by_name.items():
        if (key := str(to_id(name))) in converted:
            raise InvalidInputError(f"{field_path}.{name}", f"{key} is there already")
        converted[key] = value
    return converted


def _convert_rows(rows: object, to_id: ToId, *fields: str) -> object:
    return [_convert_fields(row, to_id, *fields) for row in rows] if isinstance(rows, list) else rows


def _convert_fields(row: object, to_id: ToId, *fields: str) -> object:
    if not isinstance(row, dict):
        return row
    return {field: _convert_value(value, to_id) if field in fields else value for field, value in row.items()}


def _convert_value(value: object, to_id: ToId) -> object:
    return [to_id(name) for name in value] if isinstance(value, list) else to_id(value)


def _to_id(find: Callable[[str], str | None], max_length: int, name: object) -> object:
    if not isinstance(name, str) or len(name) > max_length:
        return name
    return find(name) or (name if _ID.fullmatch(name) else slug(name, name, max_length))


def _no_id(name: str) -> None:
    """Without a board nothing is found."""
