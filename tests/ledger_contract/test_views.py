"""P3, P5: what viewers get is joined by number, whole, and a gap is always an error."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import pytest

from services.ledger import AppendRequest, MissingEntryError, RedisLedger
from services.ledger.engine import keys
from services.ledger.scripts.stored_entries import merge_view, require_contiguous
from tests.ledger_contract.given import GAME, PARTITION, append_request, logged, private_part, public_entry
from tests.stored_views import change_entry, without_part

PUBLIC = keys.public_view(PARTITION, GAME)
VIEWERS = (0, 1, None)
PARTS_AT = (2, 3, 6, 9)  # entries of which seat 0 gets a part


def ten_requests() -> Iterator[AppendRequest]:
    before = {number: earlier for earlier, number in pairwise((0, *PARTS_AT))}
    for number in range(1, 11):
        parts = [(0, private_part(before[number], f"c{number}"))] if number in PARTS_AT else []
        yield append_request(expected=number - 1, id_=f"c{number}", private_parts=parts)


TEN = [*ten_requests()]


@pytest.fixture
def ten(ledger: RedisLedger) -> RedisLedger:
    """A ledger with a game of ten entries."""
    ledger.append(TEN)
    return ledger


def numbers(ledger: RedisLedger, viewer: int | None, after: int = 0, most: int = 1000) -> list[int]:
    return [entry.number for entry in ledger.read_view(GAME, viewer, after, most)]


def test_P3_every_viewer_has_every_number(ten: RedisLedger) -> None:
    assert {viewer: numbers(ten, viewer) for viewer in VIEWERS} == {
        viewer: [*range(1, 11)] for viewer in VIEWERS
    }


def test_P2_a_viewer_finds_the_answer_to_its_own_command(ten: RedisLedger) -> None:
    answers = {entry.number: entry.answers for entry in ten.read_view(GAME, 0)}
    assert answers == {n: f"c{n}" if n in PARTS_AT else None for n in range(1, 11)}
    assert {entry.answers for entry in ten.read_view(GAME, 1)} == {None}


def test_a_view_is_read_in_pages(ten: RedisLedger) -> None:
    whole = ten.read_view(GAME, 0)
    for after, most in product(range(11), (1, 3, 100)):
        assert ten.read_view(GAME, 0, after, most) == whole[after : after + most], (after, most)


def test_an_unknown_game_shows_nothing(ledger: RedisLedger) -> None:
    assert ledger.read_view("no-such-game", 0) == []
    assert ledger.read_entries("no-such-game") == []


@pytest.mark.parametrize("lost", [1, 4, 9])
def test_P3_a_lost_public_entry_is_a_gap(ten: RedisLedger, client: Any, lost: int) -> None:
    client.xdel(PUBLIC, f"{lost}-0")
    for viewer in VIEWERS:
        with pytest.raises(MissingEntryError, match=f"entry {lost} is missing"):
            ten.read_view(GAME, viewer)


def lose_part(client: Any, number: int) -> None:
    """The engine loses what seat 0 alone sees of an entry."""
    change_entry(client, PARTITION, GAME, number, without_part(0))


@pytest.mark.parametrize("lost", PARTS_AT[:-1])
def test_P3_a_lost_part_is_a_gap_for_its_seat(ten: RedisLedger, client: Any, lost: int) -> None:
    lose_part(client, lost)
    with pytest.raises(MissingEntryError, match=f"part {lost} is missing"):
        ten.read_view(GAME, 0)
    assert numbers(ten, 1) == list(range(1, 11))


def test_P3_a_part_that_was_lost_before_this_page_is_no_gap_of_it(ten: RedisLedger, client: Any) -> None:
    lose_part(client, 3)
    assert numbers(ten, 0, after=3) == list(range(4, 11))
    with pytest.raises(MissingEntryError):
        ten.read_view(GAME, 0, after=2)


def test_P3_a_last_part_that_is_lost_shows_with_the_next_one(ten: RedisLedger, client: Any) -> None:
    """Pinned: nothing after it names it yet, so until then the view is read without it."""
    lose_part(client, 9)
    assert numbers(ten, 0) == list(range(1, 11))
    ten.append([append_request(expected=10, id_="c11", private_parts=[(0, private_part(9, "c11"))])])
    with pytest.raises(MissingEntryError, match="part 9 is missing"):
        ten.read_view(GAME, 0)


@pytest.mark.parametrize("lost", [1, 5, 9])
def test_P3_a_lost_entry_of_the_log_is_a_gap(ten: RedisLedger, client: Any, lost: int) -> None:
    client.xdel(keys.log(PARTITION, GAME), f"{lost}-0")
    with pytest.raises(MissingEntryError, match=f"entry {lost} is missing"):
        ten.read_entries(GAME)
    assert ten.read_entries(GAME, after=lost) == [*map(logged, TEN[lost:])]


def test_history_goes_on_after_a_number(ten: RedisLedger) -> None:
    assert ten.read_entries(GAME, after=8) == [*map(logged, TEN[8:])]
    assert ten.read_entries(GAME, after=10) == []


def test_P5_a_part_that_ran_ahead_of_the_public_read_is_left_for_later() -> None:
    public = [(n, public_entry(n), b"") for n in (4, 5)]
    parts = [(5, private_part(2, "c5")), (6, private_part(5, "c6")), (8, private_part(6, "c8"))]
    view = merge_view(3, public, parts)
    assert [(entry.number, entry.answers) for entry in view] == [(4, None), (5, "c5")]
    assert merge_view(5, [], parts[1:]) == []
    assert (
        len(merge_view(3, public, [(8, private_part(7))])) == 2
    )  # a part lost ahead shows when it is reached


def test_P3_a_row_may_go_on_anywhere_but_not_skip() -> None:
    require_contiguous("log", 7, [(8, b""), (9, b"")])
    with pytest.raises(MissingEntryError, match="entry 8 is missing, 9 follows 7"):
        require_contiguous("log", 7, [(9, b"")])
    with pytest.raises(MissingEntryError):
        require_contiguous("log", 7, [(8, b""), (8, b"")])


def test_follow_gives_what_is_there_and_waits_for_what_comes(ten: RedisLedger) -> None:
    assert [entry.number for entry in ten.follow_view(GAME, 0, 7, 0)] == [8, 9, 10]
    assert [entry.number for entry in ten.follow_view(GAME, None, 9, 5000)] == [10]
    assert ten.follow_view(GAME, 0, 10, 0) == []
    assert ten.follow_view(GAME, 0, 10, 30) == []
    assert ten.follow_view("no-such-game", None, 0, 30) == []


def test_follow_treats_a_gap_as_an_error(ten: RedisLedger, client: Any) -> None:
    client.xdel(keys.public_view(PARTITION, GAME), "9-0")
    with pytest.raises(MissingEntryError):
        ten.follow_view(GAME, None, 8, 0)
