"""Files that people name: read within bounds, parsed strictly as JSON or YAML, written whole, with errors in plain words."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NoReturn

import yaml

from schemas.errors import InvalidInputError


def read_bytes(path: Path | None, max_bytes: int, field: str = "") -> bytes:
    """The content of a file (None is standard input).

    Raises InvalidInputError, for `field`: it can't be read, or has more than `max_bytes` (SIZE-1)."""
    try:
        if path is None:
            content = sys.stdin.buffer.read(max_bytes + 1)
        else:
            with path.open("rb") as file:
                content = file.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        raise InvalidInputError(field, f"can't be read: {error.args[-1]}") from None
    if len(content) > max_bytes:
        raise InvalidInputError(field, f"has more than {max_bytes} bytes", "SIZE-1")
    return content


def write_bytes(path: Path, content: bytes, field: str) -> None:
    """Write a file. Raises InvalidInputError, for `field`: it can't be written."""
    try:
        path.write_bytes(content)
    except (OSError, ValueError) as error:
        raise InvalidInputError(field, f"{path} can't be written: {error.args[-1]}") from None


MAX_DEPTH: Final = 50
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the loader in C where there is one
_KEYWORDS: Final = {"": None, "~": None, "null": None, "true": True, "false": False}
_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]{0,99})")
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]{0,99})(\.[0-9]{1,99})?([eE][-+]?[0-9]{1,9})?")


def read_text(path: Path | None, max_bytes: int, field: str = "") -> str:
    """The text of a file (None is standard input).

    Raises InvalidInputError, for `field`: it can't be read, has more than `max_bytes`, or isn't UTF-8."""
    try:
        return read_bytes(path, max_bytes, field).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            field, f"isn't UTF-8 text: byte {error.start} is no part of a letter"
        ) from None


class NotJsonError(InvalidInputError):
    """The text isn't JSON; the reason says where."""


def read_json(text: str, problem: str = "isn't JSON") -> object:
    """The value of a JSON text. Raises InvalidInputError; NotJsonError, whose reason begins with the problem."""
    try:
        return json.loads(text, object_pairs_hook=_build_unique_dict, parse_constant=_raise_not_a_number)
    except json.JSONDecodeError as error:
        where = f"in line {error.lineno}, column {error.colno}"
        raise NotJsonError("", f"{problem}: {error.msg} {where}") from None
    except ValueError:  # json raises it for nothing else
        raise InvalidInputError("", "holds a number of thousands of digits") from None
    except RecursionError:
        raise InvalidInputError("", "is nested too deep") from None


def read_document(text: str) -> object:
    """The value of a JSON or YAML text. Raises InvalidInputError, with the line where it goes wrong."""
    try:
        return read_json(text)
    except NotJsonError as error:
        json_problem = error.reason
    try:
        return _read_yaml(text)
    except yaml.YAMLError as error:
        raise InvalidInputError(
            "", json_problem if text.lstrip().startswith("{") else _describe_yaml_error(error)
        ) from None


def _build_unique_dict(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object's fields. Raises InvalidInputError: JSON allows a key twice, and it isn't clear then
    which is meant."""
    fields: dict[str, object] = {}
    for key, value in pairs:
        if key in fields:
            _raise_duplicate_key(key)
        fields[key] = value
    return fields


def _raise_duplicate_key(key: str) -> NoReturn:
    raise InvalidInputError("", f"{key!r} stands twice in one object")


def _raise_not_a_number(constant: str) -> NoReturn:
    raise InvalidInputError("", f"{constant} is no number")


# -- YAML ------------------------------------------------------------------------------


def _read_yaml(text: str) -> object:
    events = iter(yaml.parse(text, Loader=_LOADER))
    next(events)  # the stream starts
    if isinstance(next(events), yaml.StreamEndEvent):
        raise InvalidInputError("", "is empty")
    value = _read_node(next(events), events, 0)
    next(events)  # the document ends
    if not isinstance(next(events), yaml.StreamEndEvent):
        raise InvalidInputError("", "holds a second document")
    return value


def _read_node(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> object:
    """The value that starts with this event."""
    if isinstance(event, yaml.AliasEvent):
        raise InvalidInputError(_event_line(event), f"aliases aren't read here; write *{event.anchor} out")
    if getattr(event, "tag", None) is not None:
        raise InvalidInputError(_event_line(event), "tags aren't read here")
    if depth > MAX_DEPTH:
        raise InvalidInputError(_event_line(event), "is nested too deep")
    if isinstance(event, yaml.ScalarEvent):
        return event.value if event.style else _parse_plain_scalar(event.value)
    if isinstance(event, yaml.SequenceStartEvent):
        return [_read_node(item, events, depth + 1) for item in _events_until(yaml.SequenceEndEvent, events)]
    fields: dict[str, object] = {}
    for key in _events_until(yaml.MappingEndEvent, events):
        if not isinstance(key, yaml.ScalarEvent):
            raise InvalidInputError(_event_line(key), "a key is a word")
        if key.value in fields:
            _raise_duplicate_key(key.value)
        fields[key.value] = _read_node(next(events), events, depth + 1)
    return fields


def _events_until(end: type[yaml.Event], events: Iterator[yaml.Event]) -> Iterator[yaml.Event]:
    while not isinstance(event := next(events), end):
        yield event


def _event_line(event: yaml.Event) -> str:
    mark = event.start_mark
    return f"line {mark.line + 1}" if mark else ""


def _parse_plain_scalar(text: str) -> object:
    """A scalar without quotes."""
    if text in _KEYWORDS:
        return _KEYWORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def _describe_yaml_error(error: yaml.YAMLError) -> str:
    """The parser's message, with the line and column."""
    mark = getattr(error, "problem_mark", None)
    location = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return f"is neither JSON nor YAML: {getattr(error, 'problem', None) or 'it holds letters that are none'}{location}"
