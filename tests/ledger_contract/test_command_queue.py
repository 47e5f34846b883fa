"""P2, P7, P8: a letter is in some hand until it is answered, whatever becomes of the hands."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.codec import pack_envelope, unpack_envelope
from services.ledger import BotTask, CommandResult, QueueFullError, RedisLedger, keys
from services.ledger.connection import connect, init_partition_count
from services.ledger.scripts import REMOVE_CONSUMER, run_script
from tests.conftest import ALL, PARTITIONS
from tests.ledger_contract.given import GAME, PARTITION, again, holds, in_hand, letter, note, taken, verdict

COMMANDS = keys.commands(PARTITION)


def test_P2_a_letter_is_taken_by_one_consumer(ledger: RedisLedger, other_ledger: RedisLedger) -> None:
    hands = taken(ledger, letter("c1"), letter("c2"))
    assert [hand.data for hand in hands] == [pack_envelope(letter("c1")), pack_envelope(letter("c2"))]
    assert {hand.partition for hand in hands} == {PARTITION}
    assert other_ledger.take("two", ALL, 10, 0) == []


def test_letters_that_came_before_any_referee_are_not_lost(
    ledger: RedisLedger, other_ledger: RedisLedger
) -> None:
    ledger.submit(letter("c1"))
    assert len(other_ledger.take("one", ALL, 10, 0)) == 1


def test_take_gives_at_most_so_many_of_each_partition(ledger: RedisLedger) -> None:
    games = [f"game-{n}" for n in range(40)]
    for game in games:
        ledger.submit(letter("c1", game=game))
    left = {p: sum(keys.partition_of(game, PARTITIONS) == p for game in games) for p in range(PARTITIONS)}
    while any(left.values()):
        hands = ledger.take("one", ALL, 3, 0)
        for partition, count in left.items():
            assert sum(hand.partition == partition for hand in hands) == min(3, count)
            left[partition] = max(0, count - 3)
    assert ledger.take("one", ALL, 3, 0) == []


def test_take_waits_no_longer_than_told(ledger: RedisLedger) -> None:
    assert ledger.take("one", ALL, 10, 20) == []


def test_P2_only_the_partitions_asked_for_are_taken_from(ledger: RedisLedger) -> None:
    others = [p for p in ALL if p != PARTITION]
    ledger.submit(letter("c1"))
    assert ledger.take("one", others, 10, 0) == []
    assert ledger.take("one", [], 10, 0) == []
    hands = ledger.take("one", [PARTITION], 10, 0)
    assert ledger.reclaim("two", others, 0) == []
    assert ledger.reclaim("two", [PARTITION], 0) == again(hands, 2)


def test_P8_a_full_partition_takes_no_letter_and_loses_none(ledger: RedisLedger, client: Any) -> None:
    narrow = RedisLedger(client, ledger.partitions, max_waiting=2)
    narrow.submit(letter("c1"))
    narrow.submit(letter("c2"))
    before = holds(client)
    with pytest.raises(QueueFullError, match="2 letters wait"):
        narrow.submit(letter("c3"))
    assert holds(client) == before
    hands = narrow.take("one", ALL, 10, 0)
    with pytest.raises(QueueFullError):
        narrow.submit(letter("c3"))  # what is in hand still waits
    narrow.append([verdict(hands[0])])
    narrow.submit(letter("c3"))
    assert [unpack_envelope(hand.data).id for hand in narrow.take("one", ALL, 10, 0)] == ["c3"]


def test_P2_a_dismissal_is_told_to_its_speaker_for_a_minute(ledger: RedisLedger, client: Any) -> None:
    [hand] = taken(ledger, letter("c1", 2))
    ledger.reject_without_entry(hand, letter("c1", 2), "RATE-1", "too many")
    assert ledger.read_result(GAME, 2, "c1") == CommandResult(0, "RATE-1", "too many")
    assert ledger.read_result(GAME, 1, "c1") is None
    assert ledger.read_result(GAME, None, "c1") is None
    assert client.ttl(keys.rejection(PARTITION, GAME, 2, "c1")) in (59, 60)
    assert client.xlen(COMMANDS) == 0
    assert in_hand(client, COMMANDS, keys.REFEREE_GROUP) == []
    assert ledger.read_entries(GAME) == []


def test_P2_two_consumers_dismiss_a_letter_once(
    ledger: RedisLedger, other_ledger: RedisLedger, client: Any
) -> None:
    [hand] = taken(ledger, letter("c1"))
    [same] = other_ledger.reclaim("two", ALL, 0)
    ledger.reject_without_entry(hand, letter("c1"), "RATE-1", "the first to say")
    before = holds(client)
    other_ledger.reject_without_entry(same, letter("c1"), "GAME-1", "the second")
    assert holds(client) == before
    assert ledger.read_result(GAME, 0, "c1") == CommandResult(0, "RATE-1", "the first to say")


def test_P2_a_verdict_counts_for_more_than_a_dismissal(ledger: RedisLedger) -> None:
    [hand] = taken(ledger, letter("c1"))
    ledger.reject_without_entry(hand, letter("c1"), "GAME-1", "not yet")
    ledger.append([verdict()])
    assert ledger.read_result(GAME, 0, "c1") == CommandResult(1)


def test_P8_a_buried_letter_goes_to_the_dead_with_the_reason(
    ledger: RedisLedger, other_ledger: RedisLedger, client: Any
) -> None:
    [hand] = taken(ledger, letter("c1"))
    [same] = other_ledger.reclaim("two", ALL, 0)
    ledger.move_to_dead_letters(hand, letter("c1"), "it can't be read")
    other_ledger.move_to_dead_letters(same, letter("c1"), "nor by me")
    [dead] = ledger.dead_letters().list_all()
    assert (dead.reason, dead.delivery_count, dead.envelope) == ("it can't be read", 1, letter("c1"))
    assert client.xlen(COMMANDS) == 0
    assert in_hand(client, COMMANDS, keys.REFEREE_GROUP) == []


def test_P8_the_speaker_of_a_buried_letter_is_told(ledger: RedisLedger) -> None:
    [hand] = taken(ledger, letter("c1"))
    ledger.move_to_dead_letters(hand, letter("c1"), "KeyError: 'a secret card'")
    told = ledger.read_result(GAME, 0, "c1")
    assert told is not None
    assert (told.sequence, told.rule) == (0, "POISON-1")
    assert "secret" not in told.reason


def test_P8_an_entry_without_a_letter_is_taken_as_an_empty_one(ledger: RedisLedger, client: Any) -> None:
    client.xadd(COMMANDS, {"something": "else"})
    [hand] = ledger.take("one", ALL, 10, 0)
    assert hand.data == b""
    assert ledger.reclaim("two", ALL, 0) == again([hand], 2)


def test_turns_are_taken_finished_and_gone(
    ledger: RedisLedger, other_ledger: RedisLedger, client: Any
) -> None:
    notes = [note(seat, 1) for seat in (0, 1, 2)]
    ledger.append([verdict(tasks=notes)])
    first = ledger.take_tasks("bots-1", 2, 0)
    assert [hand.task for hand in first] == notes[:2]
    assert isinstance(first[0].task, BotTask)
    ledger.acknowledge_tasks(first[:1])
    assert other_ledger.reclaim_tasks("bots-2", 60_000) == []
    [second] = other_ledger.reclaim_tasks("bots-2", 0)
    assert second == first[1]._replace(delivery_count=2)
    rest = other_ledger.take_tasks("bots-2", 10, 0)
    assert [hand.task for hand in rest] == notes[2:]
    other_ledger.acknowledge_tasks([*first[1:], *rest])
    assert client.xlen(keys.bot_tasks(PARTITION)) == 0
    assert in_hand(client, keys.bot_tasks(PARTITION), keys.BOT_GROUP) == []


def test_games_are_listed_the_latest_first(ledger: RedisLedger) -> None:
    for n in range(12):
        ledger.append([verdict(game=f"game-{n}", at_ms=1000 + n)])
    ledger.append([verdict(game="game-3", at_ms=2000, expected=1, id_="c2")])
    assert ledger.games(4) == ["game-3", "game-11", "game-10", "game-9"]
    assert len(ledger.games()) == 12


def test_P7_letters_are_taken_again_after_the_engine_lost_the_groups(engine_url: str) -> None:
    with connect(engine_url) as client:  # fakeredis has another word for NOGROUP: see test_pinned
        client.flushdb()
        ledger = RedisLedger(client, init_partition_count(client, PARTITIONS))
        taken(ledger, letter("c1"))
        client.flushdb()
        assert ledger.take("one", ALL, 10, 0) == []
        ledger.submit(letter("c2"))
        assert len(ledger.take("one", ALL, 10, 0)) == 1
        client.flushdb()
        assert ledger.reclaim("one", ALL, 0) == []
        assert ledger.take_tasks("bots", 10, 0) == []


def test_P1_a_dismissal_is_no_answer_to_the_same_command_sent_again(ledger: RedisLedger) -> None:
    (hand,) = taken(ledger, letter("c1"))
    ledger.reject_without_entry(hand, letter("c1"), "RATE-1", "too fast")
    assert ledger.read_result(GAME, 0, "c1") == CommandResult(0, "RATE-1", "too fast")
    ledger.submit(letter("c1"))
    assert ledger.read_result(GAME, 0, "c1") is None


def test_P1_a_consumer_that_took_something_in_the_last_moment_is_not_forgotten(
    ledger: RedisLedger, client: Any
) -> None:
    """With it would go what it has in hand."""
    hands = taken(ledger, letter("c1"))
    assert run_script(client, REMOVE_CONSUMER, [([COMMANDS], [keys.REFEREE_GROUP, "one"])]) == [0]
    assert ledger.reclaim("two", ALL, 0) == again(hands, 2)
    assert run_script(client, REMOVE_CONSUMER, [([COMMANDS], [keys.REFEREE_GROUP, "one"])]) == [1]
