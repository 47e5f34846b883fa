"""The generated schemas: never stale, and true of everything that the contracts write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from schemas import events, json_schema
from schemas.commands import Command, CommandEnvelope, read_command, write_command
from schemas.errors import InvalidInputError
from schemas.events import CommandRefused, Event, TurnStarted, write_event
from schemas.published_contracts import ALL_RULES, COMMANDS, EVENTS
from schemas.stored.codec import pack_entry, pack_envelope, unpack_entry
from schemas.stored.entries import Entry, ShownBytes, ViewEntry, write_entry, write_view_entry
from schemas.stored.rows import (
    VisibilitySplit,
    command_to_row,
    event_to_row,
    pack,
    row_to_command,
    row_to_event,
    unpack,
)
from schemas.trains.boards.form import BOARD_SCHEMA
from schemas.trains.commands import ClaimRoute
from schemas.trains.events import RouteClaimed
from schemas.trains.rule_options import RULE_OPTIONS_SCHEMA
from services.referee.games.views import redact_for
from tests.schemas import examples


@cache
def published(name: str) -> Draft202012Validator:
    """The validator of one generated file, which finds the others that it refers to."""
    form = every_form()[f"{name}.schema.json"].contents
    Draft202012Validator.check_schema(form)
    return Draft202012Validator(form, registry=Registry().with_resources(every_form().items()))


@cache
def every_form() -> Mapping[str, Resource[Any]]:
    """The generated files by name, made once."""
    return {
        file: Resource.from_contents(json.loads(text))
        for file, text in json_schema.generate_files().items()
        if file not in ("wire.json", "asyncapi.json")
    }


def through_json(value: object) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


def each(values: tuple[Any, ...]) -> list[Any]:
    return [pytest.param(value, id=f"{type(value).type}-{n}") for n, value in enumerate(values)]


def test_the_schemas_in_the_repository_are_what_the_contracts_say() -> None:
    assert json_schema.find_stale_files() == [], "run make schemas"
    assert json_schema.generate_files() == json_schema.generate_files()


def test_a_stale_a_missing_and_a_leftover_schema_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    json_schema.write_files(tmp_path)
    assert json_schema.find_stale_files(tmp_path) == []
    (tmp_path / "event.schema.json").write_text("{}\n")
    (tmp_path / "board.schema.json").unlink()
    (tmp_path / "old.schema.json").write_text("{}\n")
    late = ["board.schema.json", "event.schema.json", "old.schema.json"]
    assert json_schema.find_stale_files(tmp_path) == late

    monkeypatch.setattr(json_schema, "find_stale_files", lambda: late)
    assert json_schema.main(["--check"]) == 1
    printed = capsys.readouterr().err
    assert all(f"schemas/json/{name} is stale" in printed for name in late)

    monkeypatch.undo()
    json_schema.write_files(tmp_path)
    assert json_schema.find_stale_files(tmp_path) == []


def test_the_generator_takes_no_other_argument() -> None:
    assert json_schema.main(["--chekc"]) == 2


def test_every_type_has_an_example() -> None:
    assert {type(command) for command in examples.COMMANDS} == set(COMMANDS)
    assert {type(event) for event in examples.EVENTS} == set(EVENTS)


@pytest.mark.parametrize("command", each(examples.COMMANDS))
def test_a_command_comes_back_from_a_row_and_from_json(command: Command) -> None:
    written = through_json(write_command(command))
    for read in (row_to_command(unpack(pack(command_to_row(command)))), read_command(written)):
        assert type(read) is type(command)
        assert through_json(write_command(read)) == written
    published("command").validate(written)


@pytest.mark.parametrize("event", each(examples.EVENTS))
def test_an_event_comes_back_from_a_row_and_from_json(event: Event) -> None:
    assert row_to_event(unpack(pack(event_to_row(event)))) == event
    written = through_json(write_event(event))
    published("event").validate(written)
    kind = written.pop("type")
    read = events.SCHEMAS[kind].read(written)
    assert through_json(write_event(read)) == {"type": kind, **written}  # a log has tuples for rows
    assert event_to_row(read) == event_to_row(event)


@pytest.mark.parametrize("event", each(examples.EVENTS))
def test_a_face_down_event_fits_the_schema_too(event: Event) -> None:
    shown = redact_for(None, event)
    if shown is not None:
        assert row_to_event(unpack(pack(event_to_row(shown)))) == shown
        published("event").validate(through_json(write_event(shown)))


@pytest.mark.parametrize("command", each(examples.COMMANDS))
def test_an_envelope_fits_its_schema(command: Command) -> None:
    packed = pack_envelope(CommandEnvelope("id-1", "game-1", None, command))
    published("envelope").validate(through_json(unpack(packed)))


def test_entries_fit_their_schemas() -> None:
    for number, command in enumerate(examples.COMMANDS):
        entry = Entry(250, "id-1", 1, command, examples.EVENTS[number :: len(examples.COMMANDS)])
        published("log-entry").validate(through_json(write_entry(1, entry)))
    for shown in (ShownBytes(), ShownBytes(head=b"\x0e" * 32)):
        view = ViewEntry(7, 250, None, examples.OPEN, shown)
        published("view-entry").validate(through_json(write_view_entry(view)))


def test_boards_parameters_and_refusals_fit_their_schemas() -> None:
    usa = json.loads(resources.files("services.referee.games.trains").joinpath("boards/usa.json").read_text())
    published("board").validate(usa)
    assert BOARD_SCHEMA.read(usa)
    published("parameters").validate(through_json(RULE_OPTIONS_SCHEMA.write(examples.RULE_OPTIONS)))
    for rule in ALL_RULES:
        published("refusal").validate({"rule": rule, "why": "because"})
    assert not published("refusal").is_valid({"rule": "RULE-0", "why": "because"})


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"type": "fly"},
        {"type": "pass", "seat": 1},
        {"type": "take_seat"},
        {"type": "take_seat", "name": "a", "seat": 8},
        {"type": "take_seat", "name": "a", "seat": "3"},
        {"type": "take_seat", "name": "a", "seat": True},
        {"type": "claim_route", "route": "a-b", "cards": {"pink": 1}},
        {"type": "claim_route", "route": "a-b", "cards": {}},
        {"type": "draw_tickets", "decks": {"No Deck": 1}},
    ],
    ids=str,
)
def test_the_schema_refuses_what_the_contract_refuses(wrong: Mapping[str, object]) -> None:
    assert not published("command").is_valid(wrong)
    with pytest.raises(InvalidInputError):
        read_command(dict(wrong))


def test_the_wire_file_says_how_to_read_every_row() -> None:
    wire = json.loads(json_schema.generate_files()["wire.json"])
    by_code = {entry["code"]: entry for entry in (*wire["events"], *wire["former_events"])}
    for event in examples.EVENTS:
        code, *values = event_to_row(event)
        entry = by_code[code]
        assert (entry["type"], entry["version"]) == (event.type, event.version)
        fields = dict(zip(entry["fields"], through_json(values), strict=True))
        assert event_to_row(events.SCHEMAS[entry["type"]].read(fields)) == event_to_row(event)


def test_a_claim_that_its_event_tells_is_stored_by_its_code_alone() -> None:
    claim, claimed = ClaimRoute("a-b", {"red": 2}), RouteClaimed(1, "a-b", {"red": 2}, 2)
    entry = Entry(5, "c1", 1, claim, (claimed, TurnStarted(0)))
    rows = VisibilitySplit(tuple(event_to_row(event) for event in entry.events), {}, {})
    data = pack_entry(entry, rows)[0]
    assert unpack(data)[4] == (ClaimRoute.code,)
    assert unpack_entry(data) == entry


def test_a_claim_that_its_event_does_not_tell_is_stored_whole() -> None:
    claim = ClaimRoute("a-b", {"red": 2})
    for logged in ((CommandRefused(1, "ROUTE-3", "no"),), (RouteClaimed(1, "a-b", {"red": 1}, 2),), ()):
        entry = Entry(5, "c1", 1, claim, logged)
        data = pack_entry(entry, VisibilitySplit(tuple(event_to_row(event) for event in logged), {}, {}))[0]
        assert unpack(data)[4] == (ClaimRoute.code, "a-b", {"red": 2})
        assert unpack_entry(data) == entry
