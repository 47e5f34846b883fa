"""The contracts that the product publishes: what every game has, and what a family adds to it.

A game whose codes begin with its name publishes its own with itself.

They are parts of larger documents, too: one schema for a union of them, and components for OpenAPI and AsyncAPI.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar, cast

from schemas import commands, events
from schemas.contract import (
    COMMAND_REGISTRY,
    EVENT_REGISTRY,
    CommandContract,
    Contract,
    EventContract,
    Json,
    Schema,
)
from schemas.refusals import GAME_RULES, MESSAGE_RULES
from schemas.trains import commands as train_commands  # noqa: F401 - a game's contracts are known once they are imported
from schemas.trains import events as train_events  # noqa: F401 - likewise
from schemas.trains.boards.form import BOARD_SCHEMA
from schemas.trains.rule_options import RULE_OPTIONS_SCHEMA
from schemas.trains.rule_options import TRAIN_RULES as FAMILY_RULES

ContractT = TypeVar("ContractT", bound=type[Contract])
_KERNEL: Final = (commands.__name__, events.__name__)


def in_order(classes: tuple[ContractT, ...]) -> tuple[ContractT, ...]:
    """The contracts, whichever module was imported first: those of the family, of every game, of games that were found."""
    return tuple(
        sorted(classes, key=lambda cls: (isinstance(cls.code, str), cls.__module__.startswith(_KERNEL)))
    )


def _is_published(cls: type[Contract]) -> bool:
    return isinstance(cls.code, int)


EVENTS: Final[tuple[type[EventContract], ...]] = in_order(
    tuple(filter(_is_published, EVENT_REGISTRY.classes))
)
COMMANDS: Final[tuple[type[CommandContract], ...]] = in_order(
    tuple(filter(_is_published, COMMAND_REGISTRY.classes))
)
PLAYER_COMMANDS: Final = tuple(cls for cls in COMMANDS if cls.sender == "player")
ALL_RULES: Final[dict[str, str]] = {**GAME_RULES, **FAMILY_RULES, **MESSAGE_RULES}


T = TypeVar("T")
COMPONENTS: Final = "#/components/schemas/"


def contract_components(
    event_classes: Sequence[type[EventContract]] = EVENTS,
    command_classes: Sequence[type[CommandContract]] = COMMANDS,
) -> dict[str, Json]:
    """The components, by name; a part of one has the name of both. A server adds the contracts of the games it found."""
    options = simplify(RULE_OPTIONS_SCHEMA.json_schema())
    del options["required"]  # what a creation leaves out is as usual in its ruleset,
    for option in options["properties"].values():
        option.pop("default", None)  # which has defaults of its own
    return {
        **_components("Event", union_schema(events.SCHEMAS, event_classes, "Any event, by its type. What is hidden is null.")),
        **_components("Command", union_schema(commands.SCHEMAS, command_classes, "Any command, by its type.")),
        "PlayerCommand": {
            "description": "A command of a seat, by its type.",
            "oneOf": [{"$ref": f"{COMPONENTS}Command_{cls.type}"} for cls in command_classes if cls.sender == "player"],
        },
        **_components("BoardForm", simplify(BOARD_SCHEMA.json_schema())),
        **_components("RuleOptionChoices", options),
    }  # fmt: skip


def _components(name: str, schema: Json) -> dict[str, Json]:
    """A schema as a component, and each of its definitions as another."""
    definitions = schema.pop("$defs", {})
    prefix = f"{COMPONENTS}{name}_"

    def renamed(part: object) -> object:
        if isinstance(part, list):
            return [renamed(each) for each in part]
        if not isinstance(part, dict):
            return part
        if part.get("additionalProperties") is True:  # options, of a creation or a board
            return {"$ref": f"{COMPONENTS}RuleOptionChoices"}
        if part == {"type": "object"}:  # a board in place
            return {"$ref": f"{COMPONENTS}BoardForm"}
        return {
            key: prefix + str(value).removeprefix("#/$defs/") if key == "$ref" else renamed(value)
            for key, value in part.items()
        }

    parts = {f"{name}_{part}": definition for part, definition in definitions.items()}
    return {part: cast("Json", renamed(each)) for part, each in ({name: schema} | parts).items()}


def union_schema(
    contract_schemas: Mapping[str, Schema[T]], classes: Sequence[type[Contract]], description: str
) -> Json:
    """A schema of any of these contracts, by its type."""
    variants: Json = {}
    definitions: Json = {}
    for cls in sorted(classes, key=lambda cls: cls.type):
        variant = simplify(contract_schemas[cls.type].json_schema())
        for name, definition in variant.pop("$defs", {}).items():
            assert definitions.setdefault(name, definition) == definition, f"two contracts are called {name}"
        variant["properties"] = {"type": {"const": cls.type}, **variant["properties"]}
        variant["required"] = ["type", *variant.get("required", ())]
        variants[cls.type] = {**variant, "x-version": cls.version, "x-code": cls.code}
    references = [{"$ref": f"#/$defs/{name}"} for name in variants]
    return {
        "description": description,
        "oneOf": references,
        "$defs": {**variants, **dict(sorted(definitions.items()))},
    }


def simplify(schema: Json) -> Json:
    """The schema without titles that only repeat names and defaults that are null, and strict where keys must fit a pattern.

    Generators of clients require a field that has a default. They read no `patternProperties`, and take such a mapping for
    one that is always empty: `propertyNames` says the pattern."""
    return cast("Json", _simplify(schema))


def _simplify(schema: object) -> object:
    if isinstance(schema, list):
        return [_simplify(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    name_keyed = {"properties", "patternProperties", "$defs"}  # their keys are names, not keywords
    simplified = {
        key: {name: _simplify(value) for name, value in part.items()}
        if key in name_keyed
        else _simplify(part)
        for key, part in schema.items()
        if key != "title" and (key, part) != ("default", None)
    }
    if "patternProperties" in simplified and "properties" not in simplified:
        [(pattern, value)] = cast("Json", simplified.pop("patternProperties")).items()
        simplified = {
            **simplified,
            "propertyNames": simplified.get("propertyNames", {"pattern": pattern}),
            "additionalProperties": value,
        }
    return simplified
