"""How commands and events are declared, and how values from outside are checked against them.

`@command` and `@event` declare one, and put it into its registry: its name and code on the wire, its
fields, who may send it or see it. `@contract` makes a class that only stands inside of others.

A contract is a slotted dataclass. It is frozen for the type checker only: the guard that `frozen=True`
adds costs 0.4 us an object, more than the rest of making it, and a fold makes one per event. Nothing
checks a value where it is made; `Schema` checks it where it comes in from outside.

Every event declares who may know what it holds, and its redactor follows from that. What is hidden is turned face down
for everybody else: a row becomes a row of as many nulls, so that counts stay public and contents don't; anything else
becomes null.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from string import Formatter
from typing import (
    Any,
    ClassVar,
    Final,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_type_hints,
)

from pydantic import ConfigDict, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import CoreSchema

from schemas.errors import InvalidInputError, plain_reason
from schemas.registry import OfItsGame, Registry

WHOLE_EVENT: Final = ("*",)  # others don't know that it happened, only that there is an entry


@dataclass(frozen=True, slots=True)
class Public:
    """Everybody may know all of it."""


@dataclass(frozen=True, slots=True)
class Private:
    """The seat that the field `owner` names knows all of it; from everybody else the fields `hides` are
    hidden. Where the field `public_if_null` is null there is nothing to hide, and the event is public."""

    owner: str
    hides: tuple[str, ...]
    public_if_null: str | None = None


@dataclass(frozen=True, slots=True)
class Secret:
    """Nobody knows the fields `hides` before the game is over."""

    hides: tuple[str, ...]


PUBLIC: Final = Public()
Visibility: TypeAlias = Public | Private | Secret


@dataclass(frozen=True, slots=True)
class PileMove:
    """What an event does to a hidden pile. Its cards are shuffled or laid, and all of it then; or shuffled under it; or one
    is taken off each of several piles; or they are returned: to the top, or where the field `to` says."""

    how: Literal["shuffled", "laid", "under", "taken", "returned"]
    cards: str  # the field of the cards
    pile: str = ""  # the field of the pile's name, or of the piles'; empty: it is the deck


def require_fields(visibility: Visibility, class_name: str, field_names: tuple[str, ...]) -> None:
    """The visibility names fields of its event, and no others. Raises TypeError."""
    named: set[str] = set()
    match visibility:
        case Private(owner, hides, public_if_null):
            named = {owner, *hides, *(() if public_if_null is None else (public_if_null,))}
        case Secret(hides):
            named = set(hides)
        case Public():
            return
        case _:
            raise TypeError(f"{class_name} must declare who may see it: PUBLIC, Private or Secret")
    if unknown := named - {*field_names, *WHOLE_EVENT}:
        raise TypeError(f"the visibility of {class_name} names fields that it lacks: {sorted(unknown)}")
    if not hides:
        raise TypeError(f"the visibility of {class_name} hides nothing: that is PUBLIC")


def require_words(words: str, class_name: str, field_names: tuple[str, ...]) -> None:
    """A sentence names fields of its contract in braces, and no others. Raises TypeError."""
    try:
        named = {name for _, name, _, _ in Formatter().parse(words) if name is not None}
    except ValueError as error:
        raise TypeError(f"the words of {class_name} can't be read: {error}") from None
    if unknown := named - {*field_names}:
        raise TypeError(f"the words of {class_name} name fields that it lacks: {sorted(unknown)}")


T = TypeVar("T")
Json: TypeAlias = dict[str, Any]  # a JSON object: its values nest, and are checked where they are read
CommandT = TypeVar("CommandT", bound="CommandContract")
EventT = TypeVar("EventT", bound="EventContract")
Class: TypeAlias = type[T]  # `type` is the name of a keyword below
InMove = Literal["begins", "follows", "ends"]
Sender = Literal["player", "system"]  # a seat, or the server, its operator and its clock


class Contract:
    """Base of commands and events: what the wire calls them."""

    __slots__ = ()
    type: ClassVar[str]
    version: ClassVar[int] = 1
    code: ClassVar[int | str]  # one for each type and version, never used twice


class CommandContract(Contract):
    """Base of commands."""

    __slots__ = ()
    sender: ClassVar[Sender]
    description: ClassVar[str]  # what a seat asks for, like "play {card}"; empty where a function says it


class EventContract(Contract):
    """Base of events."""

    __slots__ = ()
    visibility: ClassVar[Visibility]
    sentence: ClassVar[str]  # what happened, like "{seat} plays {card}."; empty where a function says it
    # what it is to a move that its seat can take back, as it showed it nothing hidden
    in_move: ClassVar[InMove]
    draws: ClassVar[str]  # the field of the cards that it takes off the top of the hidden deck; empty: none
    # What few events are, each says in its class.
    lays: ClassVar[bool] = False  # it stands for a part of the deal, and only in the first entry
    piles: ClassVar[PileMove | None] = None  # what else it moves into hidden piles, or out of them
    # the command that its fields of the same names repeat in full
    repeats: ClassVar[Class[CommandContract] | None] = None


@dataclass_transform(frozen_default=True)
def contract() -> Callable[[Class[T]], Class[T]]:
    """Make a class a part of contracts: slotted, and no field that it doesn't know.

    Whole numbers and truth values are strict by their types in schemas/field_types.py (a "3" is no 3);
    the class itself isn't, or pydantic would want tuples where msgpack and JSON have lists."""
    return _make_contract


@dataclass_transform(frozen_default=True)
def command(
    *, type: str, code: int | str, sender: Sender, description: str = ""
) -> Callable[[Class[CommandT]], Class[CommandT]]:
    """Declare a command. `type` and `code` are what the wire calls it: they stay when the class is renamed.
    `sender` is who may send it. Raises TypeError where another command has its type or code."""

    def decorate(cls: Class[CommandT]) -> Class[CommandT]:
        declared = _make_contract(cls)
        declared.type, declared.code, declared.sender, declared.description = type, code, sender, description
        require_words(description, declared.__name__, field_names(declared))
        _register(COMMAND_REGISTRY, declared, type, code)
        return declared

    return decorate


def wish_of(command: CommandContract) -> str:
    """What a command is for: its description up to the first field, or its type in words."""
    return command.description.partition("{")[0].strip() or command.type.replace("_", " ")


@dataclass_transform(frozen_default=True)
def event(
    *,
    type: str,
    code: int | str,
    visibility: Visibility,
    sentence: str = "",
    draws: str = "",
    in_move: InMove = "ends",
) -> Callable[[Class[EventT]], Class[EventT]]:
    """Declare an event. `type` and `code` are what the wire calls it: they stay when the class is renamed;
    `visibility` is who may know what it holds, `draws` the field of the cards that it takes off the deck; `in_move`
    what it is to a move that can be taken back: it begins one, as it shows its seat nothing hidden; it follows, or it ends that. Raises
    TypeError where another event has its type or code, or where one of these names a field that it lacks."""

    def decorate(cls: Class[EventT]) -> Class[EventT]:
        declared = _make_contract(cls)
        names = field_names(declared)
        require_fields(visibility, declared.__name__, names)
        if draws and (draws not in names or isinstance(visibility, Secret)):
            raise TypeError(f"{declared.__name__} draws {draws!r}: that is no field of it, or nobody sees it")
        # A verifier that doesn't know the game must know the place of the cards in a row.
        wire_code = f"{code}^{names.index(draws) + 1}" if draws and isinstance(code, str) else code
        declared.type, declared.code, declared.visibility = type, wire_code, visibility
        declared.sentence, declared.draws, declared.in_move = sentence, draws, in_move
        require_words(sentence, declared.__name__, names)
        _register(EVENT_REGISTRY, declared, type, wire_code)
        return declared

    return decorate


def _make_contract(cls: Class[T]) -> Class[T]:
    contract_class: Class[T] = dataclass(slots=True)(cls)
    setattr(contract_class, "__pydantic_config__", ConfigDict(extra="forbid"))  # noqa: B010 - T has no such name
    return contract_class


class BroughtForms:
    """The forms of a field that each game fills in its own words. They mark the field's type."""

    def __init__(self, *own: type) -> None:
        self._own, self._brought = own, list[type]()

    def bring(self, form: Class[T]) -> Class[T]:
        """Let the field be of this contract too: the decorator of a game's own."""
        self._brought.append(form)
        return form

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Any of the forms that are known when a schema is first needed; without one, nothing but null."""
        return handler.generate_schema(
            Union[*self._brought, *self._own] if self._brought or self._own else None
        )


class Schema(Generic[T]):
    """Reads one contract strictly from JSON-like values or JSON text, and writes it."""

    def __init__(self, contract_type: Any, name: str) -> None:  # a class, a union, an annotated type
        self.name, self._type = name, contract_type

    @cached_property  # made when it is first needed: by then the games have brought their forms
    def _adapter(self) -> TypeAdapter[T]:
        return TypeAdapter(self._type)

    @cached_property
    def _validate(self) -> Callable[[object], object]:
        return self._adapter.validator.validate_python  # the adapter's own costs twice as much

    def read(self, value: object) -> T:
        """The contract in a JSON-like `value` (dicts, tuples, numbers, strings).

        Raises InvalidInputError, naming the first field that is wrong."""
        try:
            return cast(T, self._validate(value))
        except ValidationError as error:
            raise to_invalid_input_error(error, self.name) from None

    def read_json(self, text: bytes | str) -> T:
        """Read the contract from JSON text, where lists stand for tuples. Raises InvalidInputError."""
        try:
            return self._adapter.validate_json(text)
        except ValidationError as error:
            raise to_invalid_input_error(error, self.name) from None

    def write(self, value: T, *, exclude_defaults: bool = False) -> Any:  # JSON: the caller knows its form
        """The contract as a JSON-like value; `exclude_defaults` leaves out fields with their default."""
        return self._adapter.dump_python(value, mode="json", exclude_defaults=exclude_defaults)

    def json_schema(self) -> Json:
        """The contract as JSON Schema."""
        return self._adapter.json_schema()


def _register(
    registry: Registry[OfItsGame, OfItsGame], cls: Class[OfItsGame], type_name: str, code: int | str
) -> None:
    registry.add(cls, type_name, code)
    registry.fields[cls] = field_names(cls)
    registry.schemas[type_name] = Schema(cls, type_name)


COMMAND_REGISTRY: Final[Registry[CommandContract, Schema[CommandContract]]] = Registry("command")
EVENT_REGISTRY: Final[Registry[EventContract, Schema[EventContract]]] = Registry("event")


def to_invalid_input_error(error: ValidationError, name: str) -> InvalidInputError:
    """A validation error as one sentence about its first field; the error has the others too."""
    wrong: dict[str, str] = {}
    for each in error.errors(include_url=False, include_input=False):
        field = ".".join(str(part) for part in each["loc"] if part != "[key]") or name
        if not any(known == field or known.startswith(f"{field}.") for known in wrong):
            wrong[field] = plain_reason(each)  # what is said of a part needn't be said of the whole again
    (field, reason), *others = wrong.items()
    return InvalidInputError(
        field, reason + (f" (and {len(others)} more)" if others else ""), others=tuple(others)
    )


def field_names(cls: type) -> tuple[str, ...]:
    """The names of a dataclass's fields, in the order of their declaration."""
    return tuple(field.name for field in fields(cls))


def holds_contracts(cls: type) -> bool:
    """Whether a field of this contract holds another one, at any depth of its type."""
    hints = get_type_hints(cls, include_extras=True)
    return any(_names_contract(hints[name]) for name in field_names(cls))


def _names_contract(hint: object) -> bool:
    if isinstance(hint, BroughtForms) or (isinstance(hint, type) and is_dataclass(hint)):
        return True
    return any(_names_contract(part) for part in get_args(hint))
