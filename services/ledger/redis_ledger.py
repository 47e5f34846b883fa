"""The ledger on Redis or Valkey: streams for logs, views, commands and turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final

import redis
from redis.exceptions import TryAgainError

from schemas import keys
from schemas.codec import pack, pack_letter, unpack
from schemas.commands import Letter
from schemas.contract import Malformed, Shape
from schemas.views import ViewEntry
from schemas.words import Seat
from services.ledger.dead_letters import DEAD_MOST, DeadLetters, fields_of
from services.ledger.groups import Group, Handed
from services.ledger.joining import Numbered, in_row, joined
from services.ledger.knocks import channel
from services.ledger.port import WAITING_MOST, Answer, Full, Gap, Outcome, Taken, TakenTurn, Turn, Verdict
from services.ledger.roster import Roster
from services.ledger.rounds import present
from services.ledger.scripts import APPEND, DISMISS, RETIRE, SUBMIT, Call, attempt, run
from services.logs import get_log

log = get_log("bots")
DISMISSED_S: Final = 60
POISONED: Final = "it broke the referee and was put aside; the game goes on, and an operator sees it"
NOTE: Final[Shape[Turn]] = Shape(Turn, "note")
UNKNOWN: Final = Outcome("unknown", 0)
OUTCOMES: Final = {1: "appended", 0: "answered", -1: "conflict", -2: "damaged"}


class RedisLedger:
    """See `port.Ledger`. One client, one thread at a time."""

    def __init__(self, client: redis.Redis, partitions: int, waiting_most: int = WAITING_MOST) -> None:
        self._client: Any = client  # redis-py types replies for both of its clients at once
        self.partitions, self.waiting_most = partitions, waiting_most
        self._all = range(partitions)
        self._letters = Group(client, keys.REFEREES, keys.commands, partitions)
        self._notes = Group(client, keys.BOTS, keys.turns, partitions)
        self._knock = {group: channel(client, group) for group in keys.KNOCK}

    def close(self) -> None:
        """Let go of the engine."""
        self._letters.close()
        self._notes.close()
        self._client.close()

    def roster(self) -> Roster:
        """Who keeps the house, on the same connection."""
        return Roster(self._client)

    def dead_letters(self) -> DeadLetters:
        """What an operator looks at, on the same connection."""
        return DeadLetters(self._client, self.partitions)

    def partition_of(self, game: str) -> int:
        return keys.partition_of(game, self.partitions)

    # -- letters ----------------------------------------------------------------------

    def submit(self, letter: Letter) -> None:
        called, told = submit_call(letter, self.partitions, self.waiting_most, self._knock[keys.REFEREES])
        try:
            [taken] = run(self._client, SUBMIT, [(called, told)])
        except TryAgainError:  # the partition moves to another node: a key by itself is always somewhere
            self._client.delete(called[1])
            [taken] = run(self._client, SUBMIT, [(called[:1], told)])
        if not taken:
            raise Full(f"{self.waiting_most} letters wait in the partition of game {letter.game}")

    def take(self, consumer: str, partitions: Sequence[int], count: int, block_ms: int) -> list[Taken]:
        return [_taken(handed) for handed in self._letters.read(consumer, partitions, count, block_ms)]

    def reclaim(self, consumer: str, partitions: Sequence[int], idle_ms: int) -> list[Taken]:
        return [_taken(handed) for handed in self._letters.reclaim(consumer, partitions, idle_ms)]

    def append(self, verdicts: Sequence[Verdict]) -> list[Outcome]:
        calls = [_append_call(verdict, self._knock[keys.BOTS]) for verdict in verdicts]
        replies = attempt(self._client, APPEND, calls)
        moving = [place for place, reply in enumerate(replies) if isinstance(reply, TryAgainError)]
        if moving:  # to another node: nothing was done, and the batch's other games don't wait
            hands = [verdicts[place].taken for place in moving]
            self._letters.put_off((hand.partition, hand.id, hand.deliveries) for hand in hands if hand.id)
            for place in moving:
                replies[place] = ()
        return [Outcome(OUTCOMES[reply[0]], reply[1]) if reply else UNKNOWN for reply in present(replies)]

    def dismiss(self, taken: Taken, letter: Letter, rule: str, why: str) -> None:
        self._set_aside(taken, letter, rule, why, ())

    def bury(self, taken: Taken, letter: Letter | None, reason: str) -> None:
        dead = tuple(fields_of(reason, taken.data, taken.deliveries))
        self._set_aside(taken, letter, "POISON-1", POISONED, dead)

    def _set_aside(
        self, taken: Taken, letter: Letter | None, rule: str, why: str, dead: Sequence[Any]
    ) -> None:
        partition = taken.partition
        called, told = [keys.commands(partition)] * 2, ["", DISMISSED_S, "", ""]
        if letter is not None:
            called[1] = keys.dismissed(partition, letter.game, letter.seat, letter.id)
            told = [pack((rule, why)), DISMISSED_S, keys.bell(partition), letter.game]
        called.append(keys.dead(partition))
        run(self._client, DISMISS, [(called, [keys.REFEREES, taken.id, *told, DEAD_MOST, *dead])])

    def answer(self, game: str, speaker: Seat | None, command_id: str) -> Answer | None:
        partition = self.partition_of(game)
        pipe = self._client.pipeline(transaction=False)
        pipe.hget(keys.verdicts(partition, game, speaker), command_id)
        pipe.get(keys.dismissed(partition, game, speaker, command_id))
        return read_answer(*pipe.execute())

    # -- logs and views ---------------------------------------------------------------

    def history(self, game: str, after: int = 0) -> list[bytes]:
        return whole(
            game, self._client.xrange(keys.log(self.partition_of(game), game), f"{after + 1}-0"), after
        )

    def histories(self, games: Sequence[str]) -> dict[str, list[bytes]]:
        pipe = self._client.pipeline(transaction=False)
        for game in games:
            pipe.xrange(keys.log(self.partition_of(game), game))
        logs = {}
        for game, reply in zip(games, pipe.execute(raise_on_error=False), strict=True):
            with suppress(Gap):
                if not isinstance(reply, Exception):  # who asks for this log alone is told
                    logs[game] = whole(game, reply)
        return logs

    def seen(self, game: str, viewer: Seat | None, after: int = 0, most: int = 1000) -> list[ViewEntry]:
        partition, first, last = self.partition_of(game), f"{after + 1}-0", f"{after + most}-0"
        pipe = self._client.pipeline(transaction=False)
        pipe.xrange(keys.public(partition, game), first, last)
        if viewer is not None:  # after the public one, so that no part is older than its entry
            pipe.xrange(keys.seat(partition, game, viewer), first, last)
        public, *own = pipe.execute()
        return joined(after, numbered(public), numbered(own[0]) if own else ())

    def follow(self, game: str, viewer: Seat | None, after: int, block_ms: int) -> list[ViewEntry]:
        stream = keys.public(self.partition_of(game), game)
        block = block_ms if block_ms > 0 else None  # 0 would block for ever
        more = self._client.xread({stream: f"{after}-0"}, count=1, block=block)
        return self.seen(game, viewer, after) if more else []

    def games(self, most: int = 1000) -> list[str]:
        pipe = self._client.pipeline(transaction=False)
        for partition in self._all:
            pipe.zrevrange(keys.games(partition), 0, most - 1, withscores=True)
        found = [pair for part in pipe.execute() for pair in part]
        return [game.decode() for game, _ in sorted(found, key=lambda pair: -pair[1])[:most]]

    # -- turns, deadlines, and games that may leave -----------------------------------

    def take_turns(self, consumer: str, count: int, block_ms: int) -> list[TakenTurn]:
        return self._turns(self._notes.read(consumer, self._all, count, block_ms))

    def reclaim_turns(self, consumer: str, idle_ms: int) -> list[TakenTurn]:
        return self._turns(self._notes.reclaim(consumer, self._all, idle_ms))

    def _turns(self, found: Iterable[Handed]) -> list[TakenTurn]:
        turns = []
        for partition, id_, fields, _ in found:
            try:
                turn = NOTE.read(unpack(fields.get(b"t", b"")))
            except (Malformed, TypeError, ValueError) as error:
                log.error("note can't be read", partition=partition, id=id_, error=str(error))
                self._notes.acknowledge([(partition, id_)])
            else:
                turns.append(TakenTurn(partition, id_, turn))
        return turns

    def finish_turns(self, turns: Sequence[TakenTurn]) -> None:
        self._notes.acknowledge((partition, id_) for partition, id_, _ in turns)

    def due(self, now: int, partitions: Iterable[int]) -> list[tuple[str, int]]:
        found = self._scored([keys.due(partition) for partition in partitions], now)
        return [(game.decode(), int(at)) for game, at in found]

    def set_due(self, game: str, deadline: int | None) -> None:
        self._score(keys.due(self.partition_of(game)), game, deadline)

    def leaving(self, now: int, partitions: Iterable[int]) -> list[str]:
        return [game.decode() for game, _ in self._scored([keys.over(p) for p in partitions], now)]

    def stay(self, game: str, until: int | None) -> None:
        self._score(keys.over(self.partition_of(game)), game, until)

    def retire(self, game: str, seats: int, length: int) -> bool:
        partition = self.partition_of(game)
        called = [
            keys.log(partition, game),
            keys.due(partition),
            keys.games(partition),
            keys.over(partition),
            keys.public(partition, game),
            keys.verdicts(partition, game, None),
            *(keys.seat(partition, game, seat) for seat in range(seats)),
            *(keys.verdicts(partition, game, seat) for seat in range(seats)),
        ]
        return bool(run(self._client, RETIRE, [(called, [game, length])])[0])

    def sweep(self, partitions: Iterable[int], idle_ms: int) -> int:
        asked = list(partitions)
        return self._letters.sweep(asked, idle_ms) + self._notes.sweep(asked, idle_ms)

    # -- plumbing ---------------------------------------------------------------------

    def _scored(self, names: Sequence[str], most: int) -> list[tuple[bytes, float]]:
        """The lowest members of these sorted sets, up to a score."""
        pipe = self._client.pipeline(transaction=False)
        for name in names:
            pipe.zrangebyscore(name, "-inf", most, start=0, num=1000, withscores=True)
        return [pair for part in present(pipe.execute(raise_on_error=False)) for pair in part]

    def _score(self, name: str, member: str, score: int | None) -> None:
        if score is None:
            self._client.zrem(name, member)
        else:
            self._client.zadd(name, {member: score})


def submit_call(letter: Letter, partitions: int, waiting_most: int, knock: str = "") -> Call:
    """The keys and arguments of submit.lua. Raises Malformed: the letter is too large."""
    partition = keys.partition_of(letter.game, partitions)
    dismissed = keys.dismissed(partition, letter.game, letter.seat, letter.id)
    return [keys.commands(partition), dismissed], [waiting_most, pack_letter(letter), knock]


def _append_call(verdict: Verdict, knock: str) -> Call:
    """The keys and arguments of append.lua."""
    game, partition, leaves = verdict.game, verdict.taken.partition, verdict.leaves
    called = [
        keys.commands(partition),
        keys.log(partition, game),
        keys.public(partition, game),
        keys.verdicts(partition, game, verdict.speaker),
        keys.turns(partition),
        keys.due(partition),
        keys.games(partition),
        keys.over(partition),
        *(keys.seat(partition, game, seat) for seat, _ in verdict.parts),
    ]
    told = [
        keys.REFEREES,
        verdict.taken.id,
        verdict.expected,
        verdict.tail,
        verdict.command_id,
        verdict.at,
        verdict.entry,
        verdict.public,
        "" if verdict.deadline is None else verdict.deadline,
        "=" if leaves == "as before" else "" if leaves is None else leaves,
        game,
        keys.bell(partition),
        knock,
        len(verdict.turns),
        *(pack(tuple(turn)) for turn in verdict.turns),
        *(part for _, part in verdict.parts),
    ]
    return called, told


def _taken(handed: Handed) -> Taken:
    return Taken(handed.partition, handed.id, handed.fields.get(b"c", b""), handed.deliveries)


def numbered(entries: Iterable[Any]) -> list[Numbered]:
    """Stream entries as (number, bytes): the number is the first half of the entry's id."""
    return [(int(id_.partition(b"-")[0]), fields[b"e"]) for id_, fields in entries]


def whole(game: str, entries: Iterable[Any], after: int = 0) -> list[bytes]:
    """What stands in the stream entries of a log. Raises Gap if a number is missing."""
    found = numbered(entries)
    in_row(f"log of {game}", after, found)
    return [data for _, data in found]


def read_answer(number: bytes | None, dismissed: bytes | None) -> Answer | None:
    """What became of a command, from what the engine keeps of it."""
    if number is not None:
        return Answer(int(number))
    if dismissed is not None:
        rule, why = unpack(dismissed)
        return Answer(0, rule, why)
    return None
