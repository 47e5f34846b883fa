"""Pages for who reads. The guide is the site that `make docs` makes of the pages in docs, at `/guide`, with a search that needs
no server: its pages run a few scripts that stand in them, which are allowed by their hashes, and set styles of their own.

The page of the API, at `/docs`, has every call and every model of the OpenAPI document, as plain HTML. It needs no script.
The document itself is at `/openapi.json`, for programs that call the API or make clients of it.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup, escape

from services.gateway.errors import NotFoundError
from services.gateway.routes.pages import Assets
from services.gateway.routes.rule_pages import render_markdown
from services.gateway.web.request_middleware import CONTENT_SECURITY_POLICY
from services.runtime.shipped_files import render_template, shipped_file

Json = Mapping[str, Any]  # a part of the document
UNTAGGED: Final = "server"
MODELS: Final = "#/components/schemas/"
EXAMPLES: Final = "#/components/examples/"
BOUNDS: Final = {
    "minimum": "from {}",
    "exclusiveMinimum": "over {}",
    "maximum": "to {}",
    "minLength": "{} letters or more",
    "maxLength": "{} letters at most",
    "minItems": "{} or more",
    "maxItems": "{} at most",
}

router = APIRouter(include_in_schema=False)


class Row(NamedTuple):
    """A parameter, or a field of a model."""

    name: str
    type: Markup
    note: Markup
    where: str = ""  # a parameter's: path, query, header
    is_required: bool = False


class Answer(NamedTuple):
    """What a call may answer."""

    status: str
    meaning: str
    type: Markup
    example: str


class Call(NamedTuple):
    """A call."""

    id: str
    method: str
    path: str
    summary: str
    text: Markup
    token: str  # whether one is needed
    parameters: list[Row]
    body: Markup
    body_example: str
    answers: list[Answer]


@router.get("/docs", summary="The API for people")
async def docs(request: Request) -> HTMLResponse:
    """The page is made once: the document doesn't change while a process runs."""
    state = request.app.state
    if not hasattr(state, "api_page"):
        state.api_page = render(request.app.openapi())
    return HTMLResponse(state.api_page, headers={"Cache-Control": "no-cache"})


def render(document: Json) -> str:
    """The page of an OpenAPI document."""
    calls: dict[str, list[Call]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            tag = operation.get("tags", [UNTAGGED])[0]
            calls.setdefault(tag, []).append(_call(document, method, path, operation))
    components = document["components"]
    return render_template("services.gateway.routes", "api.html",
        title="The API",
        introduction=render_markdown(document["info"]["description"].strip()),
        calls=calls,
        models={name: (_text(model), _rows(model), _type(model)) for name, model in components["schemas"].items()},
    )  # fmt: skip


def _call(document: Json, method: str, path: str, operation: Json) -> Call:
    content = operation.get("requestBody", {}).get("content", {})
    body: Json = next(iter(content.values()), {})
    security = operation.get("security")
    optional = security is not None and {} in security
    return Call(
        operation["operationId"],
        method.upper(),
        path,
        operation["summary"],
        _text(operation),
        "" if not security else "A token may be sent." if optional else "Needs a token.",
        [_parameter(each) for each in operation.get("parameters", ())],
        _type(body["schema"]) if body else Markup(),
        _example(document, body),
        [
            _answer(document, status, answer)
            for status, answer in sorted(operation.get("responses", {}).items())
        ],
    )


def _answer(document: Json, status: str, answer: Json) -> Answer:
    content: Json = next(iter(answer.get("content", {}).values()), {})
    meaning = answer.get("description", "").replace("Successful Response", "Done")
    answer_type = _type(content["schema"]) if "schema" in content else Markup()
    return Answer(status, meaning, answer_type, _example(document, content))


def _parameter(parameter: Json) -> Row:
    schema = parameter.get("schema", {})
    note = _note({**schema, "description": parameter.get("description", schema.get("description", ""))})
    return Row(
        parameter["name"], _type(schema), note, parameter["in"], is_required=parameter.get("required", False)
    )


def _rows(model: Json) -> list[Row]:
    """The fields of a model."""
    needed = model.get("required", ())
    return [
        Row(name, _type(field), _note(field), is_required=name in needed)
        for name, field in model.get("properties", {}).items()
    ]


def _text(part: Json) -> Markup:
    """What a call or a model is, in words."""
    return render_markdown(part.get("description", ""))


def _note(schema: Json) -> Markup:
    """What a field means, and its bounds."""
    bounds = [words.format(schema[key]) for key, words in BOUNDS.items() if key in schema]
    return escape("; ".join(filter(None, [schema.get("description", ""), ", ".join(bounds)])))


def _type(schema: Json) -> Markup:
    """The type of a value in words; a model is a link to it."""
    return Markup(" or ").join(dict.fromkeys(_types(schema)))


def _types(schema: Json) -> Iterator[Markup]:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(MODELS)
        yield Markup('<a href="#{0}">{0}</a>').format(name)
    elif parts := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        for part in parts:
            yield from _types(part)
    elif "const" in schema or "enum" in schema:
        for value in schema.get("enum", [schema.get("const")]):
            yield Markup("<code>{}</code>").format(json.dumps(value))
    elif schema.get("type") == "array":
        yield Markup("list of {}").format(_type(schema["items"])) if "items" in schema else Markup("list")
    elif isinstance(values := schema.get("additionalProperties"), Mapping) and values:
        yield Markup("object, each value {}").format(_type(values))
    else:
        found = schema.get("type", "any JSON")
        yield from (escape(each) for each in ([found] if isinstance(found, str) else found))


def _example(document: Json, content: Json) -> str:
    """The example of a content, as JSON in lines; empty where it has none."""
    example = content.get("example")
    for named in content.get("examples", {}).values():
        reference = named.get("$ref", "")
        found = document["components"]["examples"][reference.removeprefix(EXAMPLES)] if reference else named
        example = found.get("value", example)
        break
    return "" if example is None else json.dumps(example, indent=1, ensure_ascii=False)


FOLDER: Final = shipped_file("build/guide")
FIRST_PAGE: Final = "/guide/docs/index.html"
SCRIPT: Final = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


@router.get("/guide", summary="The guide")
def guide() -> Response:
    return RedirectResponse(FIRST_PAGE)


@router.get("/guide/{path:path}", summary="A page or a file of the guide")
def page(path: str, request: Request) -> Response:
    if not path:
        return RedirectResponse(FIRST_PAGE)
    if not FOLDER.is_dir():
        raise NotFoundError(
            "SHAPE-1",
            "the guide isn't made in this checkout: `make docs` makes it; docs/index.md has it as text",
        )
    answer = _files(FOLDER).answer(path, request.headers)
    if path.endswith(".html"):
        answer.headers["Content-Security-Policy"] = _policy(FOLDER)
    return answer


@cache
def _files(folder: Path) -> Assets:
    return Assets(folder)


@cache
def _policy(folder: Path) -> str:
    """What a page of the guide may do: run the scripts of this server, and those that stand in the guide's own pages."""
    scripts = {script for page in folder.rglob("*.html") for script in SCRIPT.findall(page.read_bytes())}
    hashes = sorted(f"'sha256-{b64encode(sha256(script).digest()).decode()}'" for script in scripts)
    policy = CONTENT_SECURITY_POLICY.replace("script-src 'self'", " ".join(["script-src 'self'", *hashes]))
    return policy.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
