"""What a client of the gateway sent, and what it was told: written down at the wire, whoever plays."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from threading import Lock
from typing import Any, Final, NamedTuple

import httpx

REPEATED: Final = 0.3  # of the commands are sent again though they were answered
MAX_REPEATS: Final = 4
UNLOGGED: Final = "rejected"  # the level of an answer without an entry


class Acknowledged(NamedTuple):
    """One answer that names a level."""

    level: str
    number: int  # of the entry; 0 where the command was only accepted
    at_s: float  # by the monotonic clock


@dataclass
class SentCommand:
    """A command, how often it was sent, and every answer to it that names a level."""

    game: str
    id: str
    times: int = 0
    answers: list[Acknowledged] = field(default_factory=list)

    @property
    def levels(self) -> set[str]:
        return {answer.level for answer in self.answers}

    @property
    def numbers(self) -> set[int]:
        """The entries that answers named; more than one is a second verdict."""
        return {answer.number for answer in self.answers} - {0}


class Record:
    """All commands of a run, by game and id, from many threads."""

    def __init__(self) -> None:
        self.commands: dict[tuple[str, str], SentCommand] = {}
        self.authorizations: dict[str, str] = {}  # by game: the header of the player who sent commands
        self.unknown = 0  # answers
        self.without_answer = 0  # requests
        self._lock = Lock()

    def sent(self, game: str, id_: str, authorization: str) -> SentCommand:
        """Note that a command is sent, maybe again."""
        with self._lock:
            command = self.commands.setdefault((game, id_), SentCommand(game, id_))
            command.times += 1
            self.authorizations[game] = authorization
            return command

    def answered(self, command: SentCommand, asked: str, body: dict[str, Any]) -> None:
        """Note what an answer says of it, which was asked for this level."""
        level, now_s = body.get("level"), time.monotonic()
        with self._lock:
            self.unknown += body.get("verdict") == "unknown" and level != asked
            if level and level != UNLOGGED:
                command.answers.append(Acknowledged(level, body.get("number") or 0, now_s))

    def lost_request(self) -> None:
        """Note that a request got no answer that can be read."""
        with self._lock:
            self.without_answer += 1

    @property
    def games(self) -> set[str]:
        with self._lock:
            return {game for game, _ in self.commands}

    def count(self) -> Counter[str]:
        """How many commands were acknowledged at each level, at the highest that an answer named."""
        levels: Counter[str] = Counter()
        for command in self.commands.values():
            for level in command.levels:
                levels[level] += 1
        return levels

    def verdict_times(self) -> dict[str, list[float]]:
        """When verdicts came, by game."""
        times: dict[str, list[float]] = {}
        for command in self.commands.values():
            decided = [answer.at_s for answer in command.answers if answer.number]
            if decided:
                times.setdefault(command.game, []).append(min(decided))
        return {game: sorted(each) for game, each in times.items()}


class RecordingTransport(httpx.HTTPTransport):
    """Sends every command once, and some of them several times, and records the answers."""

    def __init__(self, record: Record, seed: str) -> None:
        super().__init__()
        self.record, self.random = record, Random(seed)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The first answer, as if nothing were sent again."""
        parts = request.url.path.split("/")
        if request.method != "POST" or parts[-1] != "commands":
            return super().handle_request(request)
        answer = self._send_command(request, parts[-2])
        if self.random.random() < REPEATED:
            for _ in range(self.random.randint(1, MAX_REPEATS)):
                try:
                    self._send_command(request, parts[-2])
                except httpx.HTTPError:
                    break
        return answer

    def _send_command(self, request: httpx.Request, game: str) -> httpx.Response:
        command = self.record.sent(
            game, request.headers["Idempotency-Key"], request.headers.get("Authorization", "")
        )
        again = httpx.Request(request.method, request.url, headers=request.headers, content=request.content)
        try:
            answer = super().handle_request(again)
            content = answer.read()
            answer.close()
        except httpx.HTTPError:
            self.record.lost_request()
            raise
        copied = httpx.Response(answer.status_code, headers=answer.headers, content=content)
        if answer.headers.get("content-type", "").endswith("json"):
            self.record.answered(command, request.url.params.get("level", ""), copied.json())
        else:  # a proxy that finds no gateway
            self.record.lost_request()
        return copied
