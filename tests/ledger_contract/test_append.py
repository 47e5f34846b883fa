"""P2, P3: an entry is written whole, once, at one place of one log, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from services.ledger import (
    AppendRequest,
    AppendResult,
    AppendStatus,
    CommandResult,
    DuplicateCommand,
    RedisLedger,
    RejectedCommand,
)
from services.ledger.engine import keys
from tests.conftest import ALL
from tests.ledger_contract.given import (
    DIGEST,
    GAME,
    NOON,
    PARTITION,
    SERVER_DELIVERY,
    append_request,
    bot_task,
    contents,
    entry_of,
    envelope_of,
    full_request,
    logged,
    pending_entries,
    private_part,
    secret_of,
    submit_and_take,
)

COMMANDS, TASKS = keys.commands(PARTITION), keys.bot_tasks(PARTITION)


def test_P3_a_verdict_is_written_with_all_that_belongs_to_it(ledger: RedisLedger, client: Any) -> None:
    [delivery] = submit_and_take(ledger, envelope_of("c1"))
    assert ledger.append([full_request(0, delivery)]) == [AppendResult(AppendStatus.APPENDED, 1)]
    assert ledger.read_entries(GAME) == [logged(full_request(0))]
    assert [entry.number for entry in ledger.read_view(GAME, None)] == [1]
    assert ledger.read_result(GAME, 0, "c1") == CommandResult(1, command_digest=DIGEST)
    assert [t.task for t in ledger.take_tasks("bots", 10, 0)] == [bot_task(1, 1), bot_task(3, 1)]
    assert ledger.due_deadlines(NOON + 9000, ALL) == [(GAME, NOON + 9000)]
    assert ledger.games() == [GAME]
    assert client.xrange(keys.public_view(PARTITION, GAME))[0][0] == b"1-0"


def test_P9_a_decided_command_is_acknowledged_and_leaves_the_stream(ledger: RedisLedger, client: Any) -> None:
    deliveries = submit_and_take(ledger, envelope_of("c1"), envelope_of("c2"))
    ledger.append([append_request(deliveries[0])])
    assert [id_ for id_, _ in client.xrange(COMMANDS)] == [deliveries[1].id.encode()]
    assert [id_ for id_, _ in pending_entries(client, COMMANDS, keys.REFEREE_GROUP)] == [
        deliveries[1].id.encode()
    ]


@pytest.mark.parametrize("expected", [0, 2, 7])
def test_P3_a_conflict_changes_nothing_anywhere(ledger: RedisLedger, client: Any, expected: int) -> None:
    [delivery] = submit_and_take(ledger, envelope_of("c2"))
    ledger.append([full_request(0)])
    before = contents(client)
    assert ledger.append([full_request(expected, delivery, "c2")]) == [AppendResult(AppendStatus.CONFLICT, 1)]
    assert contents(client) == before
    assert pending_entries(client, COMMANDS, keys.REFEREE_GROUP) == [(delivery.id.encode(), b"one")]


def test_P3_a_verdict_on_a_log_that_is_gone_conflicts(ledger: RedisLedger, client: Any) -> None:
    """A fail-over may lose a whole game; nobody goes on in its middle."""
    before = contents(client)
    assert ledger.append([append_request(expected=2, id_="c3")]) == [AppendResult(AppendStatus.CONFLICT, 0)]
    assert contents(client) == before


def test_P3_a_log_that_lost_its_end_and_grew_again_takes_no_stale_verdict(
    ledger: RedisLedger, client: Any
) -> None:
    for n in range(2):
        ledger.append([append_request(expected=n, id_=f"c{n + 1}")])
    stale = append_request(expected=2, id_="c3")
    client.flushdb()
    for n, id_ in enumerate(("c1", "other")):
        ledger.append([append_request(expected=n, id_=id_)])
    before = contents(client)
    assert ledger.append([stale]) == [AppendResult(AppendStatus.CONFLICT, 2)]
    assert contents(client) == before


def test_P2_the_same_id_gets_the_first_verdict_and_its_command_goes(ledger: RedisLedger, client: Any) -> None:
    first, second = submit_and_take(ledger, envelope_of("c1"), envelope_of("c1"))
    ledger.append([full_request(0, first)])
    before = contents(client)
    assert ledger.append([full_request(1, second)]) == [AppendResult(AppendStatus.DUPLICATE, 1)]
    after = contents(client)
    assert after.pop(COMMANDS.encode()) == ([], [[]])
    before.pop(COMMANDS.encode())
    assert after == before


@pytest.mark.parametrize("expected", [-1, 0, 1, 5])
def test_P2_an_id_with_a_verdict_is_answered_whatever_was_expected(
    ledger: RedisLedger, expected: int
) -> None:
    ledger.append([append_request()])
    assert ledger.append([append_request(expected=expected)]) == [AppendResult(AppendStatus.DUPLICATE, 1)]
    assert ledger.read_entries(GAME) == [entry_of("c1")]


def test_P2_a_duplicate_writes_nothing_and_is_acknowledged(ledger: RedisLedger, client: Any) -> None:
    first, second = submit_and_take(ledger, envelope_of("c1"), envelope_of("c1"))
    ledger.append([append_request(first)])
    duplicate = DuplicateCommand(second, GAME, 0, "c1")
    assert ledger.append([duplicate]) == [AppendResult(AppendStatus.DUPLICATE, 1)]
    assert (client.xlen(COMMANDS), pending_entries(client, COMMANDS, keys.REFEREE_GROUP)) == (0, [])
    assert ledger.read_entries(GAME) == [entry_of("c1")]


def test_P2_a_duplicate_that_the_log_does_not_know_conflicts_and_stays(
    ledger: RedisLedger, client: Any
) -> None:
    [delivery] = submit_and_take(ledger, envelope_of("c2"))
    ledger.append([append_request()])
    before = contents(client)
    duplicate = DuplicateCommand(delivery, GAME, 0, "c2")
    assert ledger.append([duplicate]) == [AppendResult(AppendStatus.CONFLICT, 1)]
    assert contents(client) == before


@pytest.mark.parametrize("sender", [1, None])
def test_P2_the_same_id_of_another_sender_is_another_command(ledger: RedisLedger, sender: int | None) -> None:
    ledger.append([append_request()])
    assert ledger.append([append_request(expected=1, sender=sender)]) == [
        AppendResult(AppendStatus.APPENDED, 2)
    ]
    assert ledger.read_result(GAME, 0, "c1") == CommandResult(1, command_digest=DIGEST)
    assert ledger.read_result(GAME, sender, "c1") == CommandResult(2, command_digest=DIGEST)
    assert ledger.read_result(GAME, 2, "c1") is None


def test_P2_the_same_id_in_another_game_is_another_command(ledger: RedisLedger) -> None:
    ledger.append([append_request()])
    assert ledger.read_result("game-two", 0, "c1") is None


def test_P3_entries_are_numbered_from_one(ledger: RedisLedger, client: Any) -> None:
    written = [ledger.append([append_request(expected=n, id_=f"c{n + 1}")])[0] for n in range(20)]
    assert written == [AppendResult(AppendStatus.APPENDED, n) for n in range(1, 21)]
    for key in (keys.log(PARTITION, GAME), keys.public_view(PARTITION, GAME)):
        assert [id_ for id_, _ in client.xrange(key)] == [f"{n}-0".encode() for n in range(1, 21)]


def test_P5_a_part_reaches_its_seat_alone(ledger: RedisLedger, client: Any) -> None:
    ledger.append(
        [
            append_request(
                private_parts=[(2, private_part(0, None, "green")), (3, private_part(0, None, "blue"))]
            )
        ]
    )
    cards = {seat: ledger.read_view(GAME, seat)[0].events[0].card for seat in (0, 1, 2, 3, None)}  # type: ignore[attr-defined]  # a CardDrawn
    assert cards == {0: None, 1: None, 2: "green", 3: "blue", None: None}
    [(_, fields)] = client.xrange(keys.public_view(PARTITION, GAME))
    assert {*fields} == {b"p", b"2", b"3"}


def test_P10_a_deadline_is_set_moved_and_taken_away(ledger: RedisLedger) -> None:
    ledger.append([append_request(deadline_ms=NOON + 10)])
    assert ledger.due_deadlines(NOON + 9, ALL) == []
    assert ledger.due_deadlines(NOON + 10, ALL) == [(GAME, NOON + 10)]
    ledger.append([append_request(expected=1, id_="c2", deadline_ms=NOON + 20)])
    assert ledger.due_deadlines(NOON + 30, ALL) == [(GAME, NOON + 20)]
    ledger.append([append_request(expected=2, id_="c3")])
    assert ledger.due_deadlines(NOON + 30, ALL) == []


def test_P10_a_deadline_can_be_corrected(ledger: RedisLedger) -> None:
    ledger.set_deadline(GAME, NOON)
    assert ledger.due_deadlines(NOON, ALL) == [(GAME, NOON)]
    ledger.set_deadline(GAME, None)
    assert ledger.due_deadlines(NOON, ALL) == []


def test_P3_several_verdicts_of_one_game_go_in_one_call(ledger: RedisLedger) -> None:
    batch = [
        full_request(0, id_="c1"),
        append_request(expected=1, id_="c2"),
        append_request(expected=2, id_="c3"),
    ]
    assert ledger.append(batch) == [AppendResult(AppendStatus.APPENDED, n) for n in (1, 2, 3)]
    assert ledger.read_entries(GAME) == [logged(full_request(0)), entry_of("c2"), entry_of("c3")]


def test_P3_what_was_decided_on_a_conflicting_verdict_conflicts_too(ledger: RedisLedger) -> None:
    ledger.append([append_request(id_="rival")])
    batch = [
        append_request(expected=0, id_="c1"),
        append_request(expected=1, id_="c2"),
        append_request(expected=2, id_="c3"),
    ]
    assert [outcome.status for outcome in ledger.append(batch)] == [AppendStatus.CONFLICT] * 3
    assert ledger.read_entries(GAME) == [entry_of("rival")]


def test_P3_what_was_decided_on_another_verdict_of_the_same_id_conflicts(ledger: RedisLedger) -> None:
    ledger.append([append_request(id_="c1", secret=secret_of("rival"), head=b"head after a rival's")])
    batch = [append_request(expected=0, id_="c1"), append_request(expected=1, id_="c2")]
    assert ledger.append(batch) == [
        AppendResult(AppendStatus.DUPLICATE, 1),
        AppendResult(AppendStatus.CONFLICT, 1),
    ]


def test_P3_a_repeated_command_amid_a_batch_breaks_nothing(ledger: RedisLedger) -> None:
    repeated = DuplicateCommand(SERVER_DELIVERY, GAME, 0, "c1")
    batch: list[AppendRequest | DuplicateCommand] = [
        append_request(expected=0, id_="c1"),
        repeated,
        append_request(expected=1, id_="c2"),
    ]
    assert ledger.append(batch) == [
        AppendResult(AppendStatus.APPENDED, 1),
        AppendResult(AppendStatus.DUPLICATE, 1),
        AppendResult(AppendStatus.APPENDED, 2),
    ]


def test_P8_a_conflict_in_one_game_stops_no_other(ledger: RedisLedger) -> None:
    ledger.append([append_request(id_="rival")])
    batch = [
        append_request(id_="c1"),
        append_request(game="game-two", id_="c1"),
        append_request(id_="c2", expected=1),
    ]
    assert [outcome.status for outcome in ledger.append(batch)] == [
        AppendStatus.CONFLICT,
        AppendStatus.APPENDED,
        AppendStatus.CONFLICT,
    ]


def test_P7_a_forgotten_script_is_loaded_again(ledger: RedisLedger, client: Any) -> None:
    ledger.append([append_request()])
    client.script_flush()
    batch = [append_request(expected=n, id_=f"c{n + 1}") for n in (1, 2, 3)]
    assert ledger.append(batch) == [AppendResult(AppendStatus.APPENDED, n) for n in (2, 3, 4)]
    [delivery] = submit_and_take(ledger, envelope_of("c9"))
    client.script_flush()
    ledger.reject_without_entry([RejectedCommand(delivery, envelope_of("c9"), "RATE-1", "enough")])
    assert ledger.read_result(GAME, 0, "c9") == CommandResult(0, "RATE-1", "enough")


def test_the_clocks_own_verdicts_touch_no_command(ledger: RedisLedger, client: Any) -> None:
    [delivery] = submit_and_take(ledger, envelope_of("c1"))
    ledger.append([append_request(SERVER_DELIVERY, id_="clock:0:1", sender=None)])
    assert pending_entries(client, COMMANDS, keys.REFEREE_GROUP) == [(delivery.id.encode(), b"one")]


def test_an_empty_batch_makes_no_round_trip(ledger: RedisLedger) -> None:
    assert ledger.append([]) == []
