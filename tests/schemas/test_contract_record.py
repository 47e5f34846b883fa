"""P4: what a code's rows hold is recorded, and earlier logs are read by it; only what is new is added."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Final

import pytest

from schemas.contract_record import add_new, current_contracts, find_changes, read_record

Record = dict[str, Any]
CURRENT: Final = current_contracts()
NOTHING: Final[tuple[list[str], list[str]]] = ([], [])


def with_change(change: Callable[[Record], object]) -> Record:
    """The contracts as they would be with this change."""
    changed = copy.deepcopy(CURRENT)
    change(changed)
    return changed


def row(contracts: Record, kind: str, type_: str) -> Record:
    """The newest version of a type."""
    found: Record = [each for each in contracts[kind].values() if each["type"] == type_][-1]
    return found


def fields(contracts: Record, kind: str, type_: str) -> Record:
    found: Record = row(contracts, kind, type_)["fields"]
    return found


def test_P4_every_code_has_the_fields_that_are_recorded() -> None:
    assert find_changes(read_record(), CURRENT) == NOTHING, "see schemas/contract_record.py"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda now: fields(now, "events", "turn_started").update(more={"is": "integer", "default": 0}), "new field, more"),
        (lambda now: fields(now, "events", "turn_started").clear(), "had the fields ['seat']"),
        (lambda now: fields(now, "commands", "pay_tunnel").update(more={"is": "integer"}), "new field, more"),
        (lambda now: row(now, "commands", "take_seat").update(fields=dict(reversed([*fields(now, "commands", "take_seat").items()]))), "had the fields"),
        (lambda now: fields(now, "commands", "take_seat")["age"].update(default=1), "age means 1 where it is left out"),
        (lambda now: fields(now, "commands", "keep_tickets").update(keep={"is": "string"}), "keep was"),
        (lambda now: row(now, "events", "passed").update(type="skipped"), "another type now: skipped"),
        (lambda now: row(now, "events", "passed").update(version=2), "another version now: 2"),
        (lambda now: now["events"].pop("12"), "code 12 (turn_started 1) is gone"),
        (lambda now: fields(now, "commands", "create_game")["seats"]["is"]["array"]["object"].pop("policy"), "policy is gone"),
        (lambda now: fields(now, "commands", "create_game")["seats"]["is"]["array"]["object"].update(more={"is": "string"}), "more is new and has no default"),
        (lambda now: fields(now, "commands", "create_game")["seats"]["is"]["array"]["object"]["kind"]["is"]["enum"].remove("bot"), 'may no longer be ["bot"]'),
    ],
)  # fmt: skip
def test_P4_what_logs_of_before_forbid_is_named_and_never_recorded(
    change: Callable[[Record], object], why: str
) -> None:
    changed = with_change(change)
    forbidden, _ = find_changes(CURRENT, changed)
    assert forbidden
    assert why in " ".join(forbidden)
    with pytest.raises(ValueError, match="code "):
        add_new(CURRENT, changed)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda now: now["events"].update({"99": {"type": "rested", "version": 1, "fields": {}}}), "code 99 (rested)"),
        (lambda now: fields(now, "commands", "pay_tunnel").update(more={"is": "integer", "default": None}), "field more"),
        (lambda now: fields(now, "commands", "create_game")["seats"]["is"]["array"]["object"].update(more={"is": "string", "default": ""}), "more of field seats"),
        (lambda now: fields(now, "commands", "create_game")["seats"]["is"]["array"]["object"]["policy"]["is"]["any"][0]["enum"].append("new"), "more of field seats"),
        (lambda now: fields(now, "commands", "keep_tickets").update(keep={"is": {"any": ["null", fields(now, "commands", "keep_tickets")["keep"]["is"]]}}), "more of field keep"),
    ],
)  # fmt: skip
def test_P4_what_is_new_is_missing_until_it_is_recorded(
    change: Callable[[Record], object], what: str
) -> None:
    changed = with_change(change)
    forbidden, [missing] = find_changes(CURRENT, changed)
    assert (forbidden, what in missing) == ([], True)
    assert find_changes(add_new(CURRENT, changed), changed) == NOTHING


def test_P4_an_event_of_a_new_version_keeps_its_former_code() -> None:
    def retire(now: Record) -> None:
        former = now["events"].pop("12")
        names = {key: {"is": "anything"} for key in former["fields"]}
        now["former_events"]["12"] = {**former, "fields": names}
        now["events"]["98"] = {**former, "version": 2}

    retired = with_change(retire)
    forbidden, missing = find_changes(CURRENT, retired)
    assert (forbidden, len(missing)) == ([], 2)
    record = add_new(CURRENT, retired)
    retired["former_events"]["12"]["fields"].clear()
    forbidden, _ = find_changes(record, retired)
    assert "code 12 (turn_started 1) had the fields ['seat']" in " ".join(forbidden)
