"""A folder of cases: `index.json` names for each an input, a row of JSON values, and the one
value that is to come out. A folder without it has them as KIND/NAME-in.json and -out.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

from schemas.contract import Malformed
from services.documents.reader import read_text

INDEX: Final = "index.json"
GIVEN: Final = "-in.json"
BYTES_MOST: Final = 20_000_000


class Case(NamedTuple):
    id: str
    kind: str  # what comes before the first slash of its id
    given: Path
    expected: Path

    def read(self) -> tuple[list[Any], Any]:
        """The values of its input, and the value that is to come out. Raises Malformed, naming the file."""
        given, expected = read_values(self.given), read_values(self.expected)
        if len(expected) != 1:
            raise Malformed(str(self.expected), f"must hold one JSON value, not {len(expected)}")
        return given, expected[0]


def read_cases(folder: Path) -> list[Case]:
    """The cases that a folder's index lists, in its order; without an index those that lie there.
    Raises Malformed, naming file and entry."""
    index = folder / INDEX
    if not index.exists() and (found := sorted(folder.glob(f"*/*{GIVEN}"))):
        return [_found(given) for given in found]
    match read_values(index):
        case [[*entries]]:
            return [_case(folder, entry, f"{index}: {number}") for number, entry in enumerate(entries)]
    raise Malformed(str(index), "must hold one JSON list of cases")


def _found(given: Path) -> Case:
    kind, name = given.parent.name, given.name.removesuffix(GIVEN)
    return Case(f"{kind}/{name}", kind, given, given.with_name(f"{name}-out.json"))


def _case(folder: Path, entry: object, where: str) -> Case:
    match entry:
        case {"id": str(name), "in": str(given), "out": str(expected)}:
            kind, _, rest = name.partition("/")
            if not kind or not rest:
                raise Malformed(f"{where}.id", f"must be a kind, a slash and a name, not {name!r}")
            return Case(
                name, kind, _inside(folder, given, f"{where}.in"), _inside(folder, expected, f"{where}.out")
            )
    raise Malformed(where, "must be an object with the texts id, in and out")


def _inside(folder: Path, path: str, where: str) -> Path:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise Malformed(where, f"must be a path inside the folder, not {path!r}")
    return folder / pure


def read_values(path: Path) -> list[Any]:
    """The JSON values that a file holds, one after the other. Raises Malformed, naming the file."""
    try:
        return list(values(read_text(path, BYTES_MOST)))
    except Malformed as error:
        raise Malformed(str(path), error.why, error.rule) from None
    except json.JSONDecodeError as error:
        why = f"isn't JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        raise Malformed(str(path), why) from None
    except ValueError:  # the only other one that json knows
        raise Malformed(str(path), "holds a number of thousands of digits") from None
    except RecursionError:
        raise Malformed(str(path), "is nested without end") from None


def values(text: str) -> Iterator[Any]:
    """JSON values with any white space, or none, between them. Raises JSONDecodeError."""
    decoder, place = json.JSONDecoder(), 0
    while True:
        while text[place : place + 1].isspace():
            place += 1
        if place == len(text):
            return
        value, place = decoder.raw_decode(text, place)
        yield value
