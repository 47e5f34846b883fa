"""The whole server in one thread: every service, everybody outside, one clock, one seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, Final, TextIO

from services.ledger import RedisLedger, keys
from services.ledger.connection import init_partition_count
from services.ledger.replies import parse_entries
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
from tests.simulator.players import Host, Person, Player, watch
from tests.simulator.poison import poison
from tests.simulator.recorder import Recorder
from tests.simulator.stall_detector import Stalls
from tests.simulator.trace import Trace
from tests.simulator.workers import Worker, start_bots, start_referee

TIME_MOST_MS: Final = 3_600_000.0
CALM_MS: Final = 90_000.0
LEAVING_MS: Final = 30_000.0
TWO_MONTHS_MS: Final = 61 * 24 * 3_600_000  # longer than games stay, wherever the clock jumped to
FAIR_MS: Final = 500.0  # then everybody is at work, and the server has its time
LEARN_MS: Final = 10_000.0  # after a loss: until every viewer of lost entries has noticed
HELD_DEEP_MOST: Final = 2
SCRIPTED: Final = ("EVALSHA", "EVAL")


class World:
    """Make one of a seed, and `run` it: afterwards `complaints` is what went wrong."""

    def __init__(self, seed: int, out: TextIO | None = None, plan: Plan | None = None) -> None:
        self.plan = plan or draw(seed)
        self.clock, self.trace = Clock(), Trace(out)
        self.agenda = Agenda(self.clock, seed)
        self.engine = Engine(self.clock.engine_ms)
        self.faults = dict(self.plan.faults)
        self.slow = 1.0
        self.complaints: list[str] = []
        self.recorder = Recorder(self)
        self._deep = 0
        self._bells = Random(f"{seed} bells")
        self._partition_of = {keys.commands(p): p for p in range(self.plan.partitions)}
        self.work = WaitingWork(self.engine)
        self.stalls = Stalls(self)
        self.peek = self.outside()
        init_partition_count(self.peek, self.plan.partitions)
        self.ledger = RedisLedger(self.peek, self.plan.partitions)
        self.servers = [Server(self, f"gateway-{n}") for n in range(self.plan.gateways)]
        self.referees = [Worker(self, f"referee-{n}", start_referee) for n in range(self.plan.referees)]
        self.bots = [Worker(self, f"bots-{n}", start_bots) for n in range(self.plan.bots)]
        self.leaving = False  # games leave: who comes to look finds none
        self.hosts: list[Host] = []
        self.followers: list[Follower] = []
        staff: list[Actor] = [*self.servers, *self.referees, *self.bots]
        for actor in staff:
            self.enter(actor)
        self.incidents = Incidents(self)
        self.agenda.put(self.incidents, FAIR_MS)
        self.enter(self.stalls)
        if self.plan.losses:
            self.enter(Lag(self))
        self.engine.loses_message = self._loses
        for number in range(len(self.plan.tables)):
            self._invite(number)

    def _invite(self, number: int) -> None:
        """Everybody whom one game needs."""
        table = self.plan.tables[number]
        host = Host(Person(self, f"host-{number}"), table)
        self.hosts.append(host)
        self._born(host.me, host.life())
        for seat, kind in enumerate(table.seats):
            if kind == "person":
                player = Player(Person(self, f"player-{number}-{seat}"), host, seat)
                self._born(player.me, player.life())
        for viewer in range(table.viewers):
            watcher = Person(self, f"viewer-{number}-{viewer}")
            self._born(watcher, watch(watcher, host))

    def _born(self, person: Person, life: Any) -> None:
        person.life = life
        self.enter(person)

    # -- time ----------------------------------------------------------------------------

    def run(self) -> World:
        """Play everything to the end, then let the server come to rest without incidents."""
        with poison():
            self._play()
            self._close()
            self._ask(complaints)
            if self.plan.leaves:
                self._let_leave()
                self._close()  # those that crashed meanwhile are open again
                self._ask(left_of_games)
        return self

    def _close(self) -> None:
        for server in self.servers:
            server.close()

    def _ask(self, check: Callable[[World], Iterable[str]]) -> None:
        if not self.complaints:
            for why in check(self):
                self.complain(why)

    def _let_leave(self) -> None:
        """Two months pass; the server is as unlucky as before while the games leave."""
        self.leaving = True
        self.faults.update(self.plan.faults)
        self.clock.jumped += TWO_MONTHS_MS
        for ms in (LEAVING_MS, CALM_MS):
            until = self.clock.now + ms
            while not self.complaints and self.agenda.step(until):
                pass
            self.clock.now = until
            self.faults.clear()

    def _play(self) -> None:
        while not self._played() and self.clock.now < TIME_MOST_MS and not self.complaints:
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
        """Whether every game has ended, and stays so."""
        if self.plan.losses and self.clock.now < self.recorder.read_at + SAFE_MS:
            return False
        return self.recorder.over() and all(host.game in self.recorder.records for host in self.hosts)

    def follow(self, follower: Follower) -> None:
        self.followers.append(follower)
        self.enter(follower)

    def _at_rest(self) -> bool:
        """Whether all envelopes and notes are answered, and every viewer has seen the end: not one of
        the same length that the engine has just lost."""
        if self.agenda.steps % 16 or self.clock.now < self.recorder.lost_at + LEARN_MS:
            return False
        lengths = {game: len(record.stored) for game, record in self.recorder.records.items()}
        seen = all(follower.after == lengths[follower.game] for follower in self.followers)
        return seen and next(left_over(self), None) is None

    def enter(self, actor: Actor) -> None:
        self.agenda.put(actor, 0.0)

    def hold(self, ms: float) -> None:
        """Somebody is held in the midst of a step: the others go on for so long."""
        if self._deep >= HELD_DEEP_MOST:
            return
        self._deep += 1
        until = self.clock.now + ms
        while not self.complaints and self.agenda.step(until):
            pass
        self.clock.now = max(self.clock.now, until)
        self._deep -= 1

    # -- the engine ----------------------------------------------------------------------

    def client(self, wire: Wire) -> Any:
        """An engine's client for somebody who waits for each reply."""
        return SyncClient(self.engine, wire.carry)

    def async_client(self, server: Server) -> Any:
        """The same for a gateway."""
        return AsyncClient(self.engine, server.carry)

    def outside(self) -> Any:
        """A client that no misfortune befalls, for those who only look."""
        return SyncClient(self.engine)

    def entries(self, name: str, after: int) -> list[tuple[int, bytes]]:
        """A stream's entries after a number."""
        return parse_entries(self.peek.xrange(name, f"{after + 1}-0"))

    def _loses(self, channel: bytes, message: bytes) -> bool:
        """Whether a notification isn't heard: it may always be lost."""
        return self._bells.random() < self.plan.notifications_lost

    def partition_of(self, game: str) -> int:
        return keys.partition_of(game, self.plan.partitions)

    def executed(self, who: str, calls: Sequence[Call]) -> None:
        """A message was carried out: look what it did, and wake whom it may concern."""
        refereed = who.startswith("referee")
        if refereed:
            self.recorder.look(calls)
        workers = self.bots if refereed else self.referees
        scripts = [call for call in calls if call[0] in SCRIPTED]
        for call in scripts:
            if call[3] in self._partition_of:
                self._wake(workers, self._partition_of[call[3]])
        for server in self.servers if scripts else ():
            server.rest()  # a notification may have rung there

    def _wake(self, workers: Sequence[Worker], partition: int) -> None:
        """Something came for these: the first of them that waits for it takes it."""
        for worker in workers:
            if worker.waits_for(partition):
                worker.idle = False
                self.agenda.put(worker, 0.05)
                return

    # -- what is found ---------------------------------------------------------------------

    def complain(self, why: str) -> None:
        self.complaints.append(why)
        self.note(f"COMPLAINT {why}")

    def note(self, what: str) -> None:
        self.trace.say(self.clock.now, "world", what)


__all__ = ["NEVER", "World"]
