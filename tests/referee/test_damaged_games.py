"""P8: a game whose keys don't fit each other, or that crashes its referees, stops no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from redis.exceptions import ConnectionError

from schemas.commands import CommandEnvelope, Leave, StartGame
from schemas.stored.codec import pack_envelope
from services.ledger import GameLog, RedisLedger
from services.ledger.engine import keys
from services.ledger.ports import NodeAwayError
from services.referee import worker
from services.referee.decision_building import next_wakeup
from services.referee.worker import MAX_ENVELOPES_PER_STEP, Referee
from tests.conftest import ALL
from tests.referee.running_referee import (
    GAME,
    LOG,
    NEIGHBOUR_GAME,
    NOON,
    Clock,
    dead_letter_reasons,
    interrupted_referee,
    opening_commands,
    partition_of,
    referee_at,
    submit,
)

PARTITION = partition_of(GAME)
PUBLIC, HEAD = keys.public_view(PARTITION, GAME), keys.chain_head(PARTITION, GAME)
Harm = Callable[[Any], object]


def no_verdicts(client: Any) -> None:
    client.delete(keys.command_results(PARTITION, GAME, None))


def another_field(client: Any) -> None:
    """The last entry has a field that the ledger doesn't write."""
    *before, (last, fields) = client.xrange(LOG)
    client.delete(LOG)
    for id_, kept in before:
        client.xadd(LOG, kept, id=id_)
    client.xadd(LOG, {"x": next(iter(fields.values()))}, id=last)


HARMS: dict[str, Harm] = {
    "verdicts lost": no_verdicts,
    "a view that is ahead": lambda client: client.xadd(PUBLIC, {"p": b"x"}, id="100-0"),
    "a view that lost its end": lambda client: client.delete(PUBLIC),
    "a log that is none": lambda client: (client.delete(LOG), client.set(LOG, "what?")),
    "verdicts that are none": lambda client: (
        client.delete(keys.command_results(PARTITION, GAME, 0)),
        client.set(keys.command_results(PARTITION, GAME, 0), "what?"),
    ),
    "another number in the chain head": lambda client: client.set(HEAD, b"3" + client.get(HEAD)[1:]),
    "another head": lambda client: client.set(HEAD, b"2 another head"),
    "a chain head that is none": lambda client: client.set(HEAD, b"no head"),
    "chain head lost": lambda client: client.delete(HEAD),
    "a chain head of another type": lambda client: (client.delete(HEAD), client.hset(HEAD, "no", "string")),
    "a view that lost an entry": lambda client: client.xdel(PUBLIC, "1-0"),
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_P8_a_command_for_a_damaged_game_is_a_dead_letter_and_the_others_go_on(
    ledger: RedisLedger, opened: Referee, client: Any, harm: Harm
) -> None:
    harm(client)
    again = CommandEnvelope("start", GAME, None, StartGame())
    submit(ledger, [again, CommandEnvelope("leave", GAME, 0, Leave()), *opening_commands(NEIGHBOUR_GAME)])
    before = client.type(LOG) == b"stream" and client.xlen(LOG)
    for referee in (opened, referee_at(ledger, "fresh")):
        referee.step(0)
        referee.reclaim(0)
    assert dead_letter_reasons(client) != []
    if harm is not no_verdicts:  # there the seat's own command is still decided
        assert before == (client.type(LOG) == b"stream" and client.xlen(LOG))  # and no half verdict
    assert len(ledger.read_entries(NEIGHBOUR_GAME)) == 2
    assert ledger.commands.reclaim("anybody", ALL, 0) == []


def test_P8_a_command_without_an_entry_is_a_dead_letter_where_the_log_is_never_as_its_head_says(
    ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    client.set(HEAD, b"1" + client.get(HEAD)[1:])
    nobody = CommandEnvelope("nobody", GAME, 5, Leave())  # the game has no seat 5
    submit(ledger, [nobody, *opening_commands(NEIGHBOUR_GAME)])
    opened.step(0)
    assert dead_letter_reasons(client) == [b"the game's log isn't as its chain head says"]
    assert len(ledger.read_entries(NEIGHBOUR_GAME)) == 2


def test_P8_a_log_entry_that_cannot_be_read_crashes_no_referee_that_folds_it(
    ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    """A referee that has cached the game only checks its length and its head."""
    another_field(client)
    submit(ledger, [CommandEnvelope("leave", GAME, 0, Leave()), *opening_commands(NEIGHBOUR_GAME)])
    referee_at(ledger, "fresh").step(0)
    assert dead_letter_reasons(client) == [b"the log can't be read: an entry has no field b's'"]
    assert (client.xlen(LOG), len(ledger.read_entries(NEIGHBOUR_GAME))) == (2, 2)
    assert ledger.commands.reclaim("anybody", ALL, 0) == []


def away() -> None:
    raise ConnectionError("the request was lost")


def test_P8_commands_of_several_partitions_with_the_same_stream_id_are_not_taken_for_one(
    ledger: RedisLedger, client: Any
) -> None:
    """The engine goes away during their append, so each conflicts once with the cached game."""
    games = [next(f"game-{n}" for n in range(100) if partition_of(f"game-{n}") == part) for part in ALL]
    for partition, game in zip(ALL, games, strict=True):
        client.xadd(keys.commands(partition), {"c": pack_envelope(opening_commands(game)[0])}, id="1-1")
    referee = interrupted_referee(ledger, away)
    with pytest.raises(ConnectionError):
        referee.step(0)
    referee.reclaim(0)
    assert dead_letter_reasons(client) == []
    assert [len(ledger.read_entries(game)) for game in games] == [1] * len(games)
    assert ledger.commands.reclaim("anybody", ALL, 0) == []


class Killed(BaseException):
    """The process is gone, amid a decision."""


def test_P8_a_deadline_that_crashes_its_referee_does_not_crash_the_next_one_at_once(
    ledger: RedisLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    submit(ledger, [*opening_commands(clock_ms=1000), *opening_commands(NEIGHBOUR_GAME, clock_ms=1000)])
    referee_at(ledger, "one", clock).step(0)

    def deadly(state: Any) -> Any:
        if state.game == GAME:
            raise Killed
        return next_wakeup(state)

    monkeypatch.setattr(worker, "next_wakeup", deadly)
    clock.now = NOON + 1000
    for name in ("two", "three", "four"):
        try:
            referee_at(ledger, name, clock).process_due_games()
        except Killed:
            clock.now += 1
    assert len(ledger.read_entries(NEIGHBOUR_GAME)) > 2
    monkeypatch.undo()
    clock.now += worker.RETRY_DELAY_MS
    referee_at(ledger, "five", clock).process_due_games()
    assert len(ledger.read_entries(GAME)) == 3


def test_P8_unreadable_members_of_the_deadlines_crash_nobody(ledger: RedisLedger, client: Any) -> None:
    client.zadd(keys.deadlines(PARTITION), {b"\xff\xfe": NOON, "no-such-game": "-inf"})
    client.zadd(keys.evictions(PARTITION), {b"\xff\xfe": NOON})
    referee = referee_at(ledger)
    submit(ledger, opening_commands(clock_ms=1000))
    referee.step(0)
    clock: Any = referee.clocks.game_time_ms
    clock.now = NOON + 1000
    referee.process_due_games()
    referee.evict()
    assert len(ledger.read_entries(GAME)) == 3
    assert ledger.evictable(NOON * 10, ALL) == []


def test_P7_no_more_commands_are_taken_than_can_be_decided_in_time(ledger: RedisLedger) -> None:
    counts: list[int] = []

    class Counting:
        commands = property(lambda self: self)

        def __getattr__(self, name: str) -> Any:
            return getattr(ledger, name)

        def take(self, consumer: str, partitions: Any, count: int, block_ms: int) -> Any:
            counts.append(count * len(partitions))
            return ledger.commands.take(consumer, partitions, count, block_ms)

    counting: Any = Counting()
    for partition_count in (1, 4, 256, 4096):
        referee_at(counting, partitions=[0] * partition_count).step(0)
    assert [count <= MAX_ENVELOPES_PER_STEP for count in counts] == [True, True, True, False]
    assert counts[-1] == 4096  # one of each


class PartAway:
    """A ledger on a cluster of which a part is away: that part's games can't be read."""

    def __init__(self, ledger: RedisLedger, away: str) -> None:
        self._ledger, self.away = ledger, away

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def read_logs(self, games: Sequence[str]) -> dict[str, GameLog]:
        return self._ledger.read_logs([game for game in games if game != self.away])

    def read_log(self, game: str) -> GameLog:
        if game == self.away:
            raise NodeAwayError("no answer")
        return self._ledger.read_log(game)


def test_P7_a_command_of_a_game_on_a_node_that_is_away_waits_and_stops_no_other(
    ledger: RedisLedger, client: Any
) -> None:
    part_away = PartAway(ledger, GAME)
    submit(ledger, [*opening_commands(), *opening_commands(NEIGHBOUR_GAME)])
    referee = referee_at(part_away)  # type: ignore[arg-type]  # it has all that a ledger has
    assert referee.step(0) == 4
    assert [len(ledger.read_entries(game)) for game in (GAME, NEIGHBOUR_GAME)] == [0, 2]
    part_away.away = ""
    assert referee_at(ledger, "another").reclaim(0) == 2
    assert len(ledger.read_entries(GAME)) == 2
    assert dead_letter_reasons(client) == []
