"""The whole server in one thread: every service, every client, one clock, one seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, Final, TextIO

from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import init_partition_count
from tests.simulator.agenda import NEVER, Actor, Agenda, Clock
from tests.simulator.complaints import complaints, left_of_games, left_over
from tests.simulator.engine import Engine
from tests.simulator.engine_client import AsyncClient, SyncClient
from tests.simulator.faults import SAFE_MS, Incidents, Lag
from tests.simulator.follower import Follower
from tests.simulator.gateways import Server
from tests.simulator.network import Call, Wire
from tests.simulator.pending_work import WaitingWork
from tests.simulator.plan import Plan, draw
from tests.simulator.players import Host, Person, Player, Steps, watch
from tests.simulator.poison import poison
from tests.simulator.recorder import Recorder
from tests.simulator.stall_detector import Stalls
from tests.simulator.trace import Trace
from tests.simulator.workers import Worker, start_bots, start_referee

MAX_TIME_MS: Final = 3_600_000.0
CALM_MS: Final = 90_000.0
EVICTION_MS: Final = 30_000.0
TWO_MONTHS_MS: Final = 61 * 24 * 3_600_000  # longer than games are kept, wherever the clock jumped to
FAIR_MS: Final = 500.0  # then every service has started, and the game clock runs
NOTICE_MS: Final = 10_000.0  # after a loss: until every viewer of lost entries has noticed
MAX_HELD: Final = 2
SCRIPTED: Final = ("EVALSHA", "EVAL")


class World:
    """Make one from a seed and `run` it; then `complaints` has every broken promise."""

    def __init__(self, seed: int, out: TextIO | None = None, plan: Plan | None = None) -> None:
        self.plan = plan or draw(seed)
        self.clock, self.trace = Clock(), Trace(out)
        self.agenda = Agenda(self.clock, seed)
        self.engine = Engine(self.clock.engine_ms)
        self.faults = dict(self.plan.faults)
        self.slow = 1.0
        self.complaints: list[str] = []
        self.recorder = Recorder(self)
        self._held = 0
        self._lost_notifications = Random(f"{seed} bells")
        self._partition_of = {keys.commands(p): p for p in range(self.plan.partitions)}
        self.work = WaitingWork(self.engine)
        self.stalls = Stalls(self)
        self.peek = self.faultless_client()
        init_partition_count(self.peek, self.plan.partitions)
        self.ledger = RedisLedger(self.peek, self.plan.partitions)
        self.servers = [Server(self, f"gateway-{n}") for n in range(self.plan.gateways)]
        self.referees = [Worker(self, f"referee-{n}", start_referee) for n in range(self.plan.referees)]
        self.bots = [Worker(self, f"bots-{n}", start_bots) for n in range(self.plan.bots)]
        self.evicting = False  # then games disappear, and viewers find none
        self.hosts: list[Host] = []
        self.followers: list[Follower] = []
        services: list[Actor] = [*self.servers, *self.referees, *self.bots]
        for actor in services:
            self.enter(actor)
        self.incidents = Incidents(self)
        self.agenda.put(self.incidents, FAIR_MS)
        self.enter(self.stalls)
        if self.plan.losses:
            self.enter(Lag(self))
        self.engine.loses_message = self._loses
        for number in range(len(self.plan.games)):
            self._add_clients(number)

    def _add_clients(self, number: int) -> None:
        """The host, the human players and the spectators of one game."""
        game = self.plan.games[number]
        host = Host(Person(self, f"host-{number}"), game)
        self.hosts.append(host)
        self._add(host.me, host.steps())
        for seat, kind in enumerate(game.seats):
            if kind == "person":
                player = Player(Person(self, f"player-{number}-{seat}"), host, seat)
                self._add(player.me, player.steps())
        for viewer in range(game.viewers):
            watcher = Person(self, f"viewer-{number}-{viewer}")
            self._add(watcher, watch(watcher, host))

    def _add(self, person: Person, steps: Steps) -> None:
        person.steps = steps
        self.enter(person)

    # -- time ----------------------------------------------------------------------------

    def run(self) -> World:
        """Play every game to its end, let the server come to rest without faults, and check it."""
        with poison():
            self._play()
            self._close()
            self._check(complaints)
            if self.plan.evicts:
                self._evict_games()
                self._close()  # those that crashed meanwhile have started again
                self._check(left_of_games)
        return self

    def _close(self) -> None:
        for server in self.servers:
            server.close()

    def _check(self, check: Callable[[World], Iterable[str]]) -> None:
        if not self.complaints:
            for why in check(self):
                self.complain(why)

    def _evict_games(self) -> None:
        """Two months pass; the faults go on while the games are evicted."""
        self.evicting = True
        self.faults.update(self.plan.faults)
        self.clock.jumped += TWO_MONTHS_MS
        for ms in (EVICTION_MS, CALM_MS):
            until = self.clock.now + ms
            while not self.complaints and self.agenda.step(until):
                pass
            self.clock.now = until
            self.faults.clear()

    def _play(self) -> None:
        while not self._played() and self.clock.now < MAX_TIME_MS and not self.complaints:
            if not self.agenda.step():
                break
        self.calm()
        until = self.clock.now + CALM_MS
        while not self.complaints and not self._at_rest() and self.agenda.step(until):
            pass

    def calm(self) -> None:
        self.faults.clear()
        self.slow = 1.0
        self.incidents.end()

    def _played(self) -> bool:
        """Whether every game has ended for good."""
        if self.plan.losses and self.clock.now < self.recorder.read_at + SAFE_MS:
            return False
        return self.recorder.over() and all(host.game in self.recorder.records for host in self.hosts)

    def follow(self, follower: Follower) -> None:
        self.followers.append(follower)
        self.enter(follower)

    def _at_rest(self) -> bool:
        """Whether all commands and bot tasks are acknowledged, and every viewer has seen the end: not an
        end of the same length that the engine has just lost."""
        if self.agenda.steps % 16 or self.clock.now < self.recorder.lost_at + NOTICE_MS:
            return False
        lengths = {game: len(record.stored) for game, record in self.recorder.records.items()}
        seen = all(follower.after == lengths[follower.game] for follower in self.followers)
        return seen and next(left_over(self), None) is None

    def enter(self, actor: Actor) -> None:
        self.agenda.put(actor, 0.0)

    def hold(self, ms: float) -> None:
        """The acting actor is held within its step: the others go on for so long."""
        if self._held >= MAX_HELD:
            return
        self._held += 1
        until = self.clock.now + ms
        while not self.complaints and self.agenda.step(until):
            pass
        self.clock.now = max(self.clock.now, until)
        self._held -= 1

    # -- the engine ----------------------------------------------------------------------

    def client(self, wire: Wire) -> Any:
        """A blocking engine client for an actor."""
        return SyncClient(self.engine, wire.carry)

    def async_client(self, server: Server) -> Any:
        """An asynchronous engine client for a gateway."""
        return AsyncClient(self.engine, server.carry)

    def faultless_client(self) -> Any:
        """A client without faults, for checks from outside."""
        return SyncClient(self.engine)

    def _loses(self, channel: bytes, message: bytes) -> bool:
        """Whether this notification is lost on its way."""
        return self._lost_notifications.random() < self.plan.notifications_lost

    def partition_of(self, game: str) -> int:
        return keys.partition_of(game, self.plan.partitions)

    def executed(self, owner: str, calls: Sequence[Call]) -> None:
        """After a round trip was executed: observe what it did, and wake who may wait for it."""
        refereed = owner.startswith("referee")
        if refereed:
            self.recorder.observe(calls)
        workers = self.bots if refereed else self.referees
        scripts = [call for call in calls if call[0] in SCRIPTED]
        for call in scripts:
            if call[3] in self._partition_of:
                self._wake(workers, self._partition_of[call[3]])
        for server in self.servers if scripts else ():
            server.schedule()  # a notification may have arrived there

    def _wake(self, workers: Sequence[Worker], partition: int) -> None:
        """Wake the first of these workers that waits for this partition."""
        for worker in workers:
            if worker.waits_for(partition):
                worker.idle = False
                self.agenda.put(worker, 0.05)
                return

    # -- findings ---------------------------------------------------------------------

    def complain(self, why: str) -> None:
        self.complaints.append(why)
        self.note(f"COMPLAINT {why}")

    def note(self, what: str) -> None:
        self.trace.write(self.clock.now, "world", what)


__all__ = ["NEVER", "World"]
