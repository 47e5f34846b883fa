"""The record of what is on disks: every code with its fields, as the first log that has it was written (P4).

`python -m schemas.contract_record` compares the contracts with schemas/contract_record.json, names what differs, and
exits 1. With `--add` it adds what is new and may be: a code, a trailing field of a command, a part of a
field; the last two need a default. What is recorded is never changed: a type that needs other fields gets its next
version, with a code of its own (schemas/events.py).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from schemas.contract import Contract, Schema
from schemas.events import FORMER_VERSIONS
from schemas.published_contracts import COMMANDS, EVENTS

RECORD_FILE: Final = Path(__file__).with_suffix(".json")
Json: TypeAlias = Any  # values of any JSON type
Kind: TypeAlias = dict[str, dict[str, Json]]  # by code


def read_record() -> dict[str, Kind]:
    """The record: commands, events and former events, each by code."""
    record: dict[str, Kind] = json.loads(RECORD_FILE.read_text(encoding="utf-8"))
    return record


def current_contracts() -> dict[str, Kind]:
    """The contracts as they are declared now, in the form of the record."""
    former = {
        str(code): {
            "type": each.type,
            "version": each.version,
            "fields": {key: {"is": "anything"} for key in each.fields},
        }
        for code, each in sorted(FORMER_VERSIONS.items())
    }
    return {
        "commands": _by_code(COMMANDS),
        "events": _by_code(EVENTS),
        "former_events": former,
    }


def find_changes(record: Mapping[str, Kind], current: Mapping[str, Kind]) -> tuple[list[str], list[str]]:
    """Compare: the changes that stored logs forbid, and those that only the record lacks; each names the code."""
    forbidden: list[str] = []
    missing: list[str] = []
    for kind, recorded in record.items():
        for code, before in recorded.items():
            now = current[kind].get(code) or _retired(kind, code, current)
            name = f"code {code} ({before['type']} {before['version']})"
            if now is None:
                forbidden.append(f"{kind}: {name} is gone")
            else:
                added = list(_compare_rows(kind, before, now, name, forbidden))
                missing += [f"{kind}: {each}" for each in added]
        missing += [
            f"{kind}: code {code} ({current[kind][code]['type']})"
            for code in current[kind]
            if code not in recorded
        ]
    return forbidden, missing


def add_new(record: Mapping[str, Kind], current: Mapping[str, Kind]) -> dict[str, Kind]:
    """The record with what is new. Raises ValueError, naming what stored logs forbid."""
    forbidden, _ = find_changes(record, current)
    if forbidden:
        raise ValueError("; ".join(forbidden))
    return {
        kind: dict(sorted({**recorded, **current[kind]}.items(), key=lambda row: int(row[0])))
        for kind, recorded in record.items()
    }


def _retired(kind: str, code: str, current: Mapping[str, Kind]) -> dict[str, Json] | None:
    """An event's earlier version, which is read for ever."""
    return current["former_events"].get(code) if kind == "events" else None


def _compare_rows(
    kind: str, before: Mapping[str, Json], now: Mapping[str, Json], name: str, forbidden: list[str]
) -> Iterator[str]:
    """Yields what was added. Commands leave off trailing fields that are null, so they may get more of them."""
    for key in ("type", "version"):
        if before[key] != now[key]:
            forbidden.append(f"{kind}: {name} has another {key} now: {now[key]}")
    old_names, new_names = [*before["fields"]], [*now["fields"]]
    if new_names[: len(old_names)] != old_names:
        forbidden.append(f"{kind}: {name} had the fields {old_names}, and has {new_names} now")
        return
    for field in new_names[len(old_names) :]:
        if kind == "commands" and "default" in now["fields"][field]:
            yield f"{name}: field {field}"
        else:
            forbidden.append(
                f"{kind}: {name} has a new field, {field}: give it a new version with a code of its own"
            )
    for field in old_names:
        old_shape, new_shape = before["fields"][field], now["fields"][field]
        if new_shape != {"is": "anything"} or kind != "events":  # a former version's fields have names only
            forbidden += [f"{kind}: {name}: {each}" for each in _shape_changes(field, old_shape, new_shape)]
            if old_shape != new_shape:
                yield f"{name}: more of field {field}"


def _shape_changes(path: str, old: Json, new: Json) -> Iterator[str]:
    """Yield each place where a value that fits the old shape may not fit the new one."""
    if old == new or (isinstance(new, dict) and _fits_any(old, new.get("any", ()))):
        return
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        for key, old_part in old.items():
            yield from _part_changes(path, key, old_part, new[key])
    else:
        yield f"{path} was {json.dumps(old)}, and is {json.dumps(new)} now"


def _fits_any(old: Json, alternatives: Iterable[Json]) -> bool:
    """Whether every value of the old shape fits one of these, such as a choice among more words."""
    return any(not any(_shape_changes("", old, new)) for new in alternatives)


def _part_changes(path: str, key: str, old: Json, new: Json) -> Iterator[str]:
    match key:
        case "object":
            for name in old.keys() - new.keys():
                yield f"{path}.{name} is gone"
            for name in old.keys() & new.keys():
                yield from _shape_changes(f"{path}.{name}", old[name], new[name])
            for name in new.keys() - old.keys():
                if "default" not in new[name]:
                    yield f"{path}.{name} is new and has no default"
        case "any":
            if lost := [each for each in old if not _fits_any(each, new)]:
                yield f"{path} may no longer be {json.dumps(lost)}"
        case "enum":
            if lost := [each for each in old if each not in new]:
                yield f"{path} may no longer be {json.dumps(lost)}"
        case "default":
            if old != new:
                yield f"{path} means {json.dumps(new)} where it is left out, and meant {json.dumps(old)}"
        case _:
            yield from _shape_changes(path, old, new)


# -- shapes --------------------------------------------------------------------------


def _by_code(classes: Iterable[type[Contract]]) -> Kind:
    return {
        str(cls.code): {"type": cls.type, "version": cls.version, "fields": _fields(cls)}
        for cls in sorted(classes, key=lambda cls: cls.code)
    }


def _fields(cls: type[Contract]) -> dict[str, Json]:
    schema = Schema[object](cls, cls.type).json_schema()
    shape: dict[str, Json] = _shape(schema, schema.get("$defs", {}))
    fields: dict[str, Json] = shape.get("object", {})
    return fields


def _shape(schema: Mapping[str, Json], definitions: Mapping[str, Json]) -> Json:
    """A JSON Schema without its names, limits and words: what a reader of old values must still take."""
    if "$ref" in schema:
        return _shape(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return {"any": [_shape(choice, definitions) for choice in choices]}
    if "enum" in schema or "const" in schema:
        return {"enum": schema.get("enum", [schema.get("const")])}
    if "prefixItems" in schema:
        return {
            "tuple": {
                str(place): _shape(item, definitions) for place, item in enumerate(schema["prefixItems"])
            }
        }
    if schema.get("type") == "array":
        return {"array": _shape(schema.get("items", {}), definitions)}
    if "properties" in schema or schema.get("additionalProperties") is False:
        return {
            "object": {
                name: _member(part, definitions) for name, part in schema.get("properties", {}).items()
            }
        }
    if schema.get("type") == "object":
        parts = schema.get("additionalProperties")
        return {"map": _shape(parts if isinstance(parts, dict) else {}, definitions)}
    return schema.get("type", "anything")


def _member(part: Mapping[str, Json], definitions: Mapping[str, Json]) -> dict[str, Json]:
    shape = {"is": _shape(part, definitions)}
    return {**shape, "default": part["default"]} if "default" in part else shape


def main(arguments: list[str]) -> int:
    """Check the record, or add to it; returns the exit code."""
    record, current = read_record(), current_contracts()
    forbidden, missing = find_changes(record, current)
    if arguments == ["--add"] and not forbidden:
        RECORD_FILE.write_text(_to_text(add_new(record, current)), encoding="utf-8")
        missing = []
    for line in forbidden:
        print(f"stored logs can't be read: {line}", file=sys.stderr)
    for line in missing:
        print(f"not in the record yet (make contracts): {line}", file=sys.stderr)
    return 1 if forbidden or missing else 0


def _to_text(record: Mapping[str, Kind]) -> str:
    """The record as JSON with a line for each field, so that a difference shows what it is about."""
    kinds = []
    for kind, rows in record.items():
        codes = []
        for code, row in rows.items():
            fields = ",\n".join(
                f"   {json.dumps(name)}: {json.dumps(shape)}" for name, shape in row["fields"].items()
            )
            head = (
                f'  "{code}": {{"type": {json.dumps(row["type"])}, "version": {row["version"]}, "fields": {{'
            )
            codes.append(f"{head}\n{fields}}}}}" if fields else f"{head}}}}}")
        kinds.append(f' "{kind}": {{\n' + ",\n".join(codes) + "}")
    return "{\n" + ",\n".join(kinds) + "}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
