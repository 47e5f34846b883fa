"""The errors that the product raises on purpose. Any other exception is a bug, or a library's own.

`LedgerlineError` is the base of all of them, in every package: an `except` clause for bugs
(`PROGRAMMING_ERRORS` in services/runtime/worker_loop.py) never catches one, and a clause for one never
catches a bug. Errors that only one package raises stand in that package.

`plain_reason` says what pydantic finds wrong with a value in words for people.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from pydantic_core import ErrorDetails


class LedgerlineError(Exception):
    """Base of every error that this product raises."""


class InvalidInputError(LedgerlineError):
    """Something from outside is not of its contract's form. `field` names where, `reason` says why, and
    `rule` is the id of the message rule that it breaks (schemas/refusals.py). `others` are further fields that are
    wrong, with their reasons."""

    def __init__(
        self, field: str, reason: str, rule: str = "SHAPE-1", others: tuple[tuple[str, str], ...] = ()
    ) -> None:
        super().__init__(f"{field}: {reason}" if field else reason)
        self.field, self.reason, self.rule, self.others = field, reason, rule, others

    def __reduce__(self) -> tuple[type[InvalidInputError], tuple[object, ...]]:
        """Its own arguments: it is raised in another process, too."""
        return type(self), (self.field, self.reason, self.rule, self.others)


class CorruptDataError(LedgerlineError):
    """A log or view holds what no referee writes: the store is damaged, not the game."""


class MissingGameError(CorruptDataError):
    """A log, a view or a command is of a game that isn't installed here, so nothing can be said of it. The text names the
    game, and what to do."""


def missing_game(what: str) -> MissingGameError:
    """The error for rules, or a part of them, that this process doesn't have."""
    return MissingGameError(
        f"{what} isn't installed here: install the package that has it, and start this program again"
    )


def what_was_meant(near: Sequence[str]) -> str:
    """The end of a sentence that says what isn't there: "; did you mean atlanta-miami-a?", or nothing."""
    return f"; did you mean {' or '.join(near)}?" if near else ""


class ForeignFileError(CorruptDataError):
    """A game's file is signed with a key that isn't believed. The text names the key, and nothing of the game."""


Context: TypeAlias = Mapping[str, Any]  # what pydantic gives an error: a limit, a pattern, choices

WHOLE_NUMBER: Final = "must be a whole number"
NUMBER: Final = "must be a number"
TRUTH: Final = "must be true or false"
TEXT: Final = "must be text"
LIST: Final = "must be a list"
OBJECT: Final = "must be an object"
MISSING: Final = "is missing"
UNKNOWN: Final = "there is no such field"
OTHER: Final = "isn't of the form that it must have"

PATTERNS: Final[Mapping[str, str]] = {  # those of schemas/field_types.py
    r"^[a-z0-9][a-z0-9-]{2,39}$": "must be 3 to 40 small letters, digits or hyphens",
    r"^[A-Za-z0-9._:-]{1,64}$": "must be 1 to 64 letters, digits, dots, colons, underscores or hyphens",
    r"^[a-z0-9][a-z0-9.-]{0,79}$": "must be at most 80 small letters, digits, dots or hyphens",
    r"^[a-z0-9][a-z0-9.-]{0,39}$": "must be at most 40 small letters, digits, dots or hyphens",
    r"^[a-z0-9][a-z0-9.:-]{0,99}$": "must be at most 100 small letters, digits, dots, colons or hyphens",
    r"^\S(.*\S)?$": "must be one line that neither begins nor ends with a blank",
    r"^[a-z0-9][a-z0-9_-]{0,39}$": "must be at most 40 small letters, digits, underscores or hyphens",
    r"^[0-9a-f]{64}$": "must be 64 hex digits: 0 to 9 and a to f",
}
_CHOICES: Final = re.compile(r"\^\(([^()\[\]\\]+)\)\$")  # how `one_of` writes a choice of names


def plain_reason(error: ErrorDetails) -> str:
    """One of pydantic's errors as a phrase that follows the field's name."""
    words = REASONS.get(error["type"], OTHER)
    return words if isinstance(words, str) else words({**error.get("ctx", {}), "msg": error["msg"]})


def plain_field(path: str) -> str:
    """A field's path in words, from the inside out: `seats.0.kind` is the kind of item 1 of seats."""
    parts = [f"item {int(part) + 1}" if part.isdecimal() else part for part in path.split(".")]
    return " of ".join(reversed(parts))


def _pattern(context: Context) -> str:
    pattern = context["pattern"]
    if choices := _CHOICES.fullmatch(pattern):
        return f"must be one of {', '.join(choices[1].split('|'))}"
    return PATTERNS.get(pattern, f"must match {pattern}")


def _shortest_text(context: Context) -> str:
    length = context["min_length"]
    return "must not be empty" if length == 1 else f"must have at least {length} characters"


def _shortest_list(context: Context) -> str:
    length = context["min_length"]
    return "must not be empty" if length == 1 else f"must have at least {length} items"


REASONS: Final[Mapping[str, str | Callable[[Context], str]]] = {
    **dict.fromkeys(("missing", "missing_argument"), MISSING),
    **dict.fromkeys(("unexpected_keyword_argument", "extra_forbidden"), UNKNOWN),
    **dict.fromkeys(("int_type", "int_parsing", "int_parsing_size", "int_from_float"), WHOLE_NUMBER),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), NUMBER),
    **dict.fromkeys(("bool_type", "bool_parsing"), TRUTH),
    **dict.fromkeys(("string_type", "string_unicode", "string_sub_type"), TEXT),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "iterable_type"), LIST),
    **dict.fromkeys(
        ("dict_type", "mapping_type", "dataclass_type", "dataclass_exact_type", "model_type"), OBJECT
    ),
    "none_required": "must be null",
    "value_error": lambda context: str(context["msg"]).removeprefix("Value error, "),
    "greater_than": lambda context: f"must be more than {context['gt']}",
    "greater_than_equal": lambda context: f"must be {context['ge']} or more",
    "less_than": lambda context: f"must be less than {context['lt']}",
    "less_than_equal": lambda context: f"must be {context['le']} or less",
    "literal_error": lambda context: f"must be {context['expected'].replace(chr(39), '')}",
    "string_pattern_mismatch": _pattern,
    "string_too_short": _shortest_text,
    "string_too_long": lambda context: f"must have at most {context['max_length']} characters",
    "too_short": _shortest_list,
    "too_long": lambda context: f"must have at most {context['max_length']} items",
    "json_invalid": lambda context: f"isn't JSON: {context['error']}",
}
