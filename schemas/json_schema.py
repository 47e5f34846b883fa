"""JSON Schemas of the contracts, for everybody who doesn't read Python.

`python -m schemas.json_schema` writes them to schemas/json/. With `--check` it writes nothing,
names every file that is stale, and exits 1. The contracts are the truth: a schema is never
edited, and it may be looser than its contract (a rule between two fields), never stricter.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

from pydantic import Field

from schemas import commands, events, refusals
from schemas.boards.form import BOARD
from schemas.codec import FORMAT, LETTER_FORMAT, LETTER_MOST, UNSEALED
from schemas.contract import Contract, Shape, field_names
from schemas.events.upcasting import FORMER
from schemas.field_types import CommandId, GameId, Hex32, Int, Milliseconds, Seat
from schemas.position_queries import INQUIRY, SEAT_COUNTED
from schemas.rule_options import PARAMETERS

FOLDER: Final = Path(__file__).parent / "json"
Schema: TypeAlias = dict[str, Any]

LAYOUTS: Final = {
    "letter": ["format", "id", "game", "seat", "command"],
    "log": ["format", "at", "id", "seat", "command", "public", "private", "secret"],
    "public": ["format", "at", "public", "commitments", "leaves", "openings"],
    "part": ["format", "before", "answers", "rows", "openings"],
}  # as schemas/codec.py says in its first lines; the tests take packed ones apart


def files() -> dict[str, str]:
    """Every generated file: its name and what must stand in it."""
    schemas = {
        "command": _one_of(commands.SHAPES, commands.COMMANDS, "Any command, by its type."),
        "event": _one_of(events.SHAPES, events.EVENTS, "Any event, by its type. What is hidden is null."),
        "letter": _letter(),
        "log-entry": _log_entry(),
        "view-entry": _view_entry(),
        "refusal": _refusal(),
        "parameters": _tidy(PARAMETERS.json_schema()),
        "board": _tidy(BOARD.json_schema()),
        "inquiry": _inquiry(),
        "answer": _answer(),
    }
    written = {f"{name}.schema.json": _text(_headed(name, schema)) for name, schema in schemas.items()}
    return {**written, "wire.json": _text(_wire())}


def stale(folder: Path = FOLDER) -> list[str]:
    """The names of the files that differ from what the contracts say, are missing, or are left over."""
    wanted = files()
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def write(folder: Path = FOLDER) -> None:
    """Make the folder hold what the contracts say, and no other JSON."""
    folder.mkdir(exist_ok=True)
    wanted = files()
    for name in stale(folder):
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8")
        else:
            (folder / name).unlink()


# -- the forms -----------------------------------------------------------------------


def _one_of(shapes: Mapping[str, Shape[Any]], classes: tuple[type[Contract], ...], what: str) -> Schema:
    forms: Schema = {}
    parts: Schema = {}
    for cls in sorted(classes, key=lambda cls: cls.type):
        form = _tidy(shapes[cls.type].json_schema())
        for name, part in form.pop("$defs", {}).items():
            assert parts.setdefault(name, part) == part, f"two contracts are called {name}"
        form["properties"] = {"type": {"const": cls.type}, **form["properties"]}
        form["required"] = ["type", *form.get("required", ())]
        forms[cls.type] = {**form, "x-version": cls.version, "x-code": cls.code}
    chosen = [{"$ref": f"#/$defs/{name}"} for name in forms]
    return {"description": what, "oneOf": chosen, "$defs": {**forms, **dict(sorted(parts.items()))}}


def _letter() -> Schema:
    places = [{"const": LETTER_FORMAT}, _word(CommandId), _word(GameId), _word(Seat | None), _ref("command")]
    return {
        "description": "A command on its way, as its msgpack array: " + ", ".join(LAYOUTS["letter"]) + ".",
        "type": "array",
        "prefixItems": places,
        "minItems": len(places),
        "maxItems": len(places),
    }


def _log_entry() -> Schema:
    fields = {"id": _word(CommandId), "seat": _word(Seat | None), "command": _ref("command")}
    return _entry("A log entry, as replays and audits show it.", fields)


def _view_entry() -> Schema:
    seen = _entry("An entry as one viewer gets it.", {"answers": _word(CommandId | None)})
    seen["properties"]["head"] = _word(Hex32 | None)
    seen["required"].append("head")
    return seen


def _entry(what: str, fields: Schema) -> Schema:
    return _object(
        what,
        number=_word(Annotated[Int, Field(ge=1)]),
        at=_word(Milliseconds),
        **fields,
        events={"type": "array", "items": _ref("event")},
    )


def _refusal() -> Schema:
    rule = {"enum": sorted(refusals.ALL), "x-sentences": dict(sorted(refusals.ALL.items()))}
    return _object("Why a command was refused.", rule=rule, why={"type": "string"})


def _inquiry() -> Schema:
    """A question's form. A command in it is as on the commands stream, with its seat besides."""
    form: Schema = _tidy(INQUIRY.json_schema())
    spoken = _one_of(commands.SHAPES, commands.PLAYER_COMMANDS, "A command, and the seat that speaks.")
    parts = spoken.pop("$defs")
    for command in commands.PLAYER_COMMANDS:
        part = parts[command.type]
        part["properties"] = {"seat": _word(Seat), **part["properties"]}
        part["required"] = ["seat", *part["required"]]
    form["properties"]["commands"]["items"] = spoken
    shared = form.get("$defs", {})
    assert not shared.keys() & parts.keys(), "a part of a question is called like a command"
    return {**form, "$defs": {**shared, **parts}}


def _answer() -> Schema:
    happened = {"type": "array", "items": _ref("event")}
    told: Schema = {"accepted": {"const": True}, "events": happened}
    accepted = _object("The referee accepts it, and this comes of it.", **told)
    rule = {"enum": sorted(refusals.ALL)}
    told = {"accepted": {"const": False}, "rule": rule, "why": {"type": "string"}}
    refused = _object("The referee refuses it.", **told)
    refused["properties"]["events"] = {**happened, "minItems": 1}
    spoken = {"$ref": "inquiry.schema.json#/properties/commands/items"}
    counted: Schema = _tidy(SEAT_COUNTED.json_schema())
    parts = counted.pop("$defs")
    answer = _object(
        "What the referee says.", verdicts={"type": "array", "items": {"oneOf": [accepted, refused]}}
    )
    answer["properties"]["legal"] = {"type": "array", "items": spoken}
    answer["properties"]["score"] = {"type": "array", "items": counted}
    return {**answer, "$defs": parts}


def _wire() -> Schema:
    """What a reader of rows needs besides the schemas: codes and the order of fields."""

    def rows(classes: tuple[type[Contract], ...]) -> list[Schema]:
        return [
            {"type": cls.type, "version": cls.version, "code": cls.code, "fields": field_names(cls)}
            for cls in sorted(classes, key=lambda cls: cls.code)
        ]

    return {
        "format": FORMAT,
        "former_format": UNSEALED,
        "letter_format": LETTER_FORMAT,
        "letter_most": LETTER_MOST,
        "layouts": LAYOUTS,
        "commands": rows(commands.COMMANDS),
        "events": rows(events.EVENTS),
        "former_events": [
            {"type": former.type, "version": former.version, "code": code, "fields": former.fields}
            for code, former in sorted(FORMER.items())
        ],
    }


# -- how they are written ------------------------------------------------------------


def _object(what: str, **fields: Schema) -> Schema:
    return {
        "description": what,
        "type": "object",
        "properties": fields,
        "required": [*fields],
        "additionalProperties": False,
    }


def _word(form: Any) -> Schema:
    schema: Schema = _tidy(Shape(form, "").json_schema())
    return schema


def _ref(name: str) -> Schema:
    return {"$ref": f"{name}.schema.json"}


def _tidy(schema: Any) -> Any:
    """Without the titles that only repeat names, and strict where keys must fit a pattern."""
    if isinstance(schema, list):
        return [_tidy(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    by_name = {"properties", "patternProperties", "$defs"}  # their keys are names, not keywords
    tidy = {
        key: {name: _tidy(value) for name, value in part.items()} if key in by_name else _tidy(part)
        for key, part in schema.items()
        if key != "title"
    }
    return {**tidy, "additionalProperties": False} if "patternProperties" in tidy else tidy


def _headed(name: str, schema: Schema) -> Schema:
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{name}.schema.json",
        "title": name,
    }
    return {**head, **schema}


def _text(document: Schema) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print("usage: python -m schemas.json_schema [--check]", file=sys.stderr)
        return 2
    if not arguments:
        write()
        return 0
    late = stale()
    for name in late:
        print(f"schemas/json/{name} is stale: make schemas", file=sys.stderr)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
