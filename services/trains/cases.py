"""A folder of cases. `index.json` names two files for each: the input, which is a row of JSON values, and
the expected answer, one value. A folder without it has them as KIND/NAME-in.json and KIND/NAME-out.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from schemas.errors import InvalidInputError
from services.documents.reader import read_text

INDEX_FILE: Final = "index.json"
INPUT_SUFFIX: Final = "-in.json"
MAX_BYTES: Final = 20_000_000


class Case(NamedTuple):
    """A case of a folder, whose files are not read yet."""

    id: str
    kind: str  # the part of its id before the first slash
    input_path: Path
    expected_path: Path
    folder: Path

    def read(self) -> tuple[list[object], object]:
        """The values of its input, and the expected answer. Raises InvalidInputError, naming the file."""
        for path in (self.input_path, self.expected_path):
            _require_file_inside(self.folder, path)
        values, expected = read_values(self.input_path), read_values(self.expected_path)
        if len(expected) != 1:
            raise InvalidInputError(str(self.expected_path), f"must hold one JSON value, not {len(expected)}")
        return values, expected[0]


def read_cases(folder: Path) -> list[Case]:
    """The cases of a folder in the order of its index, or of their names where there is none.

    Raises InvalidInputError, naming file and entry."""
    index = folder / INDEX_FILE
    if not index.exists() and (input_paths := sorted(folder.glob(f"*/*{INPUT_SUFFIX}"))):
        return [_case_of_file(folder, input_path) for input_path in input_paths]
    match read_values(index):
        case [[*entries]]:
            return [_parse_case(folder, entry, f"{index}: {number}") for number, entry in enumerate(entries)]
    raise InvalidInputError(str(index), "must hold one JSON list of cases")


def _case_of_file(folder: Path, input_path: Path) -> Case:
    kind, name = input_path.parent.name, input_path.name.removesuffix(INPUT_SUFFIX)
    return Case(f"{kind}/{name}", kind, input_path, input_path.with_name(f"{name}-out.json"), folder)


def _parse_case(folder: Path, entry: object, where: str) -> Case:
    match entry:
        case {"id": str(name), "in": str(input_name), "out": str(expected_name)}:
            kind, _, rest = name.partition("/")
            if not kind or not rest:
                raise InvalidInputError(f"{where}.id", f"must be a kind, a slash and a name, not {name!r}")
            return Case(
                name,
                kind,
                _resolve_inside(folder, input_name, f"{where}.in"),
                _resolve_inside(folder, expected_name, f"{where}.out"),
                folder,
            )
    raise InvalidInputError(where, "must be an object with the texts id, in and out")


def _resolve_inside(folder: Path, path: str, where: str) -> Path:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise InvalidInputError(where, f"must be a path inside the folder, not {path!r}")
    return folder / pure


def _require_file_inside(folder: Path, path: Path) -> None:
    """Raises InvalidInputError for a link that leads out of the folder, which a stranger may have packed, and for a
    pipe or a device, which may never end."""
    try:
        target = path.resolve(strict=True)
        is_inside, is_file = target.is_relative_to(folder.resolve()), target.is_file()
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a link to itself
        raise InvalidInputError(str(path), f"can't be read: {error.args[-1]}") from None
    if not is_inside:
        raise InvalidInputError(str(path), "is a link that leads out of the folder")
    if not is_file:
        raise InvalidInputError(str(path), "isn't a file")


def read_values(path: Path) -> list[object]:
    """The JSON values of a file, in their order. Raises InvalidInputError, naming the file."""
    try:
        return list(iter_json_values(read_text(path, MAX_BYTES)))
    except InvalidInputError as error:
        raise InvalidInputError(str(path), error.reason, error.rule) from None
    except json.JSONDecodeError as error:
        reason = f"isn't JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        raise InvalidInputError(str(path), reason) from None
    except ValueError:  # the only other one that json raises
        raise InvalidInputError(str(path), "holds a number of thousands of digits") from None
    except RecursionError:
        raise InvalidInputError(str(path), "is nested without end") from None


def iter_json_values(text: str) -> Iterator[object]:
    """The JSON values of a text, with any white space or none between them. Raises JSONDecodeError."""
    decoder, position = json.JSONDecoder(), 0
    while True:
        while text[position : position + 1].isspace():
            position += 1
        if position == len(text):
            return
        value, position = decoder.raw_decode(text, position)
        yield value
