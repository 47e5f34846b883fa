"""P4: rows of earlier versions are read as today's; nothing old is rewritten, or misread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from schemas.errors import CorruptDataError
from schemas.events import BY_CODE, FORMER_VERSIONS, FormerVersion, upcast
from schemas.stored.codec import build_view_entry, unpack_for_fold
from schemas.stored.rows import event_to_row, pack, row_to_event, trusted_row_to_event, unpack
from schemas.trains.events import PassengerMoved

NOW = PassengerMoved(0, "koeln", ("koeln-mainz-a",), 0, ("mainz",), 3)
SECOND = (91, *event_to_row(NOW)[1:-1])  # before there were points
FIRST = (90, *SECOND[1:4], *SECOND[5:])  # and before there were cards for others' routes


def add_cards(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**fields, "cards": 0}


def add_points(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**fields, "points": 3}


@pytest.fixture(autouse=True)
def _made_up_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two earlier versions of a passenger's move."""
    first = FormerVersion("passenger_moved", 1, ("seat", "city", "path", "taken"), 91, add_cards)
    second = FormerVersion(
        "passenger_moved", 2, ("seat", "city", "path", "cards", "taken"), PassengerMoved.code, add_points
    )
    for code, former in ((90, first), (91, second)):
        monkeypatch.setitem(FORMER_VERSIONS, code, former)


def test_P4_a_row_is_converted_from_version_to_version_until_it_is_todays() -> None:
    assert upcast(FIRST) == SECOND
    assert upcast(SECOND) == event_to_row(NOW)
    assert row_to_event(FIRST) == row_to_event(SECOND) == trusted_row_to_event(FIRST) == NOW


def test_P4_an_old_row_is_left_as_it_is() -> None:
    row = unpack(pack(FIRST))
    row_to_event(row)
    assert row == unpack(pack(FIRST))


def test_P4_logs_and_views_are_read_alike() -> None:
    log = pack((1, 0, "create", None, (1,), (FIRST,), {}, {}))
    public = pack((1, 0, (FIRST,), b""))
    assert unpack_for_fold(log)[4] == list(build_view_entry(1, public, None).events) == [NOW]


def test_P4_nothing_is_written_in_a_former_version() -> None:
    assert event_to_row(row_to_event(FIRST))[0] == PassengerMoved.code
    assert not FORMER_VERSIONS.keys() & BY_CODE.keys()


@pytest.mark.parametrize("row", [FIRST[:-1], (*FIRST, 0), (90,), (91, 1), (0, 1), (99, 1)])
def test_P4_a_row_that_fits_no_version_is_no_event(row: tuple[Any, ...]) -> None:
    with pytest.raises(CorruptDataError):
        row_to_event(row)
