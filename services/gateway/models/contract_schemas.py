"""How models refer to the contracts of schemas/, which are components of the OpenAPI document.

A model refers to one of them with `refers_to`; `resolve_references` makes these marks into references, because pydantic
knows no schema that it didn't make itself.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import WithJsonSchema

from schemas.contract import Json
from schemas.published_contracts import COMPONENTS

MARK: Final = "x-component"
JSON_SCHEMA: Final[Json] = {
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
_NUMBERS: Final[Json] = {"type": "array", "items": {"type": ["null", "integer"]}}
OPTION_VALUE: Final[Json] = {
    "description": "A rule option's value.",  # written out: generated clients know no schema that contains itself
    "anyOf": [
        {"type": "null"},
        {"type": "boolean"},
        {"type": "integer"},
        {"type": "string"},
        _NUMBERS,
        {"type": "object", "additionalProperties": {"anyOf": [{"type": "integer"}, _NUMBERS]}},
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


def option_components() -> dict[str, Json]:
    """The components that no contract has: how an option is described."""
    return {"OptionType": JSON_SCHEMA, "OptionValue": OPTION_VALUE}
