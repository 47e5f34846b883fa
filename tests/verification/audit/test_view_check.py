"""The stored views are compared with the log: one private byte too many is found."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.stored.codec import unpack_entry
from schemas.stored.rows import pack, unpack
from schemas.trains.events import CardDrawn
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.verification.audit import check_stored_chain, check_stored_views
from services.verification.replay import Replay
from tests.referee.running_referee import GAME, partition_of
from tests.stored_views import Fields, change_entry, with_part, without_part
from tests.verification.audit.given import rewritten

PARTITION = partition_of(GAME)


def log_of(ledger: RedisLedger) -> Replay:
    return Replay(GAME, ledger.read_entries(GAME))


def drawn(ledger: RedisLedger) -> tuple[int, CardDrawn]:
    """The first card that was drawn blind, after the number of its entry."""
    for number, data in enumerate(ledger.read_entries(GAME), 1):
        first = unpack_entry(data).events[0]
        if isinstance(first, CardDrawn):
            return number, first
    raise AssertionError("nobody drew a card")


def test_honest_views_have_no_findings(ledger: RedisLedger) -> None:
    check = check_stored_views(ledger, Replay(GAME, ledger.read_entries(GAME)))
    assert (list(check.findings), check.skipped_reason, check.kind) == ([], "", "view")


def test_a_card_that_everybody_was_shown_is_found(ledger: RedisLedger, client: Any) -> None:
    number, event = drawn(ledger)
    replay = log_of(ledger)

    def show_card(fields: Fields) -> Fields:
        form, at, rows, *more = unpack(fields[b"p"])
        return fields | {b"p": pack((form, at, ((*rows[0][:2], event.card), *rows[1:]), *more))}

    change_entry(client, PARTITION, GAME, number, show_card)
    found = [*check_stored_views(ledger, replay).findings]
    assert (found[0].number, found[0].kind) == (number, "view")
    assert found[0].why == "What the public was sent isn't what it may know: its events are others."
    chain = next(check for check in check_stored_chain(ledger, replay) if check.kind == "chain")
    assert [finding.number for finding in chain.findings] == [number]


def test_a_private_byte_too_many_in_a_seat_s_part_is_found(ledger: RedisLedger, client: Any) -> None:
    number, event = drawn(ledger)
    replay = log_of(ledger)

    def add_byte(part: bytes) -> bytes:
        *stated, openings = unpack(part)
        return pack((*stated, openings + b"\x01" * 16))

    change_entry(client, PARTITION, GAME, number, with_part(event.seat, add_byte))
    (found,) = check_stored_views(ledger, replay).findings
    assert (found.number, found.kind) == (number, "view")
    assert "its own part differs from it in other bytes" in found.why


def test_the_heads_that_were_sent_are_those_of_the_log(ledger: RedisLedger) -> None:
    for check in check_stored_chain(ledger, Replay(GAME, ledger.read_entries(GAME))):
        assert (list(check.findings), check.skipped_reason) == ([], "")


def test_a_game_that_went_on_since_its_log_was_read_has_no_findings(ledger: RedisLedger) -> None:
    checks = check_stored_chain(ledger, Replay(GAME, ledger.read_entries(GAME)[:-3]))
    assert [finding for check in checks for finding in check.findings] == []


def test_a_log_that_lost_its_end_is_found(ledger: RedisLedger, client: Any) -> None:
    before = ledger.read_entries(GAME)[:-2]
    log = keys.log(PARTITION, GAME)
    client.xdel(log, *(id_ for id_, _ in client.xrange(log)[-2:]))
    chain = next(check for check in check_stored_chain(ledger, Replay(GAME, before)) if check.kind == "chain")
    assert [finding.number for finding in chain.findings] == [len(before) + 1]


def test_a_rewritten_log_does_not_give_the_heads_that_were_sent(ledger: RedisLedger) -> None:
    number, _ = drawn(ledger)
    log = rewritten(ledger.read_entries(GAME), number, at=7)
    chain = next(check for check in check_stored_chain(ledger, Replay(GAME, log)) if check.kind == "chain")
    assert [finding.number for finding in chain.findings] == [number]


def test_a_view_that_lost_an_entry_is_found(ledger: RedisLedger, client: Any) -> None:
    number, event = drawn(ledger)
    replay = log_of(ledger)
    change_entry(client, PARTITION, GAME, number, without_part(event.seat))
    whys = [(found.number, found.why) for found in check_stored_views(ledger, replay).findings]
    assert [number for number, _ in whys]
    assert all(f"seat {event.seat}" in why for _, why in whys)


@pytest.mark.parametrize("log", [[], [b"\xc1"]])
def test_without_a_log_nothing_is_compared_and_the_check_is_skipped(
    ledger: RedisLedger, log: list[bytes]
) -> None:
    assert check_stored_views(ledger, Replay(GAME, log)).skipped_reason
