"""The OpenAPI document, completed: models that FastAPI doesn't see, the contracts, and an example of every answer."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any, Final, TypeAlias

from fastapi import FastAPI

from services.gateway.models.contract_schemas import resolve_references
from services.gateway.models.request_models import component_schemas

Document: TypeAlias = dict[str, Any]  # FastAPI's own type
EXAMPLES_FILE: Final = "answer_examples.json"  # tests/gateway/answer_examples.py writes it
EXAMPLE_PATH: Final = "#/components/examples/{name}"


def declare_document(app: FastAPI) -> None:
    """Have the application serve the completed document."""
    generate = app.openapi

    @cache
    def complete() -> Document:
        return complete_document(generate())

    app.openapi = complete  # type: ignore[method-assign]  # as FastAPI's documentation has it


def complete_document(document: Document) -> Document:
    """FastAPI's document with all models, references to contracts, and examples."""
    document["components"]["schemas"] |= component_schemas()
    completed: Document = resolve_references(document)
    examples = read_examples()
    completed["components"]["examples"] = {name: {"value": value} for name, value in examples.items()}
    for path, operations in completed["paths"].items():
        for method, operation in operations.items():
            name = example_name(method, path)
            if name in examples:
                reference = {"$ref": EXAMPLE_PATH.format(name=name)}
                success = next(reply for status, reply in operation["responses"].items() if status[0] == "2")
                success["content"]["application/json"]["examples"] = {"one": reference}
    return completed


def example_name(method: str, path: str) -> str:
    """What the example of an endpoint's answer is called: the same with a version and without, unless the answers
    differ."""
    versioned = path if path == "/v1/games" and method == "get" else path.removeprefix("/v1")
    parts = [part.strip("{}").replace("-", "_") for part in versioned.split("/") if part]
    return "_".join([method, *parts])


@cache
def read_examples() -> dict[str, Any]:  # values of any JSON type
    """An example of each endpoint's answer, by its name."""
    text = resources.files(__package__).joinpath(EXAMPLES_FILE).read_text(encoding="utf-8")
    examples: dict[str, Any] = json.loads(text)  # as above
    return examples
