"""Games in play, as many as wanted: copies of a few that were played through the referee, at several moments; and a
referee for them in a process of its own."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any, Final, NamedTuple

from schemas.commands import CommandEnvelope
from schemas.stored.codec import pack_envelope
from services.bootstrap.composition import build_referee
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, init_partition_count
from services.referee.game_cache import GameCache
from services.referee.worker import Referee
from services.runtime.interpreter_tuning import tune_garbage_collector
from services.runtime.logging_setup import configure_logging
from services.runtime.settings import read_settings
from tests.bench.games import bots, script
from tests.bench.referee_workers import spent_since

SEATS: Final = bots(*("random",) * 4)
POISON: Final = "poison"  # prefix of the ids of commands that break a referee
COPIED_AT_ONCE: Final = 200
CUTS: Final = range(40, 140, 5)  # entries of a log where a game is copied
FOLDED: Final = 1_000  # games that a referee folds from their logs; the others have the same logs
FULL: Final = "full nodes of "  # prefix of keys
CHECKED: Final = 500  # logs whose length is compared in the end
FULL_NODES: Final = """
local function add(key, entries, first, last)
  for n = first, last do
    redis.call('XADD', key, entries[n][1], unpack(entries[n][2]))
  end
end
local entries, nodes, full = redis.call('XRANGE', KEYS[1], '-', '+'), 1, 0
for n = 1, #entries do
  add(KEYS[2], entries, n, n)
  local now = redis.call('XINFO', 'STREAM', KEYS[2])[4]
  if now > nodes then nodes, full = now, n - 1 end
end
redis.call('DEL', KEYS[2])
add(KEYS[2], entries, 1, full)
"""  # a stream's entries in its full nodes; the fourth value of XINFO is the number of nodes
REGROW: Final = """
for k = 1, #KEYS, 3 do
  local whole, nodes, new = KEYS[k], KEYS[k + 1], KEYS[k + 2]
  if redis.call('TYPE', whole).ok ~= 'stream' then
    redis.call('COPY', whole, new)
  else
    local from = '-'
    if redis.call('COPY', nodes, new) == 1 then
      from = '(' .. redis.call('XREVRANGE', new, '+', '-', 'COUNT', 1)[1][1]
    end
    for _, entry in ipairs(redis.call('XRANGE', whole, from, '+')) do
      redis.call('XADD', new, entry[1], unpack(entry[2]))
    end
  end
end
"""  # COPY leaves no room in a stream's last node, so each later entry would reallocate the node; in play there is room


def scripts(count: int) -> list[list[CommandEnvelope]]:
    """The commands of so many whole games."""
    return [script(f"midst-{number}", SEATS, f"midst-{number}") for number in range(count)]


def cut_of(number: int, scripts: int) -> int:
    """How many entries the game of this number has at first. Games of one script are cut elsewhere each, since
    the decks of all run out about the same time, and then an entry costs ten times as much."""
    return CUTS[(number // scripts + number % scripts * 3) % len(CUTS)]


class Live:
    """So many live games on one engine. Each gets the commands of the game that it was copied from,
    whose seed is in its log, so each command is accepted. The copies of a script follow each other by its cuts: the
    first `originals` games differ, and those after them have the same logs in turn."""

    def __init__(
        self,
        url: str,
        games: int,
        scripts: Sequence[Sequence[CommandEnvelope]],
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        client: Any = connect(url)
        self.ledger, self._client = (
            RedisLedger(client, init_partition_count(client, keys.DEFAULT_PARTITIONS)),
            client,
        )
        self.names = [f"live-{number}" for number in range(games)]
        self._scripts = scripts
        self._sent = [cut_of(number, len(scripts)) for number in range(games)]
        self._next = self.poisoned = 0
        self.originals = len(scripts) * len(CUTS)
        templates = self._play_templates()
        before = self.engine_bytes()
        self._copy(templates, report)
        self.bytes_each = (self.engine_bytes() - before) / games
        self._client.delete(*(key for keys_of in templates for key in keys_of.values()))

    def engine_bytes(self) -> int:
        return int(self._client.info("memory")["used_memory"])

    def engine_cpu_s(self) -> float:
        info = self._client.info("cpu")
        return float(info["used_cpu_user"]) + float(info["used_cpu_sys"])

    def put(self, envelopes: int, poison: int = 0) -> None:
        """Add the next command of each of the next so many games; and poison to the first of these."""
        pipe = self._client.pipeline(transaction=False)
        for n in range(envelopes):
            envelope = self._next_envelope(self._next)
            self._next = (self._next + 1) % len(self.names)
            stream = keys.commands(self.ledger.partition_of(envelope.game))
            if n < poison:
                pipe.xadd(stream, {"c": pack_envelope(replace(envelope, id=f"{POISON}-{self.poisoned}"))})
                self.poisoned += 1
            pipe.xadd(stream, {"c": pack_envelope(envelope)})
        pipe.execute()

    def errors(self) -> int:
        """How many commands are left, how many dead letters aren't poison, and how many games (of a
        sample) have another length than expected."""
        pipe = self._client.pipeline(transaction=False)
        for stream in (keys.commands, keys.dead_letters):
            for partition in range(self.ledger.partitions):
                pipe.xlen(stream(partition))
        lengths = pipe.execute()
        left, dead = sum(lengths[: self.ledger.partitions]), sum(lengths[self.ledger.partitions :])
        some = slice(None, None, -(-len(self.names) // CHECKED))
        for name in self.names[some]:
            pipe.xlen(keys.log(self.ledger.partition_of(name), name))
        wrong = map(int.__ne__, pipe.execute(), self._sent[some])
        return int(left + abs(dead - self.poisoned) + sum(wrong))

    def _next_envelope(self, number: int) -> CommandEnvelope:
        envelopes = self._scripts[number % len(self._scripts)]
        self._sent[number] += 1
        return replace(envelopes[self._sent[number] - 1], game=self.names[number])

    def _play_templates(self) -> list[dict[str, str]]:
        """Play the games to be copied from cut to cut, and copy them there. Returns the keys of these copies by their
        last part, in the order of the games that are copied from them."""
        referee, _ = build_referee(self.ledger, read_settings(), all_partitions=True)
        copies: dict[tuple[int, int], dict[str, str]] = {}
        for before, cut in pairwise((0, *CUTS)):
            for envelopes in self._scripts:
                for envelope in envelopes[before:cut]:
                    self.ledger.submit(envelope)
            while referee.step(100):
                pass
            for number, envelopes in enumerate(self._scripts):
                found = self._keys(envelopes[0].game)
                copies[number, cut] = {end: f"{cut} of {key}" for end, key in found.items()}
                for key in found.values():
                    self._client.copy(key, f"{cut} of {key}")
        count = len(self._scripts)
        return [copies[number % count, cut_of(number, count)] for number in range(self.originals)]

    def _keys(self, game: str) -> dict[str, str]:
        start = self._start(game)
        found = self._client.scan_iter(f"{start}*", 10_000)
        return {key.decode().removeprefix(start): key.decode() for key in found}

    def _start(self, game: str) -> str:
        return keys.log(self.ledger.partition_of(game), game).removesuffix("log")

    def _copy(self, templates: Sequence[dict[str, str]], report: Callable[[str], None]) -> None:
        """Copy each game: full nodes of its streams whole, the others entry by entry, as play appends.

        All of it goes to the engine's AOF, and no rewrite forks: after one, the first write to each page of
        memory costs a page fault, which every command measured here would pay, and in play one of dozens."""
        for key in (key for keys_of in templates for key in keys_of.values()):
            if self._client.type(key) == b"stream":
                self._client.eval(FULL_NODES, 2, key, f"{FULL}{key}")
        regrow = self._client.register_script(REGROW)
        for first in range(0, len(self.names), COPIED_AT_ONCE):
            pipe = self._client.pipeline(transaction=False)
            for number, name in enumerate(self.names[first : first + COPIED_AT_ONCE], first):
                start = self._start(name)
                pairs = templates[number % len(templates)].items()
                copied = [each for end, key in pairs for each in (key, f"{FULL}{key}", start + end)]
                regrow(keys=copied, client=pipe)
                pipe.zadd(keys.games(self.ledger.partition_of(name)), {name: number})
            pipe.execute()
            report(f"{min(len(self.names), first + COPIED_AT_ONCE):,} of {len(self.names):,} games copied")
        self._client.delete(*(f"{FULL}{key}" for keys_of in templates for key in keys_of.values()))


def run_one(url: str, pipe: Connection) -> None:
    """A referee: for names, it loads their games, and replies what the folds took; for a number, it processes so many
    commands, and replies what that took; beside it the most bytes that its process had. For copies of games it
    puts those into its cache too, and replies how many are folded, and how many packed."""
    configure_logging("info", "json", Path(os.devnull).open("w"))  # noqa: SIM115 - for the whole process
    client = connect(url)
    referee, _ = build_referee(
        RedisLedger(client, init_partition_count(client)), read_settings(), all_partitions=True
    )
    referee.step(1)  # makes the consumer groups
    tune_garbage_collector()
    pipe.send("ready")
    while request := pipe.recv():
        start, before = perf_counter(), os.times()
        if isinstance(request, Copies):
            pipe.send(cache_copies(referee.processor.game_cache, request))
            continue
        if isinstance(request, int):
            count = request
            process_commands(referee, count)
        else:
            count = len(request)
            referee.processor.game_cache.prefetch(request)
        pipe.send((spent_since(count, start, before), resident_bytes()))


class Copies(NamedTuple):
    """Games whose logs are copies of the first games' in turn, of which there are so many."""

    games: Sequence[str]
    originals: Sequence[str]


def cache_copies(cache: GameCache, copies: Copies) -> tuple[int, int]:
    """Cache these games as if their logs were folded, which would take minutes: each is unpacked from the bytes
    of a game with the same log, and is an object, or bytes, of its own."""
    packed = [cache.get(game).pack() for game in copies.originals]
    for number, game in enumerate(copies.games):
        cache._insert(game, packed[number % len(packed)].unpack())
    return len(cache._unpacked.games), len(cache._packed.games)


def process_commands(referee: Referee, envelopes: int) -> None:
    """Step until so many commands are processed."""
    while envelopes > 0:
        envelopes -= (taken := referee.step(1000))
        assert taken, "commands got lost"


def resident_bytes() -> int:
    """The most that this process had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
