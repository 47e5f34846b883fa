"""P4: rows of earlier versions are read as today's; nothing old is rewritten, or misread."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.codec import build_view_entry, unpack_for_fold
from schemas.contract import field_names
from schemas.errors import CorruptDataError
from schemas.events import BY_CODE, FIELDS, GameCreated
from schemas.events.upcasting import FORMER_VERSIONS, STILL_WRITTEN, upcast
from schemas.rows import event_to_row, pack, row_to_event, unpack
from schemas.rule_options import RuleOptions
from tests.schemas.examples import EVENTS

PARAMETER_NAMES = [name for name in field_names(RuleOptions) if name != "move_ms"]
NOW = next(event for event in EVENTS if isinstance(event, GameCreated))


def first_version(event: GameCreated) -> tuple[Any, ...]:
    """The row that version 1 would have written of it."""
    fields = dict(zip(FIELDS[GameCreated], event_to_row(event)[1:], strict=True))
    fields["parameters"] = {name: value for name, value in fields["parameters"].items() if name != "move_ms"}
    return (1, *(fields[name] for name in FORMER_VERSIONS[1].fields))


OLD = first_version(NOW)


def test_P4_a_game_created_before_there_was_time_for_a_move_has_no_limit_of_it() -> None:
    event = row_to_event(OLD)
    assert isinstance(event, GameCreated)
    assert event.parameters.move_ms is None
    assert event.opened == event.created == NOW.created


def test_P4_all_else_in_an_old_row_stays_as_it_was() -> None:
    event = row_to_event(OLD)
    assert isinstance(event, GameCreated)
    options = {name: getattr(NOW.parameters, name) for name in PARAMETER_NAMES}
    assert {name: getattr(event.parameters, name) for name in options} == options
    for name in set(FIELDS[GameCreated]) - {"parameters", "opened"}:
        assert getattr(event, name) == getattr(NOW, name)


def test_P4_an_old_row_is_left_as_it_is() -> None:
    row = unpack(pack(OLD))
    before = unpack(pack(OLD))
    row_to_event(row)
    assert row == before


def test_P4_logs_and_views_are_read_alike() -> None:
    log = pack((1, 0, "create", None, (1,), (OLD,), {}, {}))
    public = pack((1, 0, (OLD,)))
    assert unpack_for_fold(log)[4] == list(build_view_entry(1, public, None).events) == [row_to_event(OLD)]


@pytest.mark.parametrize("code", FORMER_VERSIONS)
def test_P4_every_former_version_leads_to_todays_version_of_its_type_in_order(code: int) -> None:
    former, versions = FORMER_VERSIONS[code], []
    while code in FORMER_VERSIONS:
        versions.append(FORMER_VERSIONS[code].version)
        assert FORMER_VERSIONS[code].type == former.type
        code = FORMER_VERSIONS[code].next_code
    assert BY_CODE[code].type == former.type
    assert [*versions, BY_CODE[code].version] == [*range(former.version, BY_CODE[code].version + 1)]


@pytest.mark.parametrize("code", FORMER_VERSIONS)
def test_P4_nothing_is_written_in_a_former_version_but_what_has_nothing_new(code: int) -> None:
    written = {code for code, _ in STILL_WRITTEN.values()}
    assert (code in {event_to_row(event)[0] for event in EVENTS}) == (code in written)


def test_P4_a_seat_without_a_committed_name_is_written_as_it_always_was() -> None:
    old = (42, 1, "Ada", None, 36, "0c" * 32, "0f" * 32, "seat")
    committed = (55, 1, None, None, 36, "0c" * 32, "0f" * 32, "seat", "ab" * 32)
    assert [event_to_row(row_to_event(row)) for row in (old, committed)] == [old, committed]


@pytest.mark.parametrize("row", [OLD[:-1], (*OLD, 0), (1,), (0, 1), (99, 1), (1, *[None] * 10)])
def test_P4_a_row_that_fits_no_version_is_no_event(row: tuple[Any, ...]) -> None:
    with pytest.raises(CorruptDataError):
        row_to_event(row)


def test_P4_an_upcaster_gives_a_row_of_the_very_next_version() -> None:
    row = upcast(OLD)
    assert row[0] == FORMER_VERSIONS[1].next_code == GameCreated.code
    assert len(row) == len(FIELDS[GameCreated]) + 1
