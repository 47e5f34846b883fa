"""P2, P3: a verdict is written whole, once, at one place of one log, or not at all."""

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
    keys,
)
from tests.conftest import ALL
from tests.ledger_contract.given import (
    CLOCKS_OWN,
    GAME,
    NOON,
    PARTITION,
    holds,
    in_hand,
    letter,
    note,
    own,
    taken,
    verdict,
    whole,
)

COMMANDS, TURNS = keys.commands(PARTITION), keys.bot_tasks(PARTITION)


def test_P3_a_verdict_is_written_with_all_that_belongs_to_it(ledger: RedisLedger, client: Any) -> None:
    [hand] = taken(ledger, letter("c1"))
    assert ledger.append([whole(0, hand)]) == [AppendResult(AppendStatus.APPENDED, 1)]
    assert ledger.read_entries(GAME) == [b"entry of c1"]
    assert [entry.number for entry in ledger.read_view(GAME, None)] == [1]
    assert ledger.read_result(GAME, 0, "c1") == CommandResult(1)
    assert [t.task for t in ledger.take_tasks("bots", 10, 0)] == [note(1, 1), note(3, 1)]
    assert ledger.due_deadlines(NOON + 9000, ALL) == [(GAME, NOON + 9000)]
    assert ledger.games() == [GAME]
    assert client.xrange(keys.public_view(PARTITION, GAME))[0][0] == b"1-0"


def test_P9_an_answered_letter_is_acknowledged_and_leaves_the_stream(
    ledger: RedisLedger, client: Any
) -> None:
    hands = taken(ledger, letter("c1"), letter("c2"))
    ledger.append([verdict(hands[0])])
    assert [id_ for id_, _ in client.xrange(COMMANDS)] == [hands[1].id.encode()]
    assert [id_ for id_, _ in in_hand(client, COMMANDS, keys.REFEREE_GROUP)] == [hands[1].id.encode()]


@pytest.mark.parametrize("expected", [0, 2, 7])
def test_P3_a_conflict_changes_nothing_anywhere(ledger: RedisLedger, client: Any, expected: int) -> None:
    [hand] = taken(ledger, letter("c2"))
    ledger.append([whole(0)])
    before = holds(client)
    assert ledger.append([whole(expected, hand, "c2")]) == [AppendResult(AppendStatus.CONFLICT, 1)]
    assert holds(client) == before
    assert in_hand(client, COMMANDS, keys.REFEREE_GROUP) == [(hand.id.encode(), b"one")]


def test_P3_a_verdict_on_a_log_that_is_gone_conflicts(ledger: RedisLedger, client: Any) -> None:
    """A fail-over may lose a whole game; nobody goes on in its middle."""
    before = holds(client)
    assert ledger.append([verdict(expected=2, id_="c3")]) == [AppendResult(AppendStatus.CONFLICT, 0)]
    assert holds(client) == before


def test_P3_a_log_that_lost_its_end_and_grew_again_takes_no_stale_verdict(
    ledger: RedisLedger, client: Any
) -> None:
    for n in range(2):
        ledger.append([verdict(expected=n, id_=f"c{n + 1}")])
    stale = verdict(expected=2, id_="c3")
    client.flushdb()
    for n, id_ in enumerate(("c1", "other")):
        ledger.append([verdict(expected=n, id_=id_)])
    before = holds(client)
    assert ledger.append([stale]) == [AppendResult(AppendStatus.CONFLICT, 2)]
    assert holds(client) == before


def test_P2_the_same_id_gets_the_first_verdict_and_its_letter_goes(ledger: RedisLedger, client: Any) -> None:
    first, second = taken(ledger, letter("c1"), letter("c1"))
    ledger.append([whole(0, first)])
    before = holds(client)
    assert ledger.append([whole(1, second)]) == [AppendResult(AppendStatus.DUPLICATE, 1)]
    after = holds(client)
    assert after.pop(COMMANDS.encode()) == ([], [[]])
    before.pop(COMMANDS.encode())
    assert after == before


@pytest.mark.parametrize("expected", [-1, 0, 1, 5])
def test_P2_an_id_with_a_verdict_is_answered_whatever_was_expected(
    ledger: RedisLedger, expected: int
) -> None:
    ledger.append([verdict()])
    assert ledger.append([verdict(expected=expected)]) == [AppendResult(AppendStatus.DUPLICATE, 1)]
    assert ledger.read_entries(GAME) == [b"entry of c1"]


def test_P2_a_duplicate_writes_nothing_and_is_acknowledged(ledger: RedisLedger, client: Any) -> None:
    first, second = taken(ledger, letter("c1"), letter("c1"))
    ledger.append([verdict(first)])
    duplicate = DuplicateCommand(second, GAME, 0, "c1")
    assert ledger.append([duplicate]) == [AppendResult(AppendStatus.DUPLICATE, 1)]
    assert (client.xlen(COMMANDS), in_hand(client, COMMANDS, keys.REFEREE_GROUP)) == (0, [])
    assert ledger.read_entries(GAME) == [b"entry of c1"]


def test_P2_a_duplicate_that_the_log_does_not_know_conflicts_and_stays(
    ledger: RedisLedger, client: Any
) -> None:
    [hand] = taken(ledger, letter("c2"))
    ledger.append([verdict()])
    before = holds(client)
    duplicate = DuplicateCommand(hand, GAME, 0, "c2")
    assert ledger.append([duplicate]) == [AppendResult(AppendStatus.CONFLICT, 1)]
    assert holds(client) == before


@pytest.mark.parametrize("speaker", [1, None])
def test_P2_the_same_id_of_another_speaker_is_another_command(
    ledger: RedisLedger, speaker: int | None
) -> None:
    ledger.append([verdict()])
    assert ledger.append([verdict(expected=1, sender=speaker)]) == [AppendResult(AppendStatus.APPENDED, 2)]
    assert ledger.read_result(GAME, 0, "c1") == CommandResult(1)
    assert ledger.read_result(GAME, speaker, "c1") == CommandResult(2)
    assert ledger.read_result(GAME, 2, "c1") is None


def test_P2_the_same_id_in_another_game_is_another_command(ledger: RedisLedger) -> None:
    ledger.append([verdict()])
    assert ledger.read_result("game-two", 0, "c1") is None


def test_P3_entries_are_numbered_from_one(ledger: RedisLedger, client: Any) -> None:
    written = [ledger.append([verdict(expected=n, id_=f"c{n + 1}")])[0] for n in range(20)]
    assert written == [AppendResult(AppendStatus.APPENDED, n) for n in range(1, 21)]
    for key in (keys.log(PARTITION, GAME), keys.public_view(PARTITION, GAME)):
        assert [id_ for id_, _ in client.xrange(key)] == [f"{n}-0".encode() for n in range(1, 21)]


def test_P5_a_part_reaches_its_seat_alone(ledger: RedisLedger, client: Any) -> None:
    ledger.append([verdict(private_parts=[(2, own(0, None, "green")), (3, own(0, None, "blue"))])])
    cards = {seat: ledger.read_view(GAME, seat)[0].events[0].card for seat in (0, 1, 2, 3, None)}  # type: ignore[union-attr]  # a CardDrawn
    assert cards == {0: None, 1: None, 2: "green", 3: "blue", None: None}
    assert not client.exists(*(keys.private_view(PARTITION, GAME, seat) for seat in (0, 1)))


def test_P10_a_deadline_is_set_moved_and_taken_away(ledger: RedisLedger) -> None:
    ledger.append([verdict(deadline_ms=NOON + 10)])
    assert ledger.due_deadlines(NOON + 9, ALL) == []
    assert ledger.due_deadlines(NOON + 10, ALL) == [(GAME, NOON + 10)]
    ledger.append([verdict(expected=1, id_="c2", deadline_ms=NOON + 20)])
    assert ledger.due_deadlines(NOON + 30, ALL) == [(GAME, NOON + 20)]
    ledger.append([verdict(expected=2, id_="c3")])
    assert ledger.due_deadlines(NOON + 30, ALL) == []


def test_P10_a_deadline_can_be_corrected(ledger: RedisLedger) -> None:
    ledger.set_deadline(GAME, NOON)
    assert ledger.due_deadlines(NOON, ALL) == [(GAME, NOON)]
    ledger.set_deadline(GAME, None)
    assert ledger.due_deadlines(NOON, ALL) == []


def test_P3_several_verdicts_of_one_game_go_in_one_call(ledger: RedisLedger) -> None:
    batch = [whole(0, id_="c1"), verdict(expected=1, id_="c2"), verdict(expected=2, id_="c3")]
    assert ledger.append(batch) == [AppendResult(AppendStatus.APPENDED, n) for n in (1, 2, 3)]
    assert ledger.read_entries(GAME) == [b"entry of c1", b"entry of c2", b"entry of c3"]


def test_P3_what_was_decided_on_a_conflicting_verdict_conflicts_too(ledger: RedisLedger) -> None:
    ledger.append([verdict(id_="rival")])
    batch = [verdict(expected=0, id_="c1"), verdict(expected=1, id_="c2"), verdict(expected=2, id_="c3")]
    assert [outcome.status for outcome in ledger.append(batch)] == [AppendStatus.CONFLICT] * 3
    assert ledger.read_entries(GAME) == [b"entry of rival"]


def test_P3_what_was_decided_on_another_verdict_of_the_same_id_conflicts(ledger: RedisLedger) -> None:
    ledger.append([verdict(id_="c1", entry=b"a rival's", head=b"head after a rival's")])
    batch = [verdict(expected=0, id_="c1"), verdict(expected=1, id_="c2")]
    assert ledger.append(batch) == [
        AppendResult(AppendStatus.DUPLICATE, 1),
        AppendResult(AppendStatus.CONFLICT, 1),
    ]


def test_P3_a_repeated_letter_amid_a_batch_breaks_nothing(ledger: RedisLedger) -> None:
    repeated = DuplicateCommand(CLOCKS_OWN, GAME, 0, "c1")
    batch: list[AppendRequest | DuplicateCommand] = [
        verdict(expected=0, id_="c1"),
        repeated,
        verdict(expected=1, id_="c2"),
    ]
    assert ledger.append(batch) == [
        AppendResult(AppendStatus.APPENDED, 1),
        AppendResult(AppendStatus.DUPLICATE, 1),
        AppendResult(AppendStatus.APPENDED, 2),
    ]


def test_P8_a_conflict_in_one_game_stops_no_other(ledger: RedisLedger) -> None:
    ledger.append([verdict(id_="rival")])
    batch = [verdict(id_="c1"), verdict(game="game-two", id_="c1"), verdict(id_="c2", expected=1)]
    assert [outcome.status for outcome in ledger.append(batch)] == [
        AppendStatus.CONFLICT,
        AppendStatus.APPENDED,
        AppendStatus.CONFLICT,
    ]


def test_P7_a_forgotten_script_is_taught_again(ledger: RedisLedger, client: Any) -> None:
    ledger.append([verdict()])
    client.script_flush()
    batch = [verdict(expected=n, id_=f"c{n + 1}") for n in (1, 2, 3)]
    assert ledger.append(batch) == [AppendResult(AppendStatus.APPENDED, n) for n in (2, 3, 4)]
    [hand] = taken(ledger, letter("c9"))
    client.script_flush()
    ledger.reject_without_entry(hand, letter("c9"), "RATE-1", "enough")
    assert ledger.read_result(GAME, 0, "c9") == CommandResult(0, "RATE-1", "enough")


def test_the_clocks_own_verdicts_touch_no_letter(ledger: RedisLedger, client: Any) -> None:
    [hand] = taken(ledger, letter("c1"))
    ledger.append([verdict(CLOCKS_OWN, id_="clock:0:1", sender=None)])
    assert in_hand(client, COMMANDS, keys.REFEREE_GROUP) == [(hand.id.encode(), b"one")]


def test_no_verdicts_are_no_round_trip(ledger: RedisLedger) -> None:
    assert ledger.append([]) == []
