"""What people write by hand, JSON or YAML, as plain values: each key once, no tricks.

YAML is read as JSON with less punctuation: what isn't a number as JSON writes it, `true`,
`false` or `null` is text, so that no name turns into a truth value or a date. Aliases and
tags are refused; a short text of theirs can stand for a very large value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

import yaml

from schemas.contract import Malformed
from services.documents.files import read_bytes

DEPTH_MOST: Final = 50
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C where there is one
_WORDS: Final = {"": None, "~": None, "null": None, "true": True, "false": False}
_WHOLE: Final = re.compile(r"-?(0|[1-9][0-9]{0,99})")
_BROKEN: Final = re.compile(r"-?(0|[1-9][0-9]{0,99})(\.[0-9]{1,99})?([eE][-+]?[0-9]{1,9})?")


def read_text(path: Path | None, most: int) -> str:
    """The text of a file (None is standard input) of so many bytes at most. Raises Malformed."""
    try:
        return read_bytes(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Malformed("", f"isn't UTF-8 text: byte {error.start} is no part of a letter") from None


def read_document(text: str) -> Any:
    """The value that a JSON or YAML text spells. Raises Malformed, saying where it goes wrong."""
    try:
        return json.loads(text, object_pairs_hook=once_each, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        in_json = f"isn't JSON: {error.msg} in line {error.lineno}, column {error.colno}"
    except ValueError:  # the only other one that it knows
        raise Malformed("", "holds a number of thousands of digits") from None
    except RecursionError:
        raise Malformed("", "is nested too deep") from None
    try:
        return _read_yaml(text)
    except yaml.YAMLError as error:
        raise Malformed("", in_json if text.lstrip().startswith("{") else _where(error)) from None


def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object's fields. JSON lets one stand twice, and then nobody knows which is meant."""
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            _twice(key)
        fields[key] = value
    return fields


def _twice(key: str) -> NoReturn:
    raise Malformed("", f"{key!r} stands twice in one object")


def _no_number(word: str) -> NoReturn:
    raise Malformed("", f"{word} is no number")


# -- YAML ------------------------------------------------------------------------------


def _read_yaml(text: str) -> Any:
    events = iter(yaml.parse(text, Loader=_LOADER))
    next(events)  # the stream starts
    if isinstance(next(events), yaml.StreamEndEvent):
        raise Malformed("", "is empty")
    value = _node(next(events), events, 0)
    next(events)  # the document ends
    if not isinstance(next(events), yaml.StreamEndEvent):
        raise Malformed("", "holds a second document")
    return value


def _node(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Any:
    """The value that starts with this event."""
    if isinstance(event, yaml.AliasEvent):
        raise Malformed(_line(event), f"aliases aren't read here; write *{event.anchor} out")
    if getattr(event, "tag", None) is not None:
        raise Malformed(_line(event), "tags aren't read here")
    if depth > DEPTH_MOST:
        raise Malformed(_line(event), "is nested too deep")
    if isinstance(event, yaml.ScalarEvent):
        return event.value if event.style else _plain(event.value)
    if isinstance(event, yaml.SequenceStartEvent):
        return [_node(item, events, depth + 1) for item in _until(yaml.SequenceEndEvent, events)]
    fields: dict[str, Any] = {}
    for key in _until(yaml.MappingEndEvent, events):
        if not isinstance(key, yaml.ScalarEvent):
            raise Malformed(_line(key), "a key is a word")
        if key.value in fields:
            _twice(key.value)
        fields[key.value] = _node(next(events), events, depth + 1)
    return fields


def _until(end: type[yaml.Event], events: Iterator[yaml.Event]) -> Iterator[yaml.Event]:
    while not isinstance(event := next(events), end):
        yield event


def _line(event: yaml.Event) -> str:
    mark = event.start_mark
    return f"line {mark.line + 1}" if mark else ""


def _plain(text: str) -> Any:
    """A scalar without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _BROKEN.fullmatch(text) else text


def _where(error: yaml.YAMLError) -> str:
    """What the parser says, and where."""
    mark = getattr(error, "problem_mark", None)
    place = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return f"is neither JSON nor YAML: {getattr(error, 'problem', None) or 'it holds letters that are none'}{place}"
