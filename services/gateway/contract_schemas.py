"""The contracts of schemas/ as components of the OpenAPI document: commands, events, boards, rule options.

A model refers to one of them with `refers_to`; `resolve_references` makes these marks into references, because pydantic
knows no schema that it didn't make itself.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from pydantic import WithJsonSchema

from schemas import commands, events
from schemas.boards.form import BOARD_SCHEMA
from schemas.json_schema import simplify, union_schema
from schemas.rule_options import RULE_OPTIONS_SCHEMA

JsonSchema: TypeAlias = dict[str, Any]  # values of any JSON type
COMPONENTS: Final = "#/components/schemas/"
MARK: Final = "x-component"
JSON_SCHEMA: Final[JsonSchema] = {
    "description": "A JSON Schema, of the keywords that rule options need.",
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "enum": {"type": "array", "items": {"type": "string"}},
        **{
            keyword: {"type": "integer"}
            for keyword in (
                "minimum",
                "maximum",
                "minItems",
                "maxItems",
                "minLength",
                "maxLength",
                "maxProperties",
            )
        },
        "pattern": {"type": "string"},
        **{
            keyword: {"anyOf": [{"$ref": f"{COMPONENTS}OptionType"}, {"type": "boolean"}]}
            for keyword in ("items", "additionalProperties")
        },
        "propertyNames": {"$ref": f"{COMPONENTS}OptionType"},
        "anyOf": {"type": "array", "items": {"$ref": f"{COMPONENTS}OptionType"}},
        "patternProperties": {
            "type": "object",
            "additionalProperties": {"$ref": f"{COMPONENTS}OptionType"},
        },
        "title": {"type": "string"},
    },
    "additionalProperties": False,
}
OPTION_VALUE: Final[JsonSchema] = {
    "description": "A rule option's value.",
    "anyOf": [
        {"type": ["null", "boolean", "integer", "string"]},
        {"type": "array", "items": {"$ref": f"{COMPONENTS}OptionValue"}},
        {"type": "object", "additionalProperties": {"$ref": f"{COMPONENTS}OptionValue"}},
    ],
}


def refers_to(component: str) -> WithJsonSchema:
    """The mark of a field that is of this component."""
    return WithJsonSchema({MARK: component})


def resolve_references(schema: Any) -> Any:  # any JSON value, and one of the same type
    """The schema with a reference for each mark."""
    if isinstance(schema, list):
        return [resolve_references(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    resolved = {key: resolve_references(part) for key, part in schema.items() if key != MARK}
    return {**resolved, "$ref": COMPONENTS + schema[MARK]} if MARK in schema else resolved


def contract_components() -> dict[str, JsonSchema]:
    """The components, by name; a part of one has the name of both."""
    options = simplify(RULE_OPTIONS_SCHEMA.json_schema())
    del options["required"]  # what a creation leaves out is as usual
    return {
        **_components("Event", union_schema(events.SCHEMAS, events.EVENTS, "Any event, by its type. What is hidden is null.")),
        **_components("Command", union_schema(commands.SCHEMAS, commands.COMMANDS, "Any command, by its type.")),
        "PlayerCommand": {
            "description": "A command of a seat, by its type.",
            "oneOf": [{"$ref": f"{COMPONENTS}Command_{cls.type}"} for cls in commands.PLAYER_COMMANDS],
        },
        **_components("BoardForm", simplify(BOARD_SCHEMA.json_schema())),
        **_components("RuleOptionChoices", options),
        "OptionType": JSON_SCHEMA,
        "OptionValue": OPTION_VALUE,
    }  # fmt: skip


def _components(name: str, schema: JsonSchema) -> dict[str, JsonSchema]:
    """A schema as a component, and each of its definitions as another."""
    definitions = schema.pop("$defs", {})
    prefix = f"{COMPONENTS}{name}_"

    def renamed(part: Any) -> Any:  # any JSON value, and one of the same type
        if isinstance(part, list):
            return [renamed(each) for each in part]
        if not isinstance(part, dict):
            return part
        if part.get("additionalProperties") is True:  # options, of a creation or a board
            return {"$ref": f"{COMPONENTS}RuleOptionChoices"}
        if part == {"type": "object"}:  # a board in place
            return {"$ref": f"{COMPONENTS}BoardForm"}
        return {
            key: prefix + value.removeprefix("#/$defs/") if key == "$ref" else renamed(value)
            for key, value in part.items()
        }

    return {
        name: renamed(schema),
        **{f"{name}_{part}": renamed(definition) for part, definition in definitions.items()},
    }
