"""What every contract has: a type name, a version, strict checking, and a JSON form.

A contract is a slotted dataclass. It is frozen for the type checker only: the guard that
`frozen=True` adds costs 0.4 us an object, more than the rest of making it, and a fold
makes one per event. Nothing checks a value where it is made; `Shape` checks it where it
comes in from outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar, dataclass_transform

from pydantic import ConfigDict, TypeAdapter, ValidationError

from schemas.errors import InvalidInputError

T = TypeVar("T")
Class: TypeAlias = type[T]  # `type` is the name of a keyword below


class Contract:
    """Base of commands and events: what they are called, at home and on the wire."""

    __slots__ = ()
    type: ClassVar[str]
    version: ClassVar[int]
    code: ClassVar[int]  # on the wire, one for each type and version, never used twice


@dataclass_transform(frozen_default=True)
def contract(*, type: str = "", code: int = 0, version: int = 1) -> Callable[[Class[T]], Class[T]]:
    """Make a class a contract: slotted, and no field that it doesn't know. `type` and `code` are what
    the wire calls it: they stay when the class is renamed. A part of other contracts has neither.

    Whole numbers and truth values are strict by their types in `words` (a "3" is no 3);
    the class itself isn't, or pydantic would want tuples where msgpack and JSON have lists."""

    def decorate(cls: Class[T]) -> Class[T]:
        contract_class: Any = dataclass(slots=True)(cls)
        contract_class.type, contract_class.version, contract_class.code = type, version, code
        contract_class.__pydantic_config__ = ConfigDict(extra="forbid")
        return contract_class  # type: ignore[no-any-return]  # dataclass() keeps the class's type

    return decorate


class Schema(Generic[T]):
    """The strict reading of one contract, from JSON-like values or from JSON bytes."""

    def __init__(self, contract_type: Any, name: str) -> None:
        self.name = name
        self._adapter: TypeAdapter[T] = TypeAdapter(contract_type)

    def read(self, value: object) -> T:
        """The contract that `value` (dicts, tuples, numbers, strings) spells.

        Raises Malformed, naming the first field that is wrong."""
        try:
            return self._adapter.validate_python(value)
        except ValidationError as error:
            raise to_invalid_input_error(error, self.name) from None

    def read_json(self, text: bytes | str) -> T:
        """The same from JSON text, where lists stand for tuples."""
        try:
            return self._adapter.validate_json(text)
        except ValidationError as error:
            raise to_invalid_input_error(error, self.name) from None

    def write(self, value: T, *, exclude_defaults: bool = False) -> Any:
        """The JSON-like value that spells this contract; a brief one leaves out what is usual."""
        return self._adapter.dump_python(value, mode="json", exclude_defaults=exclude_defaults)

    def json_schema(self) -> dict[str, Any]:
        return self._adapter.json_schema()


def to_invalid_input_error(error: ValidationError, name: str) -> InvalidInputError:
    """A validation error as one sentence about one field."""
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"] if part != "[key]") or name
    reason = _PLAIN_MESSAGES.get(first["type"], first["msg"].removeprefix("Value error, "))
    further_errors = error.error_count() - 1
    return InvalidInputError(field, reason + (f" (and {further_errors} more)" if further_errors else ""))


_PLAIN_MESSAGES = {
    "unexpected_keyword_argument": "there is no such field",
    "missing_argument": "is missing",
    "missing": "is missing",
}


def field_names(cls: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls))
