"""Clients of the gateways: they send requests, time out, retry, play, and fall silent."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Final

from schemas.commands import Command, Leave, write_command
from schemas.stored.entries import ViewEntry
from schemas.trains.commands import ClaimRoute
from services.gateway.games.service import GatewayService
from services.gateway.routes.dependencies import GameRequest
from services.gateway.routes.games import take_seat
from services.gateway.web.problem_details import Problem
from services.referee.games import GameState, fold_events, legal
from tests.rules.random_commands import command_pool
from tests.simulator.agenda import NEVER
from tests.simulator.faults import SAFE_MS
from tests.simulator.follower import Follower
from tests.simulator.gateways import GatewayCall, PendingRequest
from tests.simulator.network import Wire
from tests.simulator.plan import GamePlan
from tests.simulator.poison import POISONS

if TYPE_CHECKING:
    from tests.simulator.world import World

THINK_MS: Final = (5.0, 120.0)
PATIENCE_MS: Final = (400.0, 7_000.0)
RETRY_MS: Final = (10.0, 800.0)
POLL_MS: Final = 2_000.0  # a player whose follower shows nothing new for so long reads its view
MAX_TRIES: Final = 500

Steps = Generator[float, None, None]  # yields the milliseconds to its next step
RequestSteps = Generator[float, None, PendingRequest]


class Person:
    """A client outside the server. Its steps wait in virtual time; no crash of the server ends them."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.rng = Random(f"{world.plan.seed} {name}")
        self.wire = Wire(world, name, self.rng)
        self.waits = False  # for a reply, or for a new entry
        self.steps: Steps = iter(())  # type: ignore[assignment]

    def step(self) -> float:
        return next(self.steps, NEVER)

    @property
    def safe_level(self) -> str:
        """The acknowledgement level that survives every fault of this world."""
        return self.world.plan.losses or "decided"

    def level(self) -> str:
        """The acknowledgement level to ask for this time."""
        return self.rng.choice(self.world.plan.levels)

    def wake(self) -> None:
        """End a `wait` early: a reply or an entry has arrived."""
        if self.waits:
            self.world.agenda.put(self, 0.0)

    def wait(self, ms: float) -> Steps:
        """Wait so long, or until `wake`."""
        self.waits = True
        yield ms
        self.waits = False

    def think(self) -> float:
        return self.rng.uniform(*THINK_MS)

    def ask(self, call: GatewayCall) -> RequestSteps:
        """One request to a random gateway, with a timeout."""
        server = self.rng.choice(self.world.servers)
        request = server.ask(self.wire, call, self.wake)
        until = self.world.clock.now + self.rng.uniform(*PATIENCE_MS)
        while not request.done and self.world.clock.now < until:
            yield from self.wait(until - self.world.clock.now)
        if not request.done:
            request.give_up()
            server.run_ready()
        return request

    def retry(self, call: GatewayCall) -> RequestSteps:
        """The same request until it gets a reply, or a problem that a retry wouldn't change."""
        for _ in range(MAX_TRIES):
            request = yield from self.ask(call)
            if request.reply is not None or _is_answer(request.problem):
                return request
            yield self.rng.uniform(*RETRY_MS)
        self.world.complain(f"{self.name} never got an answer: {describe(request.problem)}")
        return request


class Host:
    """Creates a game, waits until every human seat is taken, and starts it."""

    def __init__(self, me: Person, plan: GamePlan) -> None:
        self.me, self.world, self.name, self.plan = me, me.world, me.name, plan
        self.game = ""
        self.seated = 0  # human players who have joined

    def steps(self) -> Steps:
        people = [kind == "person" for kind in self.plan.seats]
        seats = [
            {"kind": "human"} if human else {"kind": "bot", "policy": kind}
            for human, kind in zip(people, self.plan.seats, strict=True)
        ]
        seed = f"{self.world.plan.seed} {self.name}"
        body: dict[str, Any] = {"seats": seats, "seed": seed, "options": dict(self.plan.options)}
        body |= {"ruleset": self.plan.rules} if self.plan.rules else {"board": self.plan.board}
        id_ = f"{self.name}-lays-the-table"
        created = yield from self.me.retry(
            lambda gateway: gateway.create(
                dict(body), id_, self.name, gateway.parse_ack_request(self.me.safe_level, None)
            )
        )
        if created.reply is None:
            self.world.complain(f"{self.name} got no new game: {describe(created.problem)}")
            return
        self.game = created.reply.game
        while self.seated < sum(people):
            yield self.me.think()
        token, id_ = created.reply.token, f"{self.name}-starts-the-game"
        started = yield from self.me.retry(
            lambda gateway: gateway.start(
                self.game, token, id_, self.name, gateway.parse_ack_request(self.me.safe_level, None)
            )
        )
        if started.reply is None:
            self.world.complain(f"{self.name} couldn't start the game: {describe(started.problem)}")


class Player:
    """Joins a host's game and plays it to the end, and every play-off after it."""

    def __init__(self, me: Person, host: Host, seat: int) -> None:
        self.me, self.world, self.name, self.rng = me, me.world, me.name, me.rng
        self.host, self.seat, self.plan = host, seat, host.plan
        self.folded = GameState()
        self.last: ViewEntry | None = None
        self.count = 0
        self.game = self.token = ""

    def steps(self) -> Steps:
        while not self.host.game:
            yield self.me.think()
        self.game, body = self.host.game, {"name": self.name, "seat": self.seat}
        id_ = f"{self.name}-sits-down-here"
        joined = yield from self.me.retry(
            lambda gateway: gateway.join(
                self.game, body, id_, self.name, gateway.parse_ack_request(self.me.safe_level, None)
            )
        )
        if joined.reply is None:
            self.world.complain(f"{self.name} got no seat: {describe(joined.problem)}")
            return
        self.token = joined.reply.token
        self.host.seated += 1
        yield from self.play()
        while (called := self.folded.next_play_off) is not None and self.seat in called.seats:
            yield from self.join_play_off()
            yield from self.play()

    def join_play_off(self) -> Steps:
        """Take the seat in the play-off."""
        moved = yield from self.me.retry(
            lambda gateway: take_seat(GameRequest(gateway, self.game, self.token, self.name))
        )
        if moved.reply is None:
            self.world.complain(f"{self.name} got no seat in the play-off: {describe(moved.problem)}")
            yield NEVER
        self.game, self.seat, self.token = moved.reply.game, moved.reply.seat, moved.reply.token
        self.folded, self.last = GameState(), None

    def play(self) -> Steps:
        name = f"{self.name} {self.game[-4:]} eyes"
        follower = Follower(self.world, name, self.game, self.seat, self.me.wake)
        self.world.follow(follower)
        while not (yield from self.is_over()):
            if follower.after == (self.last.number if self.last else 0):
                yield from self.me.wait(POLL_MS)
            yield self.me.think()
            yield from self.read_view()
            while self.folded.started and (yield from self.act()):
                yield self.me.think()

    def is_over(self) -> Generator[float, None, bool]:
        """Whether the game has ended for good: the engine may lose the end that was seen."""
        while self.folded.result and self.world.plan.losses:
            lost = self.world.recorder.losses
            if (yield from self.read_view()):
                yield SAFE_MS
                if lost == self.world.recorder.losses:
                    return True
            else:
                yield self.me.think()
        return self.folded.result is not None

    def read_view(self) -> Generator[float, None, bool]:
        """Fold new entries, from the last one on; start over if that one is another now.
        True if the engine still has what was folded."""
        after = self.last.number - 1 if self.last else 0
        read = yield from self.me.ask(lambda gateway: gateway.ledger.read_view(self.game, self.seat, after))
        if read.reply is None:
            return False
        for entry in read.reply:
            self.world.recorder.record_head(self.name, self.game, entry.number, entry.shown.head)
        if self.last is not None and not self.has_last(read.reply):
            self.folded, self.last = GameState(), None
            return False
        for entry in read.reply[1 if self.last else 0 :]:
            fold_events(self.folded, entry.at, entry.events)
            self.last = entry
        return True

    def has_last(self, entries: Sequence[ViewEntry]) -> bool:
        """Whether these entries begin with the last one that was folded, with the same head."""
        assert self.last is not None
        return bool(entries) and entries[0] == self.last and entries[0].shown == self.last.shown

    def act(self) -> Generator[float, None, bool]:
        """Send a command. False if there is nothing to send."""
        rng, moves = self.rng, legal(self.folded, self.seat)
        if rng.random() < self.plan.leaving:
            yield from self.submit(Leave())
        elif rng.random() < self.plan.mischief:
            yield from self.submit(rng.choice(command_pool(rng, self.folded)))
        elif not moves:
            return False
        else:
            if rng.random() < self.plan.silence:
                self.world.note(f"{self.name} falls silent")
                yield NEVER
            claims = [move for move in moves if isinstance(move, ClaimRoute)]
            yield from self.submit(rng.choice(claims or moves))
        yield from self.read_view()
        return True

    def submit(self, command: Command) -> Steps:
        """Send a command until it has its verdict, and sometimes once more under the same id."""
        self.count += 1
        id_ = f"{self.name}-{self.count}"
        if self.rng.random() < self.world.plan.poison:
            yield from self.poison(f"{self.rng.choice(POISONS)}{id_}", command)
        body, times = write_command(command), 2 if self.rng.random() < 0.1 else 1
        for _ in range(times):
            yield from self.get_verdict(body, id_, self.me.level())

    def get_verdict(self, body: dict[str, Any], id_: str, level: str) -> Steps:
        answered = yield from self.me.retry(lambda gateway: self.send(gateway, dict(body), id_, level))
        self.world.recorder.record_answer(self.game, self.seat, id_, level, answered)

    def poison(self, id_: str, command: Command) -> Steps:
        """Send a command that breaks a referee. It gets no verdict."""
        body = write_command(command)
        sent = yield from self.me.ask(lambda gateway: self.send(gateway, dict(body), id_, "accepted"))
        self.world.recorder.accepted_poison(id_, sent)

    async def send(self, gateway: GatewayService, body: dict[str, Any], id_: str, level: str) -> Any:
        """The verdict, once it has the asked level; None as long as that is unknown, which includes a
        number without its entry."""
        envelope = gateway.build_envelope(self.game, self.seat, body, id_)
        reached = await gateway.execute(envelope, gateway.parse_ack_request(level, None))
        known = reached.entry is not None or level == "accepted"
        return reached if known and str(reached.level) == level else None


def watch(me: Person, host: Host) -> Steps:
    """Follow a host's game as a spectator."""
    while not host.game:
        yield me.think()
    me.world.follow(Follower(me.world, f"{me.name} eyes", host.game, None))


def _is_answer(problem: Problem | None) -> bool:
    """Whether this answers the command itself, and isn't just `try again later`."""
    return problem is not None and (problem.status not in (429, 503) or _refused(problem))


def _refused(problem: Problem) -> bool:
    return problem.status == 429 and "level" in problem.extensions


def describe(problem: Problem | None) -> str:
    return f"{problem.rule}: {problem.detail}" if problem else "no answer"
