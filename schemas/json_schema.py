"""JSON Schemas of the contracts, for everybody who doesn't read Python.

`python -m schemas.json_schema` writes them to schemas/json/. With `--check` it writes nothing, names every file that
is stale, and exits 1; so it does with the tables in deploy/verify_game.py. The contracts are the truth: a schema is
never edited, and it may be looser than its contract (a rule between two fields), never stricter.

What the verifier in one file knows of events: lines of deploy/verify_game.py that follow from the contracts.

That file imports nothing of the product, so `python -m schemas.json_schema` writes them into it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import fill
from typing import Annotated, Final

from pydantic import Field

from schemas import commands, events
from schemas.contract import WHOLE_EVENT, Contract, Json, Private, Public, Schema, field_names
from schemas.events import FIELDS, FORMER_VERSIONS, Event
from schemas.field_types import CommandId, GameId, Hex32, Int, Milliseconds, Seat
from schemas.published_contracts import ALL_RULES, COMMANDS, EVENTS, PLAYER_COMMANDS, simplify, union_schema
from schemas.stored.codec import ENTRY_FORMAT, ENVELOPE_FORMAT, MAX_ENVELOPE_BYTES
from schemas.trains.boards.form import BOARD_SCHEMA
from schemas.trains.field_types import CARDS
from schemas.trains.positions import POSITION_QUERY_SCHEMA, SEAT_COUNTED_SCHEMA
from schemas.trains.rule_options import RULE_OPTIONS_SCHEMA
from schemas.web.socket_messages import describe_socket

VERIFIER: Final = Path(__file__).parents[1] / "deploy" / "verify_game.py"
BEGIN: Final = "# -- written by `make schemas` from the contracts of events --\n"
END: Final = "# -- until here --\n"


def verifier_text() -> str:
    """The verifier as it should be: its own text, with the tables that the contracts give."""
    before, rest = VERIFIER.read_text(encoding="utf-8").split(BEGIN)
    return before + BEGIN + _tables() + END + rest.split(END)[1]


def _tables() -> str:
    events = sorted(EVENTS, key=lambda cls: int(cls.code))
    rows = ", ".join(f"{cls.code}: {_facts(cls)}" for cls in events)
    laid = " ".join(cls.type for cls in events if cls.lays)
    cards = " ".join(CARDS)
    return (
        f"CARDS = {cards!r}.split()  # noqa: SIM905\n".replace("'", '"')
        + f'LAID = "{laid}".split()  # noqa: SIM905\n'
        + "EVENTS = {  # by code: type, length of a row; places of the seat, of what others don't see, of what is drawn\n"
        + fill(rows, 128, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
        + "\n}  # fmt: skip\n"
    )


def _facts(cls: type[Event]) -> str:
    """The value of a type in EVENTS; without a seat nobody knows what is hidden, and "all" hides the event itself."""
    places = {name: place for place, name in enumerate(FIELDS[cls], 1)}
    visibility, owner, hidden = cls.visibility, 0, "()"
    if not isinstance(visibility, Public):
        hides = visibility.hides
        owner = places[visibility.owner] if isinstance(visibility, Private) else 0
        hidden = '"all"' if hides == WHOLE_EVENT else repr(tuple(places[name] for name in hides))
    return f'("{cls.type}", {1 + len(places)}, {owner}, {hidden}, {places.get(cls.draws, 0)})'


FOLDER: Final = Path(__file__).parent / "json"

LAYOUTS: Final = {
    "envelope": ["format", "id", "game", "seat", "command"],
    "log": ["format", "at", "id", "seat", "command", "public", "private", "secret"],
    "public": ["format", "at", "public", "commitments", "leaves", "openings"],
    "part": ["format", "before", "answers", "rows", "openings"],
}  # as the first lines of schemas/stored/codec.py have them; tests take packed ones apart


def generate_files() -> dict[str, str]:
    """The text of every generated file, by its name."""
    schemas = {
        "command": union_schema(commands.SCHEMAS, COMMANDS, "Any command, by its type."),
        "event": union_schema(events.SCHEMAS, EVENTS, "Any event, by its type. What is hidden is null."),
        "envelope": _envelope_schema(),
        "log-entry": _log_entry_schema(),
        "view-entry": _view_entry_schema(),
        "refusal": _refusal_schema(),
        "parameters": simplify(RULE_OPTIONS_SCHEMA.json_schema()),
        "board": simplify(BOARD_SCHEMA.json_schema()),
        "inquiry": _position_query_schema(),
        "answer": _answer_schema(),
    }
    generated = {
        f"{name}.schema.json": _to_json_text(_with_header(name, schema)) for name, schema in schemas.items()
    }
    others = {"wire.json": _wire_layout(), "asyncapi.json": describe_socket()}
    return {**generated, **{name: _to_json_text(document) for name, document in others.items()}}


def find_stale_files(folder: Path = FOLDER) -> list[str]:
    """The names of the files that differ from the contracts, are missing, or are left over."""
    expected = generate_files()
    existing = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    return sorted(
        name for name in expected.keys() | existing.keys() if expected.get(name) != existing.get(name)
    )


def write_files(folder: Path = FOLDER) -> None:
    """Write the contracts' files into the folder, and remove other JSON files."""
    folder.mkdir(exist_ok=True)
    expected = generate_files()
    for name in find_stale_files(folder):
        if name in expected:
            (folder / name).write_text(expected[name], encoding="utf-8")
        else:
            (folder / name).unlink()


# -- the forms -----------------------------------------------------------------------


def _envelope_schema() -> Json:
    items = [
        {"const": ENVELOPE_FORMAT},
        _field_schema(CommandId),
        _field_schema(GameId),
        _field_schema(Seat | None),
        _ref("command"),
    ]
    return {
        "description": "A command on its way, as its msgpack array: " + ", ".join(LAYOUTS["envelope"]) + ".",
        "type": "array",
        "prefixItems": items,
        "minItems": len(items),
        "maxItems": len(items),
    }


def _log_entry_schema() -> Json:
    fields = {"id": _field_schema(CommandId), "seat": _field_schema(Seat | None), "command": _ref("command")}
    return _entry_schema("A log entry, as replays and audits show it.", fields)


def _view_entry_schema() -> Json:
    schema = _entry_schema("An entry as one viewer gets it.", {"answers": _field_schema(CommandId | None)})
    schema["properties"]["head"] = _field_schema(Hex32 | None)
    schema["required"].append("head")
    return schema


def _entry_schema(description: str, fields: Json) -> Json:
    return _object_schema(
        description,
        number=_field_schema(Annotated[Int, Field(ge=1)]),
        at=_field_schema(Milliseconds),
        **fields,
        events={"type": "array", "items": _ref("event")},
    )


def _refusal_schema() -> Json:
    rule = {"enum": sorted(ALL_RULES), "x-sentences": dict(sorted(ALL_RULES.items()))}
    return _object_schema("Why a command was refused.", rule=rule, why={"type": "string"})


def _position_query_schema() -> Json:
    """A query's schema. A command in it is as in an envelope, with its seat added."""
    query_schema: Json = simplify(POSITION_QUERY_SCHEMA.json_schema())
    command_schema = union_schema(commands.SCHEMAS, PLAYER_COMMANDS, "A command, and the seat that speaks.")
    definitions = command_schema.pop("$defs")
    for command in PLAYER_COMMANDS:
        definition = definitions[command.type]
        definition["properties"] = {"seat": _field_schema(Seat), **definition["properties"]}
        definition["required"] = ["seat", *definition["required"]]
    query_schema["properties"]["commands"]["items"] = command_schema
    shared_definitions = query_schema.get("$defs", {})
    assert not shared_definitions.keys() & definitions.keys(), "a part of a question is called like a command"
    return {**query_schema, "$defs": {**shared_definitions, **definitions}}


def _answer_schema() -> Json:
    events_schema = {"type": "array", "items": _ref("event")}
    fields: Json = {"accepted": {"const": True}, "events": events_schema}
    accepted = _object_schema("The referee accepts it, and this comes of it.", **fields)
    rule = {"enum": sorted(ALL_RULES)}
    fields = {"accepted": {"const": False}, "rule": rule, "why": {"type": "string"}}
    refused = _object_schema("The referee refuses it.", **fields)
    refused["properties"]["events"] = {**events_schema, "minItems": 1}
    refused["properties"]["did_you_mean"] = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    command_schema = {"$ref": "inquiry.schema.json#/properties/commands/items"}
    score_schema: Json = simplify(SEAT_COUNTED_SCHEMA.json_schema())
    definitions = score_schema.pop("$defs")
    answer = _object_schema(
        "What the referee says.", verdicts={"type": "array", "items": {"oneOf": [accepted, refused]}}
    )
    answer["properties"]["legal"] = {"type": "array", "items": command_schema}
    answer["properties"]["score"] = {"type": "array", "items": score_schema}
    answer["properties"]["table"] = {"$ref": "inquiry.schema.json#/$defs/Position"}
    return {**answer, "$defs": definitions}


def _wire_layout() -> Json:
    """List codes and the order of fields, which a reader of rows needs in addition to the schemas."""

    def rows(classes: tuple[type[Contract], ...]) -> list[Json]:
        return [
            {"type": cls.type, "version": cls.version, "code": cls.code, "fields": field_names(cls)}
            for cls in sorted(classes, key=lambda cls: cls.code)
        ]

    return {
        "format": ENTRY_FORMAT,
        "envelope_format": ENVELOPE_FORMAT,
        "envelope_max_bytes": MAX_ENVELOPE_BYTES,
        "layouts": LAYOUTS,
        "commands": rows(COMMANDS),
        "events": rows(EVENTS),
        "former_events": [
            {
                "type": former_version.type,
                "version": former_version.version,
                "code": code,
                "fields": former_version.fields,
            }
            for code, former_version in sorted(FORMER_VERSIONS.items())
        ],
    }


# -- how they are written ------------------------------------------------------------


def _object_schema(description: str, **fields: Json) -> Json:
    return {
        "description": description,
        "type": "object",
        "properties": fields,
        "required": [*fields],
        "additionalProperties": False,
    }


def _field_schema(field_type: object) -> Json:
    schema: Json = simplify(Schema[object](field_type, "").json_schema())
    return schema


def _ref(name: str) -> Json:
    return {"$ref": f"{name}.schema.json"}


def _with_header(name: str, schema: Json) -> Json:
    header = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{name}.schema.json",
        "title": name,
    }
    return {**header, **schema}


def _to_json_text(document: Json) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """Write the schemas' files, or with `--check` compare them. Returns the exit code: 1 if any is out of date."""
    if arguments not in ([], ["--check"]):
        print("usage: python -m schemas.json_schema [--check]", file=sys.stderr)
        return 2
    verifier = verifier_text()
    if not arguments:
        write_files()
        VERIFIER.write_text(verifier, encoding="utf-8")
        return 0
    stale_files = [f"schemas/json/{name}" for name in find_stale_files()]
    stale_files += ["deploy/verify_game.py"] * (VERIFIER.read_text(encoding="utf-8") != verifier)
    for name in stale_files:
        print(f"{name} is stale: make schemas", file=sys.stderr)
    return 1 if stale_files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
