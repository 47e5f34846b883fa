"""The contracts as parts of larger documents: one schema for a union of them, and components for OpenAPI and AsyncAPI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar, cast

from schemas import commands, events
from schemas.contract import CommandContract, Contract, EventContract, Json, Schema
from schemas.published_contracts import COMMANDS, EVENTS
from schemas.trains.boards.form import BOARD_SCHEMA
from schemas.trains.rule_options import RULE_OPTIONS_SCHEMA

T = TypeVar("T")
COMPONENTS: Final = "#/components/schemas/"


def contract_components(
    event_classes: Sequence[type[EventContract]] = EVENTS,
    command_classes: Sequence[type[CommandContract]] = COMMANDS,
) -> dict[str, Json]:
    """The components, by name; a part of one has the name of both. A server adds the contracts of the games it found."""
    options = simplify(RULE_OPTIONS_SCHEMA.json_schema())
    del options["required"]  # what a creation leaves out is as usual
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
    """The schema without the titles that only repeat names, and strict where keys must fit a pattern."""
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
        if key != "title"
    }
    return {**simplified, "additionalProperties": False} if "patternProperties" in simplified else simplified
