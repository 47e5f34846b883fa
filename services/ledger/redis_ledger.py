"""The ledger on Redis or Valkey: streams for logs, views, commands and turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha1
from importlib import resources
from typing import Any, Final

import redis
from redis.exceptions import NoScriptError, ResponseError

from schemas import keys
from schemas.codec import pack, pack_letter, unpack
from schemas.commands import Letter
from schemas.contract import Malformed, Shape
from schemas.views import ViewEntry
from schemas.words import Seat
from services.ledger.joining import Numbered, in_row, joined
from services.ledger.port import Answer, Outcome, Taken, TakenTurn, Turn, Verdict
from services.logs import get_log

log = get_log("bots")
DISMISSED_S: Final = 60
NOTE: Final[Shape[Turn]] = Shape(Turn, "note")
OUTCOMES: Final = {1: "appended", 0: "answered", -1: "conflict", -2: "damaged"}


class Script:
    """A Lua script by its hash; the engine may forget it at any time (NOSCRIPT)."""

    def __init__(self, name: str) -> None:
        self.text = resources.files(__package__).joinpath(f"{name}.lua").read_bytes()
        self.sha = sha1(self.text, usedforsecurity=False).hexdigest()


APPEND: Final = Script("append")
DISMISS: Final = Script("dismiss")


class RedisLedger:
    """See `port.Ledger`. One client, one thread at a time."""

    def __init__(self, client: redis.Redis, partitions: int) -> None:
        self._client: Any = client  # redis-py types replies for both of its clients at once
        self.partitions = partitions
        self._all = range(partitions)
        self._commands = dict.fromkeys(keys.all_commands(self._all), ">")
        self._turns = {keys.turns(p): ">" for p in self._all}
        self._partition_of = {name: p for p, name in enumerate(self._commands)}
        self._partition_of |= {name: p for p, name in enumerate(self._turns)}
        self._groups_made = False

    def close(self) -> None:
        """Let go of the engine."""
        self._client.close()

    # -- letters ----------------------------------------------------------------------

    def submit(self, letter: Letter) -> None:
        partition = self._partition(letter.game)
        pipe = self._client.pipeline(transaction=False)
        # Why it was dismissed before, if it was, is no answer to this sending.
        pipe.delete(keys.dismissed(partition, letter.game, letter.seat, letter.id))
        pipe.xadd(keys.commands(partition), {"c": pack_letter(letter)})
        pipe.execute()

    def take(self, consumer: str, count: int, block_ms: int) -> list[Taken]:
        read = self._read_group(keys.REFEREES, consumer, self._commands, count, block_ms)
        return [Taken(p, id_, fields.get(b"c", b"")) for p, id_, fields in read]

    def reclaim(self, consumer: str, idle_ms: int) -> list[Taken]:
        found = self._claim(keys.REFEREES, consumer, self._commands, idle_ms)
        return [Taken(p, id_, fields.get(b"c", b"")) for p, id_, fields in found]

    def append(self, verdicts: Sequence[Verdict]) -> list[Outcome]:
        before: dict[str, bytes] = {}  # of each game, the entry that the call before writes
        calls = []
        for verdict in verdicts:
            calls.append(self._append_call(verdict, before.get(verdict.game, b"")))
            if verdict.expected >= 0:
                before[verdict.game] = verdict.entry
        replies = self._run(APPEND, calls)
        return [Outcome(OUTCOMES[kind], number) for kind, number in replies]

    def dismiss(self, taken: Taken, letter: Letter, rule: str, why: str) -> None:
        reason = keys.dismissed(taken.partition, letter.game, letter.seat, letter.id)
        called = [keys.commands(taken.partition), reason]
        told = ["told", pack((rule, why)), DISMISSED_S, keys.bell(taken.partition), letter.game]
        self._run(DISMISS, [(called, [keys.REFEREES, taken.id, *told])])

    def bury(self, taken: Taken, reason: str) -> None:
        called = [keys.commands(taken.partition), keys.dead(taken.partition)]
        self._run(DISMISS, [(called, [keys.REFEREES, taken.id, "dead", reason, taken.data, "", ""])])

    def answer(self, game: str, speaker: Seat | None, command_id: str) -> Answer | None:
        partition = self._partition(game)
        pipe = self._client.pipeline(transaction=False)
        pipe.hget(keys.verdicts(partition, game, speaker), command_id)
        pipe.get(keys.dismissed(partition, game, speaker, command_id))
        return read_answer(*pipe.execute())

    # -- logs and views ---------------------------------------------------------------

    def history(self, game: str, after: int = 0) -> list[bytes]:
        found = numbered(self._client.xrange(keys.log(self._partition(game), game), f"{after + 1}-0"))
        in_row(f"log of {game}", after, found)
        return [data for _, data in found]

    def seen(self, game: str, viewer: Seat | None, after: int = 0, most: int = 1000) -> list[ViewEntry]:
        partition, first, last = self._partition(game), f"{after + 1}-0", f"{after + most}-0"
        pipe = self._client.pipeline(transaction=False)
        pipe.xrange(keys.public(partition, game), first, last)
        if viewer is not None:  # after the public one, so that no part is older than its entry
            pipe.xrange(keys.seat(partition, game, viewer), first, last)
        public, *own = pipe.execute()
        return joined(after, numbered(public), numbered(own[0]) if own else ())

    def follow(self, game: str, viewer: Seat | None, after: int, block_ms: int) -> list[ViewEntry]:
        stream = keys.public(self._partition(game), game)
        block = block_ms if block_ms > 0 else None  # 0 would block for ever
        more = self._client.xread({stream: f"{after}-0"}, count=1, block=block)
        return self.seen(game, viewer, after) if more else []

    def games(self, most: int = 1000) -> list[str]:
        pipe = self._client.pipeline(transaction=False)
        for partition in self._all:
            pipe.zrevrange(keys.games(partition), 0, most - 1, withscores=True)
        found = [pair for part in pipe.execute() for pair in part]
        return [game.decode() for game, _ in sorted(found, key=lambda pair: -pair[1])[:most]]

    # -- turns and deadlines ----------------------------------------------------------

    def take_turns(self, consumer: str, count: int, block_ms: int) -> list[TakenTurn]:
        return self._notes(self._read_group(keys.BOTS, consumer, self._turns, count, block_ms))

    def reclaim_turns(self, consumer: str, idle_ms: int) -> list[TakenTurn]:
        return self._notes(self._claim(keys.BOTS, consumer, self._turns, idle_ms))

    def _notes(self, found: Iterable[tuple[int, str, Any]]) -> list[TakenTurn]:
        notes = []
        for partition, id_, fields in found:
            try:
                turn = NOTE.read(unpack(fields.get(b"t", b"")))
            except (Malformed, TypeError, ValueError) as error:
                log.error("note can't be read", partition=partition, id=id_, error=str(error))
                self.finish_turns([TakenTurn(partition, id_, Turn("", 0, 0, ""))])
            else:
                notes.append(TakenTurn(partition, id_, turn))
        return notes

    def finish_turns(self, turns: Sequence[TakenTurn]) -> None:
        pipe = self._client.pipeline(transaction=False)
        for partition, id_, _ in turns:
            pipe.xack(keys.turns(partition), keys.BOTS, id_)
            pipe.xdel(keys.turns(partition), id_)
        pipe.execute()

    def due(self, now: int) -> list[tuple[str, int]]:
        pipe = self._client.pipeline(transaction=False)
        for partition in self._all:
            pipe.zrangebyscore(keys.due(partition), 0, now, start=0, num=1000, withscores=True)
        return [(game.decode(), int(at)) for part in pipe.execute() for game, at in part]

    def set_due(self, game: str, deadline: int | None) -> None:
        key = keys.due(self._partition(game))
        if deadline is None:
            self._client.zrem(key, game)
        else:
            self._client.zadd(key, {game: deadline})

    # -- plumbing ---------------------------------------------------------------------

    def _partition(self, game: str) -> int:
        return keys.partition_of(game, self.partitions)

    def _append_call(self, verdict: Verdict, before: bytes) -> tuple[list[str], list[Any]]:
        """The keys and arguments of append.lua for one verdict, which was decided on top of
        the entry `before`, if that is one of the same batch."""
        game, partition = verdict.game, verdict.taken.partition
        called = [
            keys.commands(partition),
            keys.log(partition, game),
            keys.public(partition, game),
            keys.verdicts(partition, game, verdict.speaker),
            keys.turns(partition),
            keys.due(partition),
            keys.games(partition),
            *(keys.seat(partition, game, seat) for seat, _ in verdict.parts),
        ]
        told = [
            keys.REFEREES,
            verdict.taken.id,
            verdict.expected,
            verdict.command_id,
            verdict.at,
            verdict.entry,
            verdict.public,
            "" if verdict.deadline is None else verdict.deadline,
            game,
            keys.bell(partition),
            before,
            len(verdict.turns),
            *(pack(tuple(turn)) for turn in verdict.turns),
            *(part for _, part in verdict.parts),
        ]
        return called, told

    def _run(self, script: Script, calls: Sequence[tuple[list[str], list[Any]]]) -> list[Any]:
        """Run a script once for each call, in order, in one round trip."""
        if not calls:
            return []
        pipe = self._client.pipeline(transaction=False)
        for called, told in calls:
            pipe.execute_command("EVALSHA", script.sha, len(called), *called, *told)
        replies = pipe.execute(raise_on_error=False)
        unknown = [i for i, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
        if unknown:  # the engine forgot the script: teach it, and go on where it stopped
            self._client.script_load(script.text)
            again = self._run(script, [calls[i] for i in unknown])
            for i, reply in zip(unknown, again, strict=True):
                replies[i] = reply
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return list(replies)

    def _read_group(
        self, group: str, consumer: str, streams: dict[str, str], count: int, block_ms: int
    ) -> list[tuple[int, str, Any]]:
        block = block_ms if block_ms > 0 else None  # 0 would block for ever

        def read() -> Any:
            return self._client.xreadgroup(group, consumer, streams, count=count, block=block)

        return [
            (self._partition_of[stream.decode()], id_.decode(), fields)
            for stream, entries in self._in_group(read) or ()
            for id_, fields in entries
        ]

    def _claim(
        self, group: str, consumer: str, streams: Iterable[str], idle_ms: int
    ) -> list[tuple[int, str, Any]]:
        names = list(streams)

        def claim() -> Any:
            pipe = self._client.pipeline(transaction=False)
            for name in names:
                pipe.xautoclaim(name, group, consumer, idle_ms, "0-0", count=100)
            return pipe.execute()

        return [
            (self._partition_of[name], id_.decode(), fields)
            for name, reply in zip(names, self._in_group(claim), strict=True)
            for id_, fields in reply[1]
            if fields  # an entry that was deleted while pending has none
        ]

    def _in_group(self, ask: Callable[[], Any]) -> Any:
        """Ask as a member of a group; make the groups first where the engine has none, be it
        new, flushed, or a replica that took over too early."""
        if not self._groups_made:
            self._make_groups()
        try:
            return ask()
        except ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            self._make_groups()
            return ask()

    def _make_groups(self) -> None:
        pipe = self._client.pipeline(transaction=False)
        for group, streams in ((keys.REFEREES, self._commands), (keys.BOTS, self._turns)):
            for name in streams:
                pipe.xgroup_create(name, group, "0", mkstream=True)
        for reply in pipe.execute(raise_on_error=False):
            if isinstance(reply, Exception) and not _group_exists(reply):
                raise reply
        self._groups_made = True


def numbered(entries: Iterable[Any]) -> list[Numbered]:
    """Stream entries as (number, bytes): the number is the first half of the entry's id."""
    return [(int(id_.partition(b"-")[0]), fields[b"e"]) for id_, fields in entries]


def read_answer(number: bytes | None, dismissed: bytes | None) -> Answer | None:
    """What became of a command, from what the engine keeps of it."""
    if number is not None:
        return Answer(int(number))
    if dismissed is not None:
        rule, why = unpack(dismissed)
        return Answer(0, rule, why)
    return None


def _group_exists(error: Exception) -> bool:
    return isinstance(error, ResponseError) and "BUSYGROUP" in str(error)
