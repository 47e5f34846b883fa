"""People at their gateways: they ask, give up, ask again, play, and fall silent."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Final

from schemas.commands import ClaimRoute, Command, Leave, write_command
from schemas.entries import ViewEntry
from services.gateway.problem_details import HttpProblemError
from services.gateway.routes.play_offs import take_seat
from services.gateway.service import GatewayService
from services.referee.rules import GameState, fold_events, legal
from tests.rules.random_commands import command_pool
from tests.simulator import plan
from tests.simulator.agenda import NEVER
from tests.simulator.faults import SAFE_MS
from tests.simulator.follower import Follower
from tests.simulator.gateways import Errand, Request
from tests.simulator.network import Wire
from tests.simulator.poison import POISONS

if TYPE_CHECKING:
    from tests.simulator.world import World

THINK_MS: Final = (5.0, 120.0)
PATIENCE_MS: Final = (400.0, 7_000.0)
AGAIN_MS: Final = (10.0, 800.0)
NEWS_MS: Final = 2_000.0  # a viewer that hears nothing for so long looks by itself
TRIES_MOST: Final = 500

Life = Generator[float, None, None]
Asked = Generator[float, None, Errand]


class Person:
    """Somebody outside the server: their life goes on by waits, whatever dies inside it."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.rng = Random(f"{world.plan.seed} {name}")
        self.wire = Wire(world, name, self.rng)
        self.waits = False  # for a reply, or for news
        self.life: Life = iter(())  # type: ignore[assignment]

    def step(self) -> float:
        return next(self.life, NEVER)

    @property
    def sure(self) -> str:
        """The level that outlives all that happens in this world."""
        return self.world.plan.losses or "decided"

    def level(self) -> str:
        """How sure this person wants to be this time."""
        return self.rng.choice(self.world.plan.levels)

    def wake(self) -> None:
        """What was waited for is there."""
        if self.waits:
            self.world.agenda.put(self, 0.0)

    def rest(self, ms: float) -> Life:
        """Wait so long, or until something comes."""
        self.waits = True
        yield ms
        self.waits = False

    def think(self) -> float:
        return self.rng.uniform(*THINK_MS)

    def ask(self, what: Request) -> Asked:
        """One request to some gateway, for as long as patience lasts."""
        server = self.rng.choice(self.world.servers)
        errand = server.ask(self.wire, what, self.wake)
        until = self.world.clock.now + self.rng.uniform(*PATIENCE_MS)
        while not errand.done and self.world.clock.now < until:
            yield from self.rest(until - self.world.clock.now)
        if not errand.done:
            errand.give_up()
            server.turn()
        return errand

    def insist(self, what: Request) -> Asked:
        """The same request again and again, until it has a reply or a problem of its own."""
        for _ in range(TRIES_MOST):
            errand = yield from self.ask(what)
            if errand.reply is not None or _is_answer(errand.problem):
                return errand
            yield self.rng.uniform(*AGAIN_MS)
        self.world.complain(f"{self.name} never got an answer: {told(errand.problem)}")
        return errand


class Host:
    """Lays a table, waits until everybody sits, and starts the game."""

    def __init__(self, me: Person, table: plan.Table) -> None:
        self.me, self.world, self.name, self.table = me, me.world, me.name, table
        self.game = ""
        self.cached_game = 0  # people who have their seats

    def life(self) -> Life:
        people = [kind == "person" for kind in self.table.seats]
        seats = [
            {"kind": "human"} if human else {"kind": "bot", "policy": kind}
            for human, kind in zip(people, self.table.seats, strict=True)
        ]
        seed = f"{self.world.plan.seed} {self.name}"
        body = {"board": self.table.board, "seats": seats, "seed": seed, "options": dict(self.table.options)}
        id_ = f"{self.name}-lays-the-table"
        created = yield from self.me.insist(
            lambda door: door.create(dict(body), id_, self.name, door.parse_ack_request(self.me.sure, None))
        )
        if created.reply is None:
            self.world.complain(f"{self.name} got no table: {told(created.problem)}")
            return
        self.game = created.reply.game
        while self.cached_game < sum(people):
            yield self.me.think()
        token, id_ = created.reply.token, f"{self.name}-starts-the-game"
        started = yield from self.me.insist(
            lambda door: door.start(self.game, token, id_, door.parse_ack_request(self.me.sure, None))
        )
        if started.reply is None:
            self.world.complain(f"{self.name} got no game: {told(started.problem)}")


class Player:
    """Sits down at a host's table and plays to the end, and every play-off after it."""

    def __init__(self, me: Person, host: Host, seat: int) -> None:
        self.me, self.world, self.name, self.rng = me, me.world, me.name, me.rng
        self.host, self.seat, self.table = host, seat, host.table
        self.folded = GameState()
        self.last: ViewEntry | None = None
        self.count = 0
        self.game = self.token = ""

    def life(self) -> Life:
        while not self.host.game:
            yield self.me.think()
        self.game, body = self.host.game, {"name": self.name, "seat": self.seat}
        id_ = f"{self.name}-sits-down-here"
        joined = yield from self.me.insist(
            lambda door: door.join(
                self.game, body, id_, self.name, door.parse_ack_request(self.me.sure, None)
            )
        )
        if joined.reply is None:
            self.world.complain(f"{self.name} got no seat: {told(joined.problem)}")
            return
        self.token = joined.reply.token
        self.host.cached_game += 1
        yield from self.play()
        while (called := self.folded.next_play_off) is not None and self.seat in called.seats:
            yield from self.move_on()
            yield from self.play()

    def move_on(self) -> Life:
        """Take the seat in the game that follows."""
        moved = yield from self.me.insist(lambda door: take_seat(door, self.game, self.token))
        if moved.reply is None:
            self.world.complain(f"{self.name} got no seat in the play-off: {told(moved.problem)}")
            yield NEVER
        self.game, self.seat, self.token = moved.reply.game, moved.reply.seat, moved.reply.token
        self.folded, self.last = GameState(), None

    def play(self) -> Life:
        name = f"{self.name} {self.game[-4:]} eyes"
        follower = Follower(self.world, name, self.game, self.seat, self.me.wake)
        self.world.follow(follower)
        while not (yield from self.is_over()):
            if follower.after == (self.last.number if self.last else 0):
                yield from self.me.rest(NEWS_MS)
            yield self.me.think()
            yield from self.look()
            while self.folded.started and (yield from self.act()):
                yield self.me.think()

    def is_over(self) -> Generator[float, None, bool]:
        """Whether it is, and stays so: the engine may have lost the end that was seen."""
        while self.folded.result and self.world.plan.losses:
            lost = self.world.recorder.losses
            if (yield from self.look()):
                yield SAFE_MS
                if lost == self.world.recorder.losses:
                    return True
            else:
                yield self.me.think()
        return self.folded.result is not None

    def look(self) -> Generator[float, None, bool]:
        """Fold what is new, from the last entry on; from the beginning, if that isn't what it was.
        True if the engine has what was folded."""
        after = self.last.number - 1 if self.last else 0
        found = yield from self.me.ask(lambda door: door.ledger.read_view(self.game, self.seat, after))
        if found.reply is None:
            return False
        for entry in found.reply:
            self.world.recorder.handed_out(self.name, self.game, entry.number, entry.shown.head)
        if self.last is not None and not self.stands(found.reply):
            self.folded, self.last = GameState(), None
            return False
        for entry in found.reply[1 if self.last else 0 :]:
            fold_events(self.folded, entry.at, entry.events)
            self.last = entry
        return True

    def stands(self, found: Sequence[ViewEntry]) -> bool:
        """Whether the last entry that was seen is there, with the head that it had."""
        assert self.last is not None
        return bool(found) and found[0] == self.last and found[0].shown == self.last.shown

    def act(self) -> Generator[float, None, bool]:
        """Send something, if there is anything to send. False if there was nothing."""
        rng, moves = self.rng, legal(self.folded, self.seat)
        if rng.random() < self.table.leaving:
            yield from self.say(Leave())
        elif rng.random() < self.table.mischief:
            yield from self.say(rng.choice(command_pool(rng, self.folded)))
        elif not moves:
            return False
        else:
            if rng.random() < self.table.silence:
                self.world.note(f"{self.name} falls silent")
                yield NEVER
            claims = [move for move in moves if isinstance(move, ClaimRoute)]
            yield from self.say(rng.choice(claims or moves))
        yield from self.look()
        return True

    def say(self, command: Command) -> Life:
        """Send a command until it has its verdict, and now and then once more."""
        self.count += 1
        id_ = f"{self.name}-{self.count}"
        if self.rng.random() < self.world.plan.poison:
            yield from self.poison(f"{self.rng.choice(POISONS)}{id_}", command)
        body, times = write_command(command), 2 if self.rng.random() < 0.1 else 1
        for _ in range(times):
            yield from self.get_verdict(body, id_, self.me.level())

    def get_verdict(self, body: dict[str, Any], id_: str, level: str) -> Life:
        asked = yield from self.me.insist(lambda door: self.send(door, dict(body), id_, level))
        self.world.recorder.told(self.game, self.seat, id_, level, asked)

    def poison(self, id_: str, command: Command) -> Life:
        """Send what breaks a referee. It gets no verdict."""
        body = write_command(command)
        sent = yield from self.me.ask(lambda door: self.send(door, dict(body), id_, "accepted"))
        self.world.recorder.accepted_poison(id_, sent)

    async def send(self, door: GatewayService, body: dict[str, Any], id_: str, level: str) -> Any:
        """The verdict, once it has the level that is asked for; None before that is known: a
        number without its entry is `unknown` too."""
        envelope = door.build_envelope(self.game, self.seat, body, id_)
        reached = await door.execute(envelope, door.parse_ack_request(level, None))
        known = reached.entry is not None or level == "accepted"
        return reached if known and str(reached.level) == level else None


def watch(me: Person, host: Host) -> Life:
    """Open a spectator's view of a host's table."""
    while not host.game:
        yield me.think()
    me.world.follow(Follower(me.world, f"{me.name} eyes", host.game, None))


def _is_answer(problem: HttpProblemError | None) -> bool:
    """Whether this answers the command itself, and doesn't only say `not now`."""
    return problem is not None and (problem.status not in (429, 503) or _refused(problem))


def _refused(problem: HttpProblemError) -> bool:
    return problem.status == 429 and "level" in problem.extensions


def told(problem: HttpProblemError | None) -> str:
    return f"{problem.rule}: {problem.detail}" if problem else "no answer"
