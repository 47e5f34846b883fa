"""Write the types of the API's calls for the pages: `python -m deploy.page_types`, or `--check` whether they are stale.

The pages ask the API by the names of its operations, "GET /games/{game}/state". The TypeScript compiler knows from
services/gateway/pages/api/openapi.d.ts what each of these sends and answers. It holds only the calls that a page
makes, and the models that they reach.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Final

import redis.asyncio

from schemas.contract import Json
from schemas.published_contracts import COMPONENTS
from schemas.web.tokens import TokenKeys
from services.gateway.games.client_limits import ClientLimits
from services.gateway.server import create_app
from services.gateway.web.rate_limit import RateLimiter
from services.ledger.async_ledger import AsyncLedger

PAGES: Final = Path(__file__).parents[1] / "services" / "gateway" / "pages"
TYPES: Final = PAGES / "api" / "openapi.d.ts"
OPERATION: Final = re.compile(r'"((?:GET|POST|PUT|DELETE) /[^"]*)"')
HEAD: Final = "// Written by `make page-types` from the OpenAPI document: what the calls of the pages send and answer.\n"
PRIMITIVES: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "undefined": "undefined",
}
UNREAD: Final = {"Event", "Command"}  # models of dozens of parts that no page looks into
PROBLEM: Final = "Problem"  # what every call may answer
NOTHING: Final = {"type": "undefined"}


def types_text() -> str:
    """The text of the file of types. Raises KeyError: a page names an operation that the document doesn't have."""
    document = openapi_document()
    contents = {name: _contents(document, *name.split(" ", 1)) for name in sorted(_operations_of_pages())}
    calls = "".join(
        f'  "{name}": {{ body: {_type(body)}; answer: {_type(answer)} }};\n'
        for name, (body, answer) in contents.items()
    )
    models = _reached_models(document["components"]["schemas"], {PROBLEM} | _references(contents))
    declarations = [f"\nexport type {name} = {_type(schema)};\n" for name, schema in sorted(models.items())]
    return f"{HEAD}\nexport interface Calls {{\n{calls}}}\n{''.join(declarations)}"


def openapi_document() -> Json:
    """The document that a gateway serves. Its application is only put together: nothing of it runs."""
    ledger = AsyncLedger(redis.asyncio.Redis(), 1)
    return create_app(ledger, TokenKeys(bytes(32)), ClientLimits(RateLimiter(1, 1, lambda: 0.0))).openapi()


def _operations_of_pages() -> set[str]:
    modules = [path for path in PAGES.rglob("*.js") if "vendor" not in path.parts]
    return {name for path in modules for name in OPERATION.findall(path.read_text(encoding="utf-8"))}


def _contents(document: Json, method: str, path: str) -> tuple[Json, Json]:
    """The schemas of an operation's body and of its answer."""
    operation = document["paths"][f"/v1{path}"][method.lower()]
    answers = [reply for status, reply in operation["responses"].items() if status[0] == "2"]
    return _json_schema(operation.get("requestBody", {})), {"anyOf": [_json_schema(each) for each in answers]}


def _json_schema(holder: Json) -> Json:
    schema: Json = holder.get("content", {}).get("application/json", {}).get("schema", NOTHING)
    return schema


def _references(schema: object) -> set[str]:
    """The names of the models that a schema refers to."""
    return set(re.findall(rf'"{COMPONENTS}(\w+)"', json.dumps(schema)))


def _reached_models(schemas: Json, names: set[str]) -> Json:
    """These models and all that they reach, by name."""
    models: Json = {}
    while new := names - models.keys():
        models |= {name: {} if name in UNREAD else schemas[name] for name in new}
        names = _references([models[name] for name in new])
    return models


def _type(schema: Json) -> str:
    """A JSON Schema as a type of TypeScript."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "const" in schema or "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema.get("enum", [schema.get("const")]))
    if parts := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(dict.fromkeys(_type(part) for part in parts))
    match schema.get("type"):
        case "array":
            item = _type(schema.get("items", {}))
            return f"{item}[]" if item.isidentifier() else f"({item})[]"
        case "object":
            return _object_type(schema)
        case list() as names:
            return " | ".join(PRIMITIVES[name] for name in names)
        case str() as name:
            return PRIMITIVES[name]
    return "unknown"


def _object_type(schema: Json) -> str:
    if "properties" not in schema:
        values = schema.get("additionalProperties")
        value = _type(values) if isinstance(values, dict) else "unknown"
        return f"{{ [name: string]: {value} }}"
    required = schema.get("required", [])
    fields = [
        f"  {name}{'' if name in required else '?'}: {_type(field)};\n"
        for name, field in schema["properties"].items()
    ]
    return "{\n" + "".join(fields) + "}"


def main(arguments: list[str]) -> None:
    """Write the file, or with `--check` compare it. Raises SystemExit: it is out of date."""
    text = types_text()
    if arguments != ["--check"]:
        TYPES.write_text(text, encoding="utf-8")
    elif not TYPES.is_file() or TYPES.read_text(encoding="utf-8") != text:
        sys.exit(f"{TYPES.relative_to(PAGES.parents[2])} is stale: make page-types")


if __name__ == "__main__":
    main(sys.argv[1:])
