"""Write the pages of docs/reference that follow from code: `make reference`, or `--check` whether they are stale.

Commands come from the command line's help, settings and metrics from their models, calls and messages from the OpenAPI and AsyncAPI
documents, events and refusals from the contracts, options from the rulesets. The first line of a page says so: then
its words aren't counted as written ones.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import typer
from pydantic import SecretStr
from typer.core import TyperArgument, TyperCommand, TyperOption
from typer.main import get_command

from deploy.page_types import openapi_document
from schemas.contract import Contract, Json, field_names
from schemas.published_contracts import ALL_RULES, COMMANDS, EVENTS
from schemas.refusals import MESSAGE_RULES
from schemas.web.socket_messages import describe_socket
from services.cli.app import PANELS, add_commands
from services.cli.output import EXIT_CODES, share_options
from services.metrics.declared import DECLARED
from services.referee.games import RULESETS
from services.runtime.settings import Settings

FOLDER: Final = Path(__file__).parents[1] / "docs" / "reference"
GENERATED: Final = "<!-- Written by `make reference` from the code. -->"
PROBLEMS: Final = {"401", "403", "404", "409", "413", "415", "422", "429", "501", "503"}


def pages() -> dict[str, str]:
    """The text of every generated page, by its name."""
    makers: Mapping[str, Callable[[], Iterator[str]]] = {
        "commands": _commands,
        "settings": _settings,
        "http": _calls,
        "events": _events,
        "options": _options,
        "metrics": _metrics,
    }
    return {f"{name}.md": _page(make()) for name, make in makers.items()}


def _page(lines: Iterator[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", f"{GENERATED}\n" + "\n".join(lines)).rstrip() + "\n"


def table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """A table in Markdown, with an empty line before and after it."""
    heads = list(heads)
    yield ""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(' '.join(str(cell).split()).replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def _metrics() -> Iterator[str]:
    yield "# Metrics"
    yield ""
    yield "What each service shows Prometheus at `LEDGERLINE_METRICS` ([settings](settings.md)). Beside these a process shows"
    yield "its CPU, memory and open files (`process_*`). Counters and histograms begin at 0 with each start. What a gateway"
    yield "shows of the whole system, every gateway shows: take `max`, not `sum`."
    heads = ("metric", "type", "labels", "services", "meaning")
    yield from table(
        heads,
        (
            (
                f"`{metric.name}`",
                type(metric).__name__.lower(),
                ", ".join(f"`{label}`" for label in metric.labels),
                "every one" if len(metric.services) == 4 else ", ".join(metric.services),
                metric.meaning,
            )
            for metric in DECLARED
        ),
    )


def _commands() -> Iterator[str]:
    yield "# Commands"
    yield ""
    yield "`ledgerline --help` lists them in the same order; `ledgerline COMMAND --help` explains one."
    yield ""
    yield "A game is named by its id, by its beginning if only one begins so, or as `last`; a seat by its letter, its"
    yield "number, or its player's name. `ledgerline --install-completion` has your shell complete commands and options."
    yield ""
    yield "`--json` prints one JSON object and nothing else; a command that has only sentences to print gives"
    yield '`{"lines": [...]}`, and `watch` an object a line. `--quiet` prints errors alone. An error is a line on standard'
    yield "error in any case. `NO_COLOR` leaves colours out; the width is the terminal's, 110 where there is none."
    yield from table(["exit code", "what"], EXIT_CODES.items())
    app = typer.Typer(name="ledgerline")
    app.callback()(lambda: None)
    add_commands(app)
    share_options(app)
    commands = getattr(get_command(app), "commands", {})
    for panel, names in PANELS.items():
        yield from ("", f"## {panel}")
        for name in names:
            yield from _command(f"ledgerline {name}", commands[name])


def _command(name: str, command: TyperCommand) -> Iterator[str]:
    yield from ("", f"### {name}", "", *_prose(command.help))
    parameters = [each for each in command.params if isinstance(each, TyperOption | TyperArgument)]
    parameters = [each for each in parameters if each.name != "help"]
    if parameters:
        yield from table(["argument", "what", "left out"], (_parameter(each) for each in parameters))
    for inner, each in getattr(command, "commands", {}).items():
        yield from _command(f"{name} {inner}", each)


def _prose(text: str | None) -> list[str]:
    return [" ".join(paragraph.split()) for paragraph in (text or "").split("\n\n") if paragraph.strip()]


def _parameter(parameter: TyperOption | TyperArgument) -> tuple[str, str, str]:
    is_option = parameter.param_type_name == "option"
    spelled = (
        ", ".join(f"`{name}`" for name in parameter.opts)
        if is_option
        else f"`{(parameter.metavar or parameter.name or '').upper()}`"
    )
    default = parameter.default
    required = "required" if parameter.required else ""
    left_out = required or ("" if default in (None, False, (), []) or callable(default) else f"`{default}`")
    return spelled, getattr(parameter, "help", None) or "", left_out


def _settings() -> Iterator[str]:
    yield "# Settings"
    yield ""
    yield "Each comes from the environment, or else from a file in the folder `LEDGERLINE_SECRETS_DIR` that is"
    yield "named like it (`ledgerline_token_key`). [deploy](../../deploy/README.md#settings) says which to keep in files."
    rows = [
        (f"`LEDGERLINE_{name.upper()}`", _default(field.default), _sentence(field.description or ""))
        for name, field in Settings.model_fields.items()
    ]
    yield from table(["variable", "default", "what"], rows)


def _default(value: object) -> str:
    return "none" if value in (None, "", ()) or isinstance(value, SecretStr) else f"`{value}`"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


def _calls() -> Iterator[str]:
    document = openapi_document()
    yield "# HTTP and WebSocket"
    yield ""
    yield "A gateway shows all of this with examples, and lets you try it, at `/docs`; its documents are at"
    yield "`/openapi.json` and `/asyncapi.json`. Every call may also be answered by a problem (RFC 9457) that names"
    yield "a [rule](events.md#refusals). [Acknowledgements](acknowledgements.md) says what `level` promises."
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield from _call(document, f"{method.upper()} {path}", operation)
    yield from _socket()


def _call(document: Json, name: str, operation: Json) -> Iterator[str]:
    yield from (
        "",
        f"## {name}",
        "",
        _sentence(operation["summary"]),
        "",
        *_prose(operation.get("description")),
    )
    rows = [
        (f"`{each['name']}`", each["in"], each.get("description", ""))
        for each in operation.get("parameters", [])
        if each["in"] != "path"
    ]
    rows += [
        (f"`{name}`", "body", text) for name, text in _fields(document, operation.get("requestBody", {}))
    ]
    if rows:
        yield from table(["field", "in", "what"], rows)
    answers = {status: reply for status, reply in operation["responses"].items() if status not in PROBLEMS}
    for status, reply in answers.items():
        names = ", ".join(f"`{field}`" for field, _ in _fields(document, reply))
        yield from ("", f"Answers {status}{': ' + names if names else ''}.")


def _fields(document: Json, holder: Json) -> list[tuple[str, str]]:
    """The fields of a body or an answer in JSON, each with its meaning where it has one."""
    schema = holder.get("content", {}).get("application/json", {}).get("schema", {})
    for _ in range(2):
        while "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
        schema = next((each for each in schema.get("anyOf", []) if each.get("type") != "null"), schema)
    return [(name, field.get("description", "")) for name, field in schema.get("properties", {}).items()]


def _socket() -> Iterator[str]:
    document = describe_socket()
    channel = document["channels"]["play"]
    yield from ("", f"## WebSocket {channel['address']}", "", *_prose(document["info"]["description"]))
    query = channel["bindings"]["ws"]["query"]["properties"]
    yield from table(
        ["field", "in", "what"], ((f"`{name}`", "query", each["description"]) for name, each in query.items())
    )
    messages = document["components"]["messages"]
    of_client = {each["$ref"].rsplit("/", 1)[-1] for each in document["operations"]["receive"]["messages"]}
    rows = [
        (
            f"`{name}`",
            "client" if name in of_client else "server",
            each.get("summary", ""),
            _payload(document, each),
        )
        for name, each in messages.items()
    ]
    yield from table(["message", "sent by", "what", "fields"], rows)


def _payload(document: Json, message: Json) -> str:
    payload = message["payload"]
    if "$ref" in payload:
        payload = document["components"]["schemas"][payload["$ref"].rsplit("/", 1)[-1]]
    return ", ".join(f"`{name}`" for name in payload.get("properties", {}))


def _events() -> Iterator[str]:
    yield "# Commands, events and refusals"
    yield ""
    yield "What players send, what a log records, and why a command is refused. [schemas/json](../../schemas/json/command.schema.json)"
    yield "has every field's form; a game of another package brings its own. [wire](wire.md) has the rows of a log."
    yield from ("", "## Commands", *_contracts(COMMANDS))
    yield from ("", "## Events", *_contracts(EVENTS))
    yield from ("", "## Refusals", "", "[The pages of rules](rules/usa.md) say more about those of play.")
    yield from table(
        ["id", "about", "why"],
        (
            (f"`{rule}`", "message" if rule in MESSAGE_RULES else "play", text)
            for rule, text in ALL_RULES.items()
        ),
    )


def _contracts(contracts: Iterable[type[Contract]]) -> Iterator[str]:
    rows = [
        (
            f"`{each.type}`",
            ", ".join(f"`{name}`" for name in field_names(each)),
            " ".join(_prose(each.__doc__)),
        )
        for each in contracts
    ]
    yield from table(["type", "fields", "what"], rows)


def _options() -> Iterator[str]:
    yield "# Options of every ruleset"
    yield ""
    yield "A game's creation may set each of them otherwise (`options`; `--option NAME=VALUE` of `ledgerline play`),"
    yield "and its log records all. Times are milliseconds; null: there is no such limit."
    with_these: dict[str, list[str]] = {}
    for name, ruleset in RULESETS.items():
        with_these.setdefault(json.dumps(ruleset.options_schema.json_schema()), []).append(name)
    for text, names in with_these.items():
        form = json.loads(text)
        values = [RULESETS[name].options_schema.write(RULESETS[name].rule_options) for name in names]
        yield from ("", f"## {', '.join(names)}")
        rows = [
            (f"`{option}`", *(_value(each.get(option)) for each in values), _meaning(form, field))
            for option, field in form["properties"].items()
        ]
        yield from table(["option", *names, "what"], rows)


def _value(value: object) -> str:
    return f"`{json.dumps(value, ensure_ascii=False)}`"


def _meaning(form: Json, field: Json) -> str:
    if "description" not in field and "$ref" in field:
        field = form["$defs"][field["$ref"].rsplit("/", 1)[-1]]
    return str(field.get("description", ""))


def stale_pages() -> list[str]:
    """The names of the pages that differ from the code."""
    return [
        name
        for name, text in pages().items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        stale = stale_pages()
        sys.exit(f"docs/reference is stale: {', '.join(stale)}. Run `make reference`." if stale else 0)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
