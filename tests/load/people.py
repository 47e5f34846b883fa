"""One process of people: each has a seat of a game with bots, thinks, moves, and notes what it was answered.

Some are at the table the whole time, with a socket; the others look in when they want to move, as in a game by mail.
A pause is log-normal: response times of people at a board are long-tailed (Sigman et al. 2010, Response time
distributions in rapid chess, Frontiers in Neuroscience 4:60). A latency runs from the moment at which a person wanted
to send, so that a client which is late counts too, to the verdict on that person's own socket.
"""

from __future__ import annotations

import asyncio
import json
import math
import secrets
from array import array
from collections import Counter
from collections.abc import Sequence
from multiprocessing.connection import Connection
from random import Random
from typing import Any, Final, NamedTuple

import uvloop

from schemas.commands import write_command
from services.referee.games import GameState, fold_events, legal
from tests.bench.light_players import PING, PONG, TEXT, frame, request
from tests.gateway.clients import read_events
from tests.load.calls import Address, Calls, RefusedError
from tests.load.latencies import Wait
from tests.load.log_check import check_answers

SIGMA: Final = 1.0  # of the logarithm of a pause
CLOSE: Final = 0x88
BEGIN_ANEW: Final = 4002
BACK_S: Final = (
    0.5  # on average, until a person whose socket ended comes back, and twice as long after each failure
)
MOST_BACK_S: Final = 30.0
OPEN_S: Final = 10.0  # for a connection: where a gateway's queue is full, the system asks ever more rarely, for two minutes
PATIENCE_S: Final = 9.0  # for an open socket, as a page's
CALLS_AT_ONCE: Final = 64
REPORT_S: Final = 1.0
LAST_ANSWERS_S: Final = 120.0
MOST_COMPLAINTS: Final = 5
PASSING: Final = (429, 503)  # of problems: the command is sent again


class Plan(NamedTuple):
    """What the people of one process do."""

    urls: Sequence[str]
    games: int
    people: int  # in a game
    bots: int
    policy: str
    pause_s: float  # a person's, on average
    attached: float  # the share of people who are at the table the whole time
    asks_rules: bool  # whether the server lists what is legal, as for the pages, or people know the rules
    level: str  # that a command asks for; empty: decided
    seed: str
    first: int  # of its tables' numbers, which no other process has
    logs: int  # that are compared at the end, at most


class Person(asyncio.Protocol):
    """A seat's holder."""

    __slots__ = (
        "answered", "due_s", "end", "failures", "is_attached", "number", "options", "pending", "prefix", "rest", "seat", "state",
        "table", "timer", "token", "transport", "upgraded",
    )  # fmt: skip

    def __init__(self, table: Table, seat: int, token: str, is_attached: bool) -> None:
        self.table, self.seat, self.token, self.is_attached = table, seat, token, is_attached
        self.prefix, self.answered = secrets.token_hex(6), array("I")
        self.pending, self.due_s = b"", 0.0  # the command without an answer, and when it was to be sent
        self.state: GameState | None = None if table.crowd.plan.asks_rules else GameState()
        self.options: Sequence[Any] = ()  # what the server lists as legal
        self.number, self.failures, self.end = 0, 0, -1
        self.transport: asyncio.Transport | None = None
        self.timer: asyncio.TimerHandle | None = None

    # -- the connection ------------------------------------------------------------------

    def come(self, in_s: float) -> None:
        """Open the socket after a while."""
        self.stop_waiting()
        crowd = self.table.crowd
        self.timer = crowd.loop.call_later(in_s, crowd.open_socket, self)

    def come_back(self, asked_s: float = 0.0) -> None:
        """Open the socket again, ever later while that fails, and not before the server asked for it."""
        random = self.table.crowd.random
        pause_s = random.uniform(0, min(MOST_BACK_S, 2 * BACK_S * 2**self.failures))
        self.come(max(pause_s, asked_s * random.uniform(1, 2)))
        self.failures += 1

    def wait_for_socket(self, seconds: float, *, is_last: bool = False) -> None:
        """Give up a socket that doesn't open: after a last look at what came while this process stood still."""
        crowd = self.table.crowd

        def look() -> None:
            if not is_last:
                self.wait_for_socket(0.05, is_last=True)
                return
            crowd.count["gave up"] += 1
            self.hang_up()
            self.come_back()

        self.timer = crowd.loop.call_later(seconds, look)

    def stop_waiting(self) -> None:
        """Neither come nor move by itself."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def upgrade(self) -> bytes:
        """The request that opens the socket; where the server is to list what is legal, the last entry comes once more."""
        crowd, after = self.table.crowd, self.number
        if self.state is None:
            self.number = after = max(0, after - 1)
        asked = f"after={after}" + "&legal=true" * (self.state is None)
        host = f"{self.table.address.host}:{self.table.address.port}"
        crowd.count["opened"] += 1
        return request(f"/v1/games/{self.table.game}/play?{asked}", host, self.token)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]  # uvloop's is a Transport by its methods
        self.rest, self.upgraded, self.end = b"", False, -1
        self.wait_for_socket(PATIENCE_S)
        transport.write(self.upgrade())  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        data = self.rest + data if self.rest else data
        if not self.upgraded:
            head, found, data = data.partition(b"\r\n\r\n")
            if not found:
                self.rest = head
                return
            self.upgraded = b" 101 " in head[:20]
            if not self.upgraded:
                self.hang_up()
                self.come_back(self.table.crowd.note_refusal(head))
                return
        self.rest = self._read_frames(data)

    def connection_lost(self, error: Exception | None) -> None:
        """Come back, unless this person left, or the game is over."""
        if self.transport is not None:
            self.transport, self.end = None, -1
            self.table.crowd.count["cut"] += 1
            self.come_back()

    def hang_up(self) -> None:
        """Close the socket, if there is one."""
        transport, self.transport = self.transport, None
        if transport is not None:
            transport.close()

    def leave(self) -> None:
        """Close the socket, and come back after a pause unless the game is over."""
        self.hang_up()
        if self.table.is_over:
            return
        if self.pending:
            self.come_back()
        else:
            self.come(self.table.crowd.pause_s())

    def _read_frames(self, data: bytes) -> bytes:
        """Take the whole frames; what is left of the last comes back."""
        place = 0
        while len(data) - place >= 2 and self.transport is not None:
            first, size, begin = data[place], data[place + 1], place + 2
            if size >= 126:
                begin += 2 if size == 126 else 8
                size = int.from_bytes(data[place + 2 : begin], "big") if begin <= len(data) else 1 << 30
            if (end := begin + size) > len(data):
                break
            payload, place = data[begin:end], end
            if first == TEXT:
                self._receive(json.loads(payload))
            elif first == PING:
                self.transport.write(frame(PONG, payload))
            elif first == CLOSE:
                if int.from_bytes(payload[:2], "big") == BEGIN_ANEW:
                    self.begin_anew()
                self.transport.close()
        return data[place:]

    # -- the game ------------------------------------------------------------------------

    def begin_anew(self) -> None:
        """The log has lost entries that were shown."""
        self.number, self.options = 0, ()
        self.state = None if self.state is None else GameState()

    def _receive(self, message: dict[str, Any]) -> None:
        crowd = self.table.crowd
        match message["type"]:
            case "attached":
                self.stop_waiting()
                self.end, self.failures = message["number"], 0
                self._look()
            case "entry":
                self._receive_entry(message)
            case "acknowledged" if self.pending and message["id"] == self.next_id:
                self._take_answer(message["number"])
            case "unknown":
                crowd.count["unknown"] += 1
                crowd.loop.call_later(BACK_S, self._send_again)
            case "problem" if self.pending:
                crowd.count["problems"] += 1
                if message["problem"].get("status") not in PASSING:
                    crowd.note(f"{self.table.game}: {message['problem'].get('detail')}")
                crowd.loop.call_later(BACK_S, self._send_again)

    def _receive_entry(self, message: dict[str, Any]) -> None:
        number, answers = message["number"], message["answers"]
        if number > self.number:
            if number != self.number + 1:
                self.table.crowd.note(f"{self.table.game}: entry {number} came after {self.number}")
            self.number = number
            if self.state is not None:
                fold_events(self.state, message["at"], read_events(message))
            if any(event["type"] == "game_ended" for event in message["events"]):
                self.table.end()
        self.options = message.get("legal") or ()
        if self.pending and answers == self.next_id and not self.table.crowd.plan.level:
            self._take_answer(number)
        elif number == self.end or (
            number > self.end and not self.pending
        ):  # nothing is sent again for an entry
            self._look()

    def _take_answer(self, number: int) -> None:
        crowd = self.table.crowd
        self.answered.append(number)
        self.pending = b""
        crowd.count["answered"] += 1
        crowd.waits.append((self.due_s, crowd.loop.time()))
        if self.is_attached:
            self._look()
        else:
            self.leave()

    def _look(self) -> None:
        """What a person does that has seen all there is: think, or leave."""
        if self.table.is_over or self.number < self.end:
            return
        if self.pending:
            self._send_again()
        elif not self.is_asked():
            if not self.is_attached:
                self.leave()
        elif self.timer is None:
            loop = self.table.crowd.loop
            due_s = loop.time() + (self.table.crowd.pause_s() if self.is_attached else 0)
            self.timer = loop.call_at(due_s, self._act, due_s)

    def is_asked(self) -> bool:
        """Whether this seat is to act."""
        return bool(self.options) if self.state is None else self.seat in self.state.pending_choices

    def _act(self, due_s: float) -> None:
        """Send a move, any that is legal."""
        crowd, self.timer = self.table.crowd, None
        if self.pending or not self.is_asked() or self.table.is_over or crowd.is_ending:
            return
        moves = self.options if self.state is None else legal(self.state, self.seat)
        chosen = crowd.random.choice(moves)
        command = chosen if isinstance(chosen, dict) else write_command(chosen)
        message = {"id": self.next_id, "command": command}
        level = {"level": crowd.plan.level, "wait_ms": 10_000} if crowd.plan.level else {}
        self.pending, self.due_s = frame(TEXT, json.dumps(message | level).encode()), due_s
        crowd.count["sent"] += 1
        self._send()

    @property
    def next_id(self) -> str:
        """The id of the command that waits for its answer, or will be sent next."""
        return f"{self.prefix}-{len(self.answered)}"

    def _send_again(self) -> None:
        """Send the command once more, if it still has no answer."""
        if self.pending:
            self.table.crowd.count["sent again"] += self._send()

    def _send(self) -> bool:
        """Send the command, on an open socket alone: who comes back sends it then."""
        if self.transport is None or self.transport.is_closing() or not self.upgraded:
            return False
        self.transport.write(self.pending)
        return True


class Table:
    """A game, and its people."""

    __slots__ = ("address", "calls", "crowd", "game", "is_over", "people")

    def __init__(self, crowd: Crowd, address: Address, calls: Calls) -> None:
        self.crowd, self.address, self.calls = crowd, address, calls
        self.is_over, self.people, self.game = False, list[Person](), ""

    async def begin(self) -> None:
        """Create the game, seat its people, start it."""
        plan, id_ = self.crowd.plan, secrets.token_hex(8)
        seats = [{"kind": "human"}] * plan.people + [{"kind": "bot", "policy": plan.policy}] * plan.bots
        body = {"ruleset": "usa", "seats": seats}
        self.game = (await self.calls.call("POST", "/v1/games", body, id_=id_))["game"]
        path = f"/v1/games/{self.game}"
        for number in range(plan.people):
            joined = await self.calls.call(
                "POST", f"{path}/join", {"name": f"Player {number}"}, id_=f"{id_}-{number}"
            )
            is_attached = self.crowd.random.random() < plan.attached
            self.people.append(Person(self, joined["seat"], joined["token"], is_attached))
        await self.calls.call("POST", f"{path}/start", {}, self.people[0].token, f"{id_}-start")

    def end(self) -> None:
        """The game is over: check it, and begin another in its place."""
        if not self.is_over:
            self.is_over = True
            for person in self.people:
                person.stop_waiting()
            self.crowd.replace(self)

    async def check(self) -> None:
        """Compare what people were answered with the game's log."""
        for person in self.people:
            entries = list[tuple[int, str | None]]()
            more = person.answered or person.pending
            while more:
                path = f"/v1/games/{self.game}/view?after={entries[-1][0] if entries else 0}"
                page = await self.calls.call("GET", path, token=person.token)
                entries += [(entry["number"], entry["answers"]) for entry in page["entries"]]
                more = page["more"]
            checked = check_answers(person.prefix, person.answered, entries)
            self.crowd.count["checked"] += checked.answered
            self.crowd.count["lost"] += checked.lost
            self.crowd.count["doubled"] += checked.doubled
            self.crowd.count["decided unseen"] += bool(person.pending) and checked.decided_next
            if checked.lost or checked.doubled:
                self.crowd.note(f"{self.game}, seat {person.seat}: {checked}")

    def close(self) -> None:
        self.is_over = True
        for person in self.people:
            person.stop_waiting()
            person.leave()


class Crowd:
    """The people of one process."""

    def __init__(self, plan: Plan, pipe: Connection) -> None:
        self.plan, self.pipe, self.random = plan, pipe, Random(plan.seed)
        self.loop = asyncio.get_running_loop()
        self.count, self.waits, self.complaints = Counter[str](), list[Wait](), list[str]()
        self.tables: set[Table] = set()
        self.is_ending = False
        self._calls = [Calls(Address.of(url), plan.first) for url in plan.urls]
        self._slots = asyncio.Semaphore(CALLS_AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._mu = math.log(plan.pause_s) - SIGMA**2 / 2

    def pause_s(self) -> float:
        """How long a person thinks, or stays away."""
        return self.random.lognormvariate(self._mu, SIGMA)

    def note(self, complaint: str) -> None:
        """Report what isn't as it should be; the first ones are enough."""
        if len(self.complaints) < MOST_COMPLAINTS:
            self.complaints.append(complaint)

    def note_refusal(self, head: bytes) -> float:
        """Report a socket that wasn't opened, unless the server is busy for a while: for how long, by its own word."""
        status, *fields = head.decode(errors="replace").lower().split("\r\n")
        if " 503" not in status:
            self.note(f"a socket was refused: {status}")
        self.count["refused"] += 1
        return next((float(each[13:]) for each in fields if each.startswith("retry-after: ")), 0.0)

    def open_socket(self, person: Person) -> None:
        """Have a person come."""
        person.timer = None
        self._run(self._open(person))

    def replace(self, table: Table) -> None:
        """Check a game that is over, and begin another."""
        self._run(self._replace(table))

    async def lead(self) -> None:
        """Create the games; on `go` have people come; on `end` have no more moves made, and check the logs. In between
        each message is answered by what was counted since the last."""
        creating = asyncio.gather(*(self._create(number) for number in range(self.plan.games)))
        await self._report_while(creating)
        await self._await("go")
        for table in self.tables:
            for person in table.people:
                person.come(self.random.uniform(0, self.plan.pause_s))
        await self._await("end")
        self.is_ending = True
        await self._report_while(asyncio.ensure_future(self._last_answers()))
        for table in (tables := [*self.tables]):
            table.close()
        waiting = [table for table in tables if any(person.pending for person in table.people)]
        moved = [table for table in tables if any(person.answered for person in table.people)]
        sampled = self.random.sample(moved, min(len(moved), self.plan.logs))
        looked_at = dict.fromkeys([*waiting, *sampled])
        await self._report_while(asyncio.gather(*(self._check(table) for table in looked_at)))
        self._report("done")
        for calls in self._calls:
            calls.close()

    async def _create(self, number: int) -> None:
        async with self._slots:
            calls = self._calls[number % len(self._calls)]
            table = Table(self, calls.address.called_by(self.plan.first + number), calls)
            await table.begin()
            self.tables.add(table)
            self.count["created"] += 1

    async def _replace(self, table: Table) -> None:
        self.tables.discard(table)
        self.count["finished"] += 1
        await asyncio.sleep(BACK_S)  # the last answers are on their way to who sees the end
        table.close()
        async with self._slots:
            await table.check()
            if self.is_ending:
                return
            another = Table(self, table.address, table.calls)
            await another.begin()
        self.tables.add(another)
        for person in another.people:
            person.come(0)

    async def _check(self, table: Table) -> None:
        async with self._slots:
            await table.check()
            self.count["checked games"] += 1

    async def _last_answers(self) -> None:
        """Wait until nobody waits for an answer."""
        end_s = self.loop.time() + LAST_ANSWERS_S
        while waiting := [person for table in self.tables for person in table.people if person.pending]:
            if self.loop.time() > end_s:
                self.count["unanswered"] += len(waiting)
                self.count["unattached"] += sum(person.end < 0 for person in waiting)
                self.note(f"{len(waiting)} commands got no answer within {LAST_ANSWERS_S:g} s")
                return
            await asyncio.sleep(0.2)

    async def _open(self, person: Person) -> None:
        address = person.table.address
        if person.table.is_over:
            return
        try:
            async with asyncio.timeout(OPEN_S):
                await self.loop.create_connection(
                    lambda: person, address.host, address.port, ssl=address.tls, local_addr=address.caller
                )
        except OSError:  # a TimeoutError is one
            if not person.table.is_over:
                person.come_back()

    def _run(self, coroutine: Any) -> None:
        task = self.loop.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self.note(f"{type(error).__name__}: {error}")

    async def _report_while(self, work: asyncio.Future[Any]) -> None:
        while not work.done():
            await asyncio.wait([work], timeout=REPORT_S)
            self._report("busy")
        work.result()

    async def _await(self, word: str) -> None:
        """Report that this is ready, and each second what was counted, until the word comes."""
        self._report("ready")
        while not self.pipe.poll():
            await asyncio.sleep(REPORT_S)
            self._report("ready")
        assert self.pipe.recv() == word

    def _report(self, stage: str) -> None:
        self.pipe.send((stage, self.count, self.waits, self.complaints))
        self.count, self.waits, self.complaints = Counter(), [], []


def run_people(plan: Plan, pipe: Connection) -> None:
    """The main function of a process of people."""

    async def lead() -> None:
        await Crowd(plan, pipe).lead()

    try:
        uvloop.run(lead())
    except (RefusedError, OSError) as error:
        pipe.send(("failed", Counter(), [], [str(error)]))
