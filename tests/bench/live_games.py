"""Games in their midst, as many as wanted: copies of a few that were played so far; and a referee
for them in a process of its own."""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, Final

from schemas.codec import pack_envelope
from schemas.commands import CommandEnvelope
from services.bootstrap.composition import build_referee
from services.ledger import RedisLedger, keys
from services.ledger.connection import connect, init_partition_count
from services.referee.worker import Referee
from services.runtime.gc_tuning import tune_garbage_collector
from services.runtime.logging_setup import configure_logging
from services.runtime.settings import read_settings
from tests.bench.games import bots, script
from tests.bench.referee_workers import spent_since

SEATS: Final = bots(*("random",) * 4)
ALONE: Final = read_settings(leases=False)
POISON: Final = "poison"  # how the ids of envelopes begin that are to break a referee
COPIED_AT_ONCE: Final = 200
LOOKED_AT: Final = 500  # logs whose length is compared in the end
REGROW: Final = """
for k = 1, #KEYS, 2 do
  if redis.call('TYPE', KEYS[k]).ok == 'stream' then
    for _, entry in ipairs(redis.call('XRANGE', KEYS[k], '-', '+')) do
      redis.call('XADD', KEYS[k + 1], entry[1], unpack(entry[2]))
    end
  else
    redis.call('COPY', KEYS[k], KEYS[k + 1])
  end
end
"""  # COPY leaves no room in a stream's last node, so each entry after it would move the node; play does


def scripts(count: int) -> list[list[CommandEnvelope]]:
    """The envelopes of so many whole games."""
    return [script(f"midst-{number}", SEATS, f"midst-{number}") for number in range(count)]


class Live:
    """So many live games on one engine. Their envelopes are those of the game that each was copied
    from, whose seed is in its log: so each of them is accepted."""

    def __init__(self, url: str, games: int, scripts: Sequence[Sequence[CommandEnvelope]]) -> None:
        client: Any = connect(url)
        self.ledger, self._client = (
            RedisLedger(client, init_partition_count(client, keys.DEFAULT_PARTITIONS)),
            client,
        )
        self.names = [f"live-{number}" for number in range(games)]
        self._scripts = scripts
        self._sent = [len(scripts[number % len(scripts)]) // 2 for number in range(games)]
        self._next = self.poisoned = 0
        midst = self._midst()
        before = self.engine_bytes()
        self._copy(midst)
        self.bytes_each = (self.engine_bytes() - before) / games

    def engine_bytes(self) -> int:
        return int(self._client.info("memory")["used_memory"])

    def engine_cpu_s(self) -> float:
        info = self._client.info("cpu")
        return float(info["used_cpu_user"]) + float(info["used_cpu_sys"])

    def put(self, envelopes: int, poison: int = 0) -> None:
        """The next envelope of each of the next so many games; poison to the first of them besides."""
        pipe = self._client.pipeline(transaction=False)
        for place in range(envelopes):
            envelope = self._letter(self._next)
            self._next = (self._next + 1) % len(self.names)
            stream = keys.commands(self.ledger.partition_of(envelope.game))
            if place < poison:
                pipe.xadd(stream, {"c": pack_envelope(replace(envelope, id=f"{POISON}-{self.poisoned}"))})
                self.poisoned += 1
            pipe.xadd(stream, {"c": pack_envelope(envelope)})
        pipe.execute()

    def errors(self) -> int:
        """Letters that are left, dead\0envelopes that aren't poison, and games (some are looked at)
        that didn't go on as they should."""
        pipe = self._client.pipeline(transaction=False)
        for stream in (keys.commands, keys.dead_letters):
            for partition in range(self.ledger.partitions):
                pipe.xlen(stream(partition))
        lengths = pipe.execute()
        left, dead = sum(lengths[: self.ledger.partitions]), sum(lengths[self.ledger.partitions :])
        some = slice(None, None, -(-len(self.names) // LOOKED_AT))
        for name in self.names[some]:
            pipe.xlen(keys.log(self.ledger.partition_of(name), name))
        wrong = map(int.__ne__, pipe.execute(), self._sent[some])
        return int(left + abs(dead - self.poisoned) + sum(wrong))

    def _letter(self, number: int) -> CommandEnvelope:
        envelopes = self._scripts[number % len(self._scripts)]
        self._sent[number] += 1
        return replace(envelopes[self._sent[number] - 1], game=self.names[number])

    def _midst(self) -> list[dict[str, str]]:
        """Play the games that are copied, to their midst; the keys of each by their last words."""
        referee, _ = build_referee(self.ledger, ALONE)
        for envelopes in self._scripts:
            for envelope in envelopes[: len(envelopes) // 2]:
                self.ledger.submit(envelope)
        while referee.step(100):
            pass
        return [self._keys(envelopes[0].game) for envelopes in self._scripts]

    def _keys(self, game: str) -> dict[str, str]:
        start = self._start(game)
        found = self._client.scan_iter(f"*:g:{game}:*", 10_000)
        return {key.decode().removeprefix(start): key.decode() for key in found}

    def _start(self, game: str) -> str:
        return keys.log(self.ledger.partition_of(game), game).removesuffix("log")

    def _copy(self, midst: Sequence[dict[str, str]]) -> None:
        """Grow each game as play does, entry by entry; the engine writes it to disk afterwards."""
        self._client.config_set("appendonly", "no")
        regrow = self._client.register_script(REGROW)
        for first in range(0, len(self.names), COPIED_AT_ONCE):
            pipe = self._client.pipeline(transaction=False)
            for number, name in enumerate(self.names[first : first + COPIED_AT_ONCE], first):
                start = self._start(name)
                pairs = midst[number % len(midst)].items()
                regrow(keys=[each for end, key in pairs for each in (key, start + end)], client=pipe)
                pipe.zadd(keys.games(self.ledger.partition_of(name)), {name: number})
            pipe.execute()
        self._client.config_set("appendonly", "yes")
        while self._rewriting():  # it would share its pages with what is measured
            sleep(0.1)

    def _rewriting(self) -> bool:
        info = self._client.info("persistence")
        return bool(info["aof_rewrite_in_progress"] or info["aof_rewrite_scheduled"])


def run_one(url: str, pipe: Connection) -> None:
    """A referee: given names, it reads their games; given a number, it answers so many envelopes. It
    replies what that took, and how many bytes its process had at most."""
    configure_logging("info", "json", Path(os.devnull).open("w"))  # noqa: SIM115 - for the whole process
    client = connect(url)
    referee, _ = build_referee(RedisLedger(client, init_partition_count(client)), ALONE)
    referee.step(1)  # makes the consumer groups
    tune_garbage_collector()
    pipe.send("ready")
    while asked := pipe.recv():
        start, before = perf_counter(), os.times()
        if isinstance(asked, int):
            count = asked
            answer(referee, count)
        else:
            count = len(asked)
            referee.processor.game_cache.prefetch(asked)
        pipe.send((spent_since(count, start, before), resident_bytes()))


def answer(referee: Referee, envelopes: int) -> None:
    """Step until so many envelopes are answered."""
    while envelopes > 0:
        envelopes -= (taken := referee.step(1000))
        assert taken, "letters got lost"


def resident_bytes() -> int:
    """The most that this process had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
