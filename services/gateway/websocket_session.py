"""The WebSocket: a view comes down as it grows, commands go up the same socket.

Down come entries `{"type": "entry", "number", "at", "answers", "events", "head"}`; one that
`answers` your command's id is its verdict. With `?proofs=true` each has a `proof`, the very bytes
that its head is made of (docs/proof.md). What got no entry comes as `{"type":
"problem", "id", ..}`. Up go `{"id": "..", "command": {"type": .., ..}}`.

A command may name a `level` and `wait_ms`; then `{"type": "acknowledged", "id", "level",
"number", "head"}` comes when it has that. What has no verdict in time, or isn't that sure, is
`{"type": "unknown", "id", "level", ..}`: its entry may still come.

Who is closed with 1013 may come back and go on from its last number; where the reason says so,
from 0, because a fail-over took entries back. That may also happen while nobody listens, so a
client does well to ask from the entry before its last, and to compare.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Final

from fastapi import WebSocket, WebSocketDisconnect
from pydantic_core import to_json
from redis.exceptions import RedisError

from schemas import tokens
from schemas.codec import Corrupt
from schemas.commands import Letter
from schemas.contract import Malformed, Shape
from schemas.field_types import CommandId, Seat
from services.gateway.command_tracking import AGAIN, TOLD, Ask, Reached
from services.gateway.dependencies import client_of
from services.gateway.problem_details import Problem, malformed, refused
from services.gateway.request_parsing import read_bearer, read_object
from services.gateway.service import Door
from services.gateway.subscriptions import Damaged, Dropped, Sent, sent
from services.gateway.websocket_protocol import lay_of
from services.ledger import Gap
from services.ledger.ack_levels import ACCEPTED
from services.ledger.view_merge import TakenBack
from services.runtime.logging_setup import get_log

log = get_log("gateway")
SUBPROTOCOL: Final = "ledgerline"
TOKEN_PREFIX: Final = "token."  # noqa: S105 - no secret; a browser can't send headers: its token comes as a subprotocol
UNANSWERED_MOST: Final = 64  # commands of one socket that wait for their verdict
UNSENT_MOST: Final = 1 << 20  # bytes that wait for a slow client before it is dropped

FIELDS: Final = {"id", "command", "level", "wait_ms"}

_COMMAND_ID: Final[Shape[str]] = Shape(CommandId, "id")
REASON_MOST: Final = 123  # bytes that fit into a closing frame
DONE, GOING_AWAY, POLICY, BROKEN, TRY_LATER = 1000, 1001, 1008, 1011, 1013
BACK: Final = "the engine lost the last entries, and the game went on before them: come back from 0"
AWAY: Final = "the engine doesn't answer: come back and go on"


class PlaySocket:
    """One client's socket: who it is, what it has seen, what it waits for."""

    def __init__(self, door: Door, websocket: WebSocket, game: str, after: int, proofs: bool = False) -> None:
        self.door, self.socket, self.game, self.after = door, websocket, game, after
        self.proofs = proofs
        self.viewer: Seat | None = None
        self.waiting: dict[str, float] = {}  # ids of commands that have no verdict yet, and until when
        self.following: set[str] = set()  # ids of commands whose level is being waited for
        self.tasks = asyncio.TaskGroup()
        self.lay = lay_of(websocket.scope)

    async def run(self) -> None:
        """Serve the client until either side ends it."""
        offered = self.socket.scope.get("subprotocols") or []
        await self.socket.accept(SUBPROTOCOL if SUBPROTOCOL in offered else None)
        try:
            length, left = await self.door.standing(self.game, client_of(self.socket))
            bearer = read_bearer(self.socket.headers.get("authorization")) or _offered_token(offered)
            holder = self.door.holder(self.game, bearer) if bearer else tokens.Holder(self.game, None)
            self.viewer = holder.seat
            if not 0 <= self.after <= length:
                raise Problem(422, "SHAPE-1", f"after: {self.after} isn't between 0 and {length}")
            if left:
                await self._show()
                return
        except Problem as problem:
            with suppress(RuntimeError, WebSocketDisconnect):
                await self._tell(problem, None)
            await self._end(POLICY, problem.why)
            return
        except (RedisError, OSError) as error:
            log.error("socket ended", game=self.game, error=str(error))
            await self._end(TRY_LATER, AWAY)
            return
        await self._serve()

    async def _show(self) -> None:
        """Send what is left to see of a game that is in the archive."""
        with suppress(RuntimeError, WebSocketDisconnect):
            for entry in await self.door.archived.view(self.game, self.viewer) or ():
                if entry.number > self.after:
                    await self.socket.send_text(sent(entry, self.proofs)[2])
        await self._end(DONE, "the game is over")

    async def _serve(self) -> None:
        try:
            async with self.tasks:
                for side in (self._down(), self._up(), self._verdicts()):
                    self.tasks.create_task(side)
        except* (WebSocketDisconnect, RuntimeError):
            pass  # the client went, or a message met a closed socket
        except* Dropped as dropped:
            why = str(dropped.exceptions[0])
            log.info("viewer dropped", game=self.game, seat=self.viewer, sequence=self.after, why=why)
            await self._end(TRY_LATER, f"{why}: come back and go on")
        except* TakenBack as back:
            log.error("socket ended", game=self.game, seat=self.viewer, error=str(back.exceptions[0]))
            await self._end(TRY_LATER, BACK)
        except* (Damaged, Gap, Corrupt) as damaged:
            log.error("socket ended", game=self.game, seat=self.viewer, error=str(damaged.exceptions[0]))
            await self._end(BROKEN, "this game's view is damaged")
        except* (RedisError, OSError) as broken:
            log.error("socket ended", game=self.game, seat=self.viewer, error=str(broken.exceptions[0]))
            await self._end(TRY_LATER, AWAY)

    async def _down(self) -> None:
        session = self.door.hub.attach(self.game, self.viewer, self.after, self.proofs)
        hand = self._hand if self.lay else None
        try:
            async for number, answers, text in self.door.hub.follow(self.game, session, self.after, hand):
                self._note(number, answers)
                await self.socket.send_text(text)
        finally:
            self.door.hub.detach(self.game, session)

    def _hand(self, sent: Sent) -> bool:
        """Send an entry at once. False where too much waits already for a slow client."""
        assert self.lay is not None, "else nothing is handed here"
        number, answers, text = sent
        if number <= self.after:
            return True
        self._note(number, answers)
        return self.lay(text) <= UNSENT_MOST

    def _note(self, number: int, answers: str | None) -> None:
        """An entry goes down; what waited for it is answered."""
        if answers is not None:
            self.waiting.pop(answers, None)
            log.debug("verdict", game=self.game, seat=self.viewer, command=answers, sequence=number)
        self.after = number

    async def _up(self) -> None:
        while True:
            message = await self.socket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message.get("code", GOING_AWAY))
            await self._take(message.get("text") or message.get("bytes") or "")

    async def _take(self, text: bytes | str) -> None:
        """One message from the client: a command goes on its way, anything else is a problem."""
        id_: object = None
        try:
            message = read_object(text)
            id_ = message.get("id")
            if unknown := message.keys() - FIELDS:
                raise Malformed(sorted(unknown)[0], "there is no such field")
            if self.viewer is None:
                raise Problem(403, "TOKEN-1", "only a seat's token may send commands")
            if len(self.waiting.keys() | self.following) >= UNANSWERED_MOST:
                why = f"{UNANSWERED_MOST} commands wait for their verdict"
                raise Problem(429, "RATE-1", why, retry_after=1)
            letter = self.door.letter(self.game, self.viewer, message.get("command"), _id(id_))
            ask = self.door.ask(message.get("level"), message.get("wait_ms"))
            await self._send(letter, ask, followed=bool(message.keys() & {"level", "wait_ms"}))
        except Malformed as error:
            await self._tell(malformed(error), id_)
        except Problem as problem:
            await self._tell(problem, id_)

    async def _send(self, letter: Letter, ask: Ask, *, followed: bool) -> None:
        """Put a command on its way. Raises Problem: then it isn't."""
        await self.door.verdicts.require(self.game, ask.level)
        self.waiting[letter.id] = asyncio.get_running_loop().time() + ask.wait_s
        try:
            await self.door.verdicts.send(letter)
        except Problem:
            self.waiting.pop(letter.id, None)
            raise
        except (RedisError, OSError):  # the engine may have it or not: its verdict may still come
            self.waiting.pop(letter.id, None)
            await self._say("unknown", letter.id, {**Reached().body(), "detail": AGAIN})
            return
        if ask.level == ACCEPTED:
            await self._say("acknowledged", letter.id, Reached(ACCEPTED).body())
        elif followed:
            self.following.add(letter.id)
            self.tasks.create_task(self._follow(letter, ask))

    async def _follow(self, letter: Letter, ask: Ask) -> None:
        """Tell when a command has the level asked for, or that its time is over."""
        try:
            reached = await self.door.verdicts.catch_up(letter, ask)
        except Problem:
            return  # answered without an entry: whoever looks for verdicts tells it
        finally:
            self.following.discard(letter.id)
        if reached.entry is not None:
            await self._say("acknowledged", letter.id, reached.body())
            return
        self.waiting.pop(letter.id, None)
        await self._say("unknown", letter.id, {**reached.body(), "detail": AGAIN})

    async def _verdicts(self) -> None:
        """Tell of commands that were answered without a new entry, and of those that are late."""
        with self.door.hub.bell_of(self.game, every=False, waiting=self.waiting) as rung:
            while True:
                await rung.wait()
                rung.clear()
                for id_ in tuple(self.waiting):
                    await self._look_for(id_)

    async def _look_for(self, id_: str) -> None:
        answer = await self.door.ledger.answer(self.game, self.viewer, id_)
        if id_ not in self.waiting:
            return  # it went down with its entry while we asked
        if answer is None:
            await self._wait_no_longer(id_)
        elif not answer.number:
            del self.waiting[id_]
            await self._tell(refused(answer.rule, answer.why, level=TOLD), id_)
        elif answer.number <= self.after:  # an id sent again: its verdict goes down again
            del self.waiting[id_]
            for entry in await self.door.ledger.seen(self.game, self.viewer, answer.number - 1, 1):
                await self.socket.send_text(sent(entry, self.proofs)[2])

    async def _wait_no_longer(self, id_: str) -> None:
        """A command that is late gives its place to another; its verdict may still come."""
        late = asyncio.get_running_loop().time() >= self.waiting[id_]
        if late and id_ not in self.following:  # who follows one tells of it
            del self.waiting[id_]
            await self._say("unknown", id_, {**Reached(ACCEPTED).body(), "detail": AGAIN})

    async def _say(self, type_: str, id_: str, more: dict[str, Any]) -> None:
        await self.socket.send_text(to_json({"type": type_, "id": id_, **more}).decode())

    async def _tell(self, problem: Problem, id_: object) -> None:
        body: dict[str, Any] = {"type": "problem", "id": id_, "problem": problem.body()}
        await self.socket.send_text(to_json(body).decode())

    async def _end(self, code: int, why: str) -> None:
        with suppress(RuntimeError, WebSocketDisconnect):
            await self.socket.close(code, why.encode()[:REASON_MOST].decode(errors="ignore"))


def _id(id_: object) -> str | None:
    return None if id_ is None else _COMMAND_ID.read(id_)


def _offered_token(offered: list[str]) -> str | None:
    return next((name.removeprefix(TOKEN_PREFIX) for name in offered if name.startswith(TOKEN_PREFIX)), None)
