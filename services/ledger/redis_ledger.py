"""The ledger on Redis or Valkey: streams for logs, views, commands and turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import redis
from redis.exceptions import AskError, ResponseError, TryAgainError

from schemas.codec import pack, unpack
from schemas.commands import Letter
from schemas.contract import Malformed, Shape
from schemas.entries import ViewEntry
from schemas.field_types import Seat
from services.ledger import keys
from services.ledger.archive_index import Archived
from services.ledger.cluster_pipeline import present
from services.ledger.consumer_groups import Group, Handed, monotonic_ms
from services.ledger.dead_letters import DEAD_MOST, DeadLetters, fields_of
from services.ledger.dispute_store import Disputes
from services.ledger.log_reader import read_histories
from services.ledger.membership import Roster
from services.ledger.ports import (
    NOTES_MOST,
    WAITING_MOST,
    Answer,
    Full,
    History,
    Outcome,
    Taken,
    TakenTurn,
    Turn,
    Verdict,
)
from services.ledger.replies import headed, numbered, of_game, read_answer, whole
from services.ledger.script_calls import append_call, retire_call, submit_call
from services.ledger.scripts import APPEND, DISMISS, RETIRE, SUBMIT, attempt, run
from services.ledger.view_merge import joined
from services.ledger.wakeups import channel
from services.runtime.logging_setup import get_log

log = get_log("bots")
DISMISSED_S: Final = 60
POISONED: Final = "it broke the referee and was put aside; the game goes on, and an operator sees it"
NOT_KEPT: Final = "it broke the referee, as too many did before it: it isn't kept, so send it again later"
NOTE: Final[Shape[Turn]] = Shape(Turn, "note")
UNKNOWN: Final = Outcome("unknown", 0)
OUTCOMES: Final = {1: "appended", 0: "answered", -1: "conflict", -2: "damaged"}


class RedisLedger:
    """See `port.Ledger`. One client, one thread at a time. `clock` counts milliseconds and never
    jumps."""

    def __init__(
        self,
        client: redis.Redis,
        partitions: int,
        waiting_most: int = WAITING_MOST,
        clock: Callable[[], int] = monotonic_ms,
    ) -> None:
        self._client: Any = client  # redis-py types replies for both of its clients at once
        self.partitions, self.waiting_most = partitions, waiting_most
        self._all = range(partitions)
        self._letters = Group(client, keys.REFEREES, keys.commands, partitions, clock)
        self._notes = Group(client, keys.BOTS, keys.turns, partitions, clock)
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

    def archived(self) -> Archived:
        """Which games are in the archive, on the same connection."""
        return Archived(self._client, self.partitions)

    def disputes(self) -> Disputes:
        """Disputed moves, on the same connection."""
        return Disputes(self._client, self.partitions)

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

    def suspects(self, consumer: str, partitions: Sequence[int], idle_ms: int) -> Iterator[Taken]:
        return map(_taken, self._letters.suspects(consumer, partitions, idle_ms))

    def append(self, verdicts: Sequence[Verdict]) -> list[Outcome]:
        replies = attempt(
            self._client, APPEND, [append_call(each, self._knock[keys.BOTS]) for each in verdicts]
        )
        unable = [place for place, reply in enumerate(replies) if isinstance(reply, ResponseError)]
        later = [place for place in unable if not _met_damage(replies[place])]
        hands = [verdicts[place].taken for place in later]
        self._letters.put_off((hand.partition, hand.id, hand.deliveries) for hand in hands if hand.id)
        for place in unable:
            if place not in later:
                replies[place] = (-2, max(0, verdicts[place].expected))
            elif isinstance(replies[place], TryAgainError | AskError):  # moving: other games don't wait
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
        partition, reasons = taken.partition, (b"", b"")
        called, told = [keys.commands(partition)] * 2, ["", ""]
        if letter is not None:
            called[1] = keys.dismissed(partition, letter.game, letter.seat, letter.id)
            reasons = pack((rule, why)), pack((rule, NOT_KEPT))
            told = [keys.bell(partition), letter.game]
        called.append(keys.dead(partition))
        aside = [reasons[0], DISMISSED_S, *told, DEAD_MOST, reasons[1], *dead]
        run(self._client, DISMISS, [(called, [keys.REFEREES, taken.id, *aside])])

    def answer(self, game: str, speaker: Seat | None, command_id: str) -> Answer | None:
        partition = self.partition_of(game)
        pipe = self._client.pipeline(transaction=False)
        pipe.hget(keys.verdicts(partition, game, speaker), command_id)
        pipe.get(keys.dismissed(partition, game, speaker, command_id))
        return read_answer(*(of_game(game, reply) for reply in pipe.execute(raise_on_error=False)))

    # -- logs and views ---------------------------------------------------------------

    def history(self, game: str, after: int = 0) -> list[bytes]:
        pipe = self._client.pipeline(transaction=False)
        pipe.xrange(keys.log(self.partition_of(game), game), f"{after + 1}-0")
        [reply] = pipe.execute(raise_on_error=False)
        return whole(game, of_game(game, reply), after)

    def whole(self, game: str) -> History:
        [found] = read_histories(self._client, self.partitions, [game])
        if isinstance(found, Exception):
            raise found
        return found

    def histories(self, games: Sequence[str]) -> dict[str, History]:
        found = zip(games, read_histories(self._client, self.partitions, games), strict=True)
        return {game: history for game, history in found if isinstance(history, History)}

    def head(self, game: str) -> tuple[int, bytes]:
        last = self._client.xrevrange(keys.public(self.partition_of(game), game), count=1)
        return next(((number, head) for number, _, head in headed(last)), (0, b""))

    def seen(self, game: str, viewer: Seat | None, after: int = 0, most: int = 1000) -> list[ViewEntry]:
        partition, first, last = self.partition_of(game), f"{after + 1}-0", f"{after + most}-0"
        pipe = self._client.pipeline(transaction=False)
        pipe.xrange(keys.public(partition, game), first, last)
        if viewer is not None:  # after the public one, so that no part is older than its entry
            pipe.xrange(keys.seat(partition, game, viewer), first, last)
        public, *own = (of_game(game, reply) for reply in pipe.execute(raise_on_error=False))
        return joined(after, headed(public), numbered(own[0]) if own else ())

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
        return list(self._turns(self._notes.read(consumer, self._all, count, block_ms)))

    def reclaim_turns(self, consumer: str, idle_ms: int) -> list[TakenTurn]:
        return list(self._turns(self._notes.reclaim(consumer, self._all, idle_ms)))

    def suspect_turns(self, consumer: str, idle_ms: int) -> Iterator[TakenTurn]:
        return self._turns(self._notes.suspects(consumer, self._all, idle_ms))

    def _turns(self, found: Iterable[Handed]) -> Iterator[TakenTurn]:
        for partition, id_, fields, deliveries in found:
            try:
                turn = NOTE.read(unpack(fields.get(b"t", b"")))
            except (Malformed, TypeError, ValueError) as error:
                log.error("note can't be read", partition=partition, id=id_, error=str(error))
                self._notes.acknowledge([(partition, id_)])
            else:
                yield TakenTurn(partition, id_, turn, deliveries)

    def call(self, turns: Sequence[Turn]) -> None:
        for turn in turns:
            stream = keys.turns(self.partition_of(turn.game))
            if self._client.xlen(stream) < NOTES_MOST:
                self._client.xadd(stream, {"t": pack(tuple(turn))})

    def finish_turns(self, turns: Sequence[TakenTurn]) -> None:
        self._notes.acknowledge((note.partition, note.id) for note in turns)

    def put_off_turns(self, turns: Sequence[TakenTurn]) -> None:
        self._notes.put_off((note.partition, note.id, note.deliveries) for note in turns)

    def due(self, now: int, partitions: Iterable[int]) -> list[tuple[str, int]]:
        return self._scored(keys.due, now, partitions)

    def is_due(self, game: str) -> bool:
        return self._client.zscore(keys.due(self.partition_of(game)), game) is not None

    def set_due(self, game: str, deadline: int | None) -> None:
        self._score(keys.due(self.partition_of(game)), game, deadline)

    def leaving(self, now: int, partitions: Iterable[int]) -> list[str]:
        return [game for game, _ in self._scored(keys.over, now, partitions)]

    def stay(self, game: str, until: int | None) -> None:
        self._score(keys.over(self.partition_of(game)), game, until)

    def retire(self, game: str, seats: int, length: int) -> bool:
        call = retire_call(game, self.partition_of(game), seats, length)
        return bool(run(self._client, RETIRE, [call])[0])

    def sweep(self, partitions: Iterable[int], idle_ms: int) -> int:
        asked = list(partitions)
        return self._letters.sweep(asked, idle_ms) + self._notes.sweep(asked, idle_ms)

    # -- plumbing ---------------------------------------------------------------------

    def _scored(
        self, name_of: Callable[[int], str], most: int, partitions: Iterable[int]
    ) -> list[tuple[str, int]]:
        """The games with the lowest scores in these partitions' sorted sets, up to a score."""
        pipe, names = self._client.pipeline(transaction=False), [name_of(p) for p in partitions]
        for name in names:
            pipe.zrangebyscore(name, "-inf", most, start=0, num=1000, withscores=True)
        found = []
        for name, pairs in zip(names, present(pipe.execute(raise_on_error=False)), strict=True):
            for member, score in pairs:
                try:
                    found.append((member.decode(), int(max(score, 0))))
                except ValueError:
                    log.error("no game has such a name", key=name, name=member)
                    self._client.zrem(name, member)
        return found

    def _score(self, name: str, member: str, score: int | None) -> None:
        if score is None:
            self._client.zrem(name, member)
        else:
            self._client.zadd(name, {member: score})


def _met_damage(error: ResponseError) -> bool:
    """Whether the script itself met something that isn't as we write it. Any other error is the
    engine's: it can't write now, or here, and did nothing."""
    said = str(error)
    if type(error) is not ResponseError or said.startswith(("MISCONF", "NOREPLICAS", "BUSY")):
        return False
    return "WRONGTYPE" in said or "script" in said


def _taken(handed: Handed) -> Taken:
    return Taken(handed.partition, handed.id, handed.fields.get(b"c", b""), handed.deliveries)
