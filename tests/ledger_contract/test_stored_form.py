"""P3, P5, P6: a game is read as it was written, wherever a reader begins, and shows its damage."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import pytest

from schemas.errors import CorruptDataError
from schemas.stored.codec import Proofs, pack_entry, pack_private_part, pack_public
from schemas.stored.entries import Entry
from schemas.stored.rows import VisibilitySplit, event_to_row
from schemas.trains.commands import DrawBlind
from schemas.trains.events import CardDrawn
from services.ledger import AppendRequest, AppendResult, AppendStatus, MissingEntryError, RedisLedger
from services.ledger.engine import keys
from services.ledger.log.views import ViewPage, ViewRequest, read_views
from services.ledger.ports import LogRewoundError
from services.ledger.scripts.lua_scripts import CONFIRM_ENTRY
from services.ledger.scripts.stored_entries import head_of_last
from tests.conftest import PARTITIONS, Connect, connections_to
from tests.ledger_contract.given import GAME, PARTITION, append_request, head_after, private_part, public_of

LENGTH = 37
PUBLIC, HEAD = keys.public_view(PARTITION, GAME), keys.chain_head(PARTITION, GAME)
IDS = [f"c{number}" for number in range(1, LENGTH + 1)]
HEADS = [head_after(*IDS[:number]) for number in range(LENGTH + 1)]
PARTS_AT = (2, 3, 16, 21, 35)  # entries of which seat 1 gets a part


@cache
def long_game_requests() -> list[AppendRequest]:
    previous = dict(zip(PARTS_AT, (0, *PARTS_AT), strict=False))
    return [
        append_request(
            expected=number - 1,
            id_=id_,
            private_parts=[(1, private_part(previous[number]))] if number in PARTS_AT else [],
        )
        for number, id_ in enumerate(IDS, 1)
    ]


@pytest.fixture(params=["fake", "engine"])
def connection(request: pytest.FixtureRequest) -> Iterator[Connect]:
    yield from connections_to(request)


@pytest.fixture
def long_game(ledger: RedisLedger) -> RedisLedger:
    ledger.append(long_game_requests())
    return ledger


def replace_entry(client: Any, number: int, fields: dict[str, bytes] | None) -> None:
    """Another entry lies in the public stream, or none."""
    entries = client.xrange(PUBLIC)
    client.delete(PUBLIC)
    for id_, kept in entries:
        if id_ != f"{number}-0".encode():
            client.xadd(PUBLIC, kept, id_)
        elif fields:
            client.xadd(PUBLIC, fields, id_)


def page(ledger: RedisLedger, after: int, head: bytes | None, limit: int = 500) -> ViewPage:
    [found] = ledger.read_views([ViewRequest(GAME, after, (None, 1), head)], limit)
    if isinstance(found, Exception):
        raise found
    return found


def test_P6_each_16th_entry_has_its_head_and_the_last_one_beside_them(
    long_game: RedisLedger, client: Any
) -> None:
    stored = {
        int(id_.partition(b"-")[0]): fields[b"h"] for id_, fields in client.xrange(PUBLIC) if b"h" in fields
    }
    assert stored == {16: HEADS[16], 32: HEADS[32]}
    assert client.get(HEAD) == b"37 " + HEADS[37]
    assert long_game.head(GAME) == (37, HEADS[37])


def test_P3_wherever_a_reader_begins_it_gets_the_same_entries_and_heads(long_game: RedisLedger) -> None:
    whole = page(long_game, 0, None).views
    for after, limit, is_known in product((0, 1, 15, 16, 17, 32, 36, 37), (1, 16, 500), (True, False)):
        found = page(long_game, after, HEADS[after] if is_known and after else None, limit)
        for viewer in (None, 1):
            assert found.views[viewer] == whole[viewer][after : after + limit], (after, limit, is_known)
            heads = [entry.shown.head for entry in found.views[viewer]]
            assert heads == HEADS[after + 1 : after + limit + 1], (after, limit, is_known)
    assert [entry.number for entry in whole[1] if entry.shown.private_part] == [*PARTS_AT]
    assert not any(entry.shown.private_part for entry in whole[None])


def test_P5_parts_that_are_asked_for_alone_come_from_before_the_page_too(long_game: RedisLedger) -> None:
    [found] = long_game.read_views([ViewRequest(GAME, 30, (None,), HEADS[30], ((1, 15), (0, 2)))])
    assert isinstance(found, ViewPage)
    assert {seat: [*parts] for seat, parts in found.parts.items() if isinstance(parts, dict)} == {
        1: [16, 21, 35],
        0: [],
    }
    assert [entry.number for entry in found.views[None]] == [*range(31, LENGTH + 1)]


@pytest.mark.parametrize("number", [5, 16, 33, 37])
def test_P6_an_entry_that_was_changed_is_noticed_by_who_reads_over_it(
    long_game: RedisLedger, client: Any, number: int
) -> None:
    replace_entry(client, number, {"p": public_of("another")})
    with pytest.raises(CorruptDataError):
        page(long_game, 0, None)
    with pytest.raises(LogRewoundError):
        page(long_game, number - 1, HEADS[number - 1])


@pytest.mark.parametrize("after", [3, 30, 37])
def test_P3_who_knows_another_head_is_told_that_the_log_was_rewound(
    long_game: RedisLedger, after: int
) -> None:
    for limit in (1, 500):
        with pytest.raises(LogRewoundError):
            page(long_game, after, HEADS[after - 1], limit)


def test_P3_a_view_that_ends_before_its_head_misses_entries(long_game: RedisLedger, client: Any) -> None:
    replace_entry(client, 37, None)
    for after, head in ((0, None), (36, HEADS[36]), (36, None)):
        with pytest.raises(MissingEntryError, match="entry 37 is missing"):
            page(long_game, after, head)


def test_P1_the_head_of_any_entry_is_confirmed(long_game: RedisLedger, client: Any) -> None:
    mark = keys.confirmation_mark(PARTITION)
    results = keys.command_results(PARTITION, GAME, 0)
    for expected, id_ in enumerate(IDS, 1):
        reply = client.eval(CONFIRM_ENTRY.source, 4, results, PUBLIC, mark, HEAD, id_, 1)
        number, public, head, part, last = reply
        assert (number, public, bool(part)) == (expected, public_of(id_), expected in PARTS_AT)
        assert (head or head_of_last(GAME, number, last)) == HEADS[number]


def test_P3_the_log_has_only_what_the_view_has_not(ledger: RedisLedger, client: Any) -> None:
    hidden, drawn = event_to_row(CardDrawn(0, None)), event_to_row(CardDrawn(0, "red"))
    split = VisibilitySplit((hidden,), {0: {0: drawn}}, {})
    entry, secret = pack_entry(Entry(7, "c1", 0, DrawBlind(), (CardDrawn(0, "red"),)), split)
    public, part = pack_public(7, split, Proofs(b"x" * 32)), pack_private_part(0, "c1", {0: drawn}, b"s" * 16)
    ledger.append([append_request(secret=secret, public=public, private_parts=[(0, part)])])
    [(_, fields)] = client.xrange(keys.log(PARTITION, GAME))
    assert fields == {b"s": secret}
    assert ledger.read_entries(GAME) == [entry]
    assert ledger.read_log(GAME).entries == [entry]


def test_P8_a_game_that_lost_its_chain_head_takes_no_entry(ledger: RedisLedger, client: Any) -> None:
    ledger.append([append_request(expected=number, id_=id_) for number, id_ in enumerate(IDS[:2])])
    client.delete(HEAD)
    assert ledger.append([append_request(expected=2, id_="c3")]) == [AppendResult(AppendStatus.DAMAGED, 2)]
    assert client.xlen(PUBLIC) == 2


def test_a_page_for_any_number_of_seats_takes_three_commands() -> None:
    """The head, the entries with the parts of all seats, and a look whether the streams were there."""
    for viewers in ((None,), (0, 1, 2, 3), (None, 0, 1, 2, 3)):
        commands = next(read_views(PARTITIONS, [ViewRequest(GAME, 0, viewers)]))
        assert [each.arguments[0] for each in commands] == ["GET", "XRANGE", "XRANGE"]
