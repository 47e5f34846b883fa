"""The types of contracts' fields: seats, cards, names, times, and their limits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from math import isfinite
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, Strict, WithJsonSchema

MAX_SEATS: Final = 8


def one_of(names: tuple[str, ...]) -> object:
    """Pydantic's constraint of a string that must be one of these. To the type checker a card is just a
    string: it was checked where it came in."""
    return Field(pattern=f"^({'|'.join(names)})$", json_schema_extra={"enum": list(names)})


Int = Annotated[int, Strict()]  # 3, never "3" or true
Bool = Annotated[bool, Strict()]
Text = Annotated[str, Strict()]  # never bytes


HIDDEN: Final = None  # in place of what the viewer may not know

Seat = Annotated[Int, Field(ge=0, lt=MAX_SEATS)]
GameId = Annotated[Text, Field(pattern=r"^[a-z0-9][a-z0-9-]{2,39}$")]
CommandId = Annotated[Text, Field(pattern=r"^[A-Za-z0-9._:-]{1,64}$")]


# Letters that Python prints though nothing is seen of them: Unicode's Default_Ignorable_Code_Point, and blanks.
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)


def require_printable(name: str) -> str:
    """No character without a glyph: it could make two names look alike, or reverse a line. Raises
    ValueError."""
    if not name.isprintable() or _UNSEEN.search(name):
        raise ValueError("must hold only letters that can be seen")
    return name


def _compose(name: object) -> object:
    """A name as NFKC writes it: one spelling for what is shown in one way. Raises ValueError where it begins with a mark
    that would stand on what is before it."""
    if not isinstance(name, str):
        return name
    composed = unicodedata.normalize("NFKC", name)
    if unicodedata.category(composed[:1] or " ").startswith("M"):
        raise ValueError("must not begin with a mark for another letter")
    return composed


Name = Annotated[
    Text,
    Field(min_length=1, max_length=40, pattern=r"^\S(.*\S)?$"),
    BeforeValidator(_compose),
    AfterValidator(require_printable),
]
Slug = Annotated[Text, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
Hex32 = Annotated[Text, Field(pattern=r"^[0-9a-f]{64}$")]
CARD_NAME: Final = r"^[a-z0-9][a-z0-9-]{0,29}$"
CardName = Annotated[Text, Field(pattern=CARD_NAME)]  # of any game
CardNameRow = tuple[CardName | None, ...]
Age = Annotated[Int, Field(ge=0, le=150)]
Milliseconds = Annotated[Int, Field(ge=0, le=2**53)]

MAX_JSON_DEPTH: Final = 8  # far below what msgpack can nest


def is_json_value(value: object, depth: int = MAX_JSON_DEPTH) -> bool:
    """Whether both msgpack and JSON can hold the value, in every language."""
    if isinstance(value, str):
        return value.isascii() or not any(
            "\ud800" <= character <= "\udfff" for character in value
        )  # a surrogate
    if isinstance(value, int):  # or a truth value
        return -(2**53) <= value <= 2**53
    if isinstance(value, dict):
        if not all(isinstance(key, str) and is_json_value(key) for key in value):
            return False
        value = [*value.values()]
    elif not isinstance(value, list | tuple):
        return value is None or (isinstance(value, float) and isfinite(value))
    if depth <= 0:
        return False
    return all(is_json_value(item, depth - 1) for item in value)


def require_json_object(value: Mapping[str, object]) -> Mapping[str, object]:
    """Return the object with its rows as lists. Raises ValueError for what not every language can hold.

    A log gives rows back as tuples; what is read from it must still equal what was sent."""
    if not is_json_value(value):
        raise ValueError(
            f"must hold only text, finite numbers up to 2**53, true, false, null, and lists and objects"
            f" of these, nested at most {MAX_JSON_DEPTH} deep"
        )
    return {key: _tuples_to_lists(item) for key, item in value.items()}


def _tuples_to_lists(value: object) -> object:
    if isinstance(value, dict):
        return {key: _tuples_to_lists(item) for key, item in value.items()}
    return [_tuples_to_lists(item) for item in value] if isinstance(value, list | tuple) else value


# A JSON object as a log gives it back, its rows as tuples: what it holds is read by the schema of who wrote it.
LoggedObject = Mapping[str, Any]
JsonObject = Annotated[LoggedObject, AfterValidator(require_json_object)]  # as a client sends it


def as_logged(value: Mapping[str, object]) -> LoggedObject:
    """A JSON object with its rows as tuples, as a log gives it back."""
    return {key: lists_to_tuples(item) for key, item in value.items()}


def lists_to_tuples(value: object) -> object:
    """A JSON value with its rows as tuples."""
    if isinstance(value, dict):
        return as_logged(value)
    return tuple(map(lists_to_tuples, value)) if isinstance(value, list | tuple) else value


def _validate_board_choice(board: object) -> str | Mapping[str, object]:
    if isinstance(board, dict):
        return require_json_object(board)
    if isinstance(board, str) and re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,39}", board):
        return board
    raise ValueError("must be the name of a board, or a board")


BoardChoice = Annotated[
    Any,
    AfterValidator(_validate_board_choice),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,39}$"}, {"type": "object"}]}
    ),
]  # a board's name, or a board in place in the form of its game; pydantic checks no more
