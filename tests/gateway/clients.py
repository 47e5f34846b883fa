"""Clients of a gateway: what players and programs send, and checks of the answers."""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Iterable
from typing import Any, Final

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from schemas.commands import Command, write_command
from schemas.events import SCHEMAS, Event
from schemas.published_contracts import ALL_RULES
from schemas.web.tokens import Holder, Token, TokenKeys
from services.referee.games import GameState, fold_events, legal

Json = dict[str, Any]
MEDIA_TYPE: Final = "application/problem+json"
DRAW: Final[Json] = {"type": "draw_blind"}
LEAVE: Final[Json] = {"type": "leave"}
VALIDATORS_WORDS: Final = re.compile(
    "Input should|valid (integer|string)|Field required|dictionary|instance of|codec"
)
ANSWER_S: Final = 60  # long enough for a busy machine; nothing waits for it when all is well


def new_id() -> str:
    return secrets.token_hex(12)


def listed_games(http: httpx.Client, **query: int) -> list[str]:
    """The ids of the games that the server lists."""
    return [each["game"] for each in http.get("/v1/games", params=query).json()["games"]]


def bearer(token: str | None) -> dict[str, str]:
    return {} if token is None else {"Authorization": f"Bearer {token}"}


def minted(
    key: bytes | str, game: str, seat: int | None, generation: int = 0, ends_at_s: int = 1 << 40
) -> str:
    """A token as who has the key can make it."""
    keys = TokenKeys(key.encode() if isinstance(key, str) else key)
    return keys.mint(Token(Holder(game, seat), generation, ends_at_s))


def plan(player: str) -> Json:
    """A seat for a human, or for a bot of a policy."""
    return {"kind": "human"} if player == "human" else {"kind": "bot", "policy": player}


class CreatedGame:
    """A game that was created: its id and its host's token."""

    def __init__(self, http: httpx.Client, *seats: str, **more: Any) -> None:
        reply = http.post("/v1/games", json={"seats": [plan(player) for player in seats], **more})
        assert reply.status_code == 201, reply.text
        self.http, self.reply = http, reply.json()
        self.game, self.host = self.reply["game"], self.reply["token"]

    def join(self, name: str, seat: int | None = None, **more: object) -> Player:
        body = {"name": name, **more} if seat is None else {"name": name, "seat": seat, **more}
        reply = self.http.post(f"/v1/games/{self.game}/join", json=body)
        assert reply.status_code == 200, reply.text
        return Player(self.http, self.game, reply.json()["seat"], reply.json()["token"])

    def start(self) -> None:
        reply = self.http.post(f"/v1/games/{self.game}/start", headers=bearer(self.host))
        assert reply.status_code == 200, reply.text


class Player:
    """A client with a seat's token: it sends commands, reads its view and folds it."""

    def __init__(self, http: httpx.Client, game: str, seat: int, token: str) -> None:
        self.http, self.game, self.seat, self.token = http, game, seat, token
        self.state, self.number = GameState(), 0

    def send(self, command: Any, id_: str | None = None, **more: Any) -> httpx.Response:
        headers = bearer(self.token) | ({} if id_ is None else {"Idempotency-Key": id_})
        return self.http.post(f"/v1/games/{self.game}/commands", json=command, headers=headers | more)

    def ask(self, command: Any, id_: str, level: str, wait_ms: int = 60_000) -> httpx.Response:
        """Send a command, and ask for a level of acknowledgement."""
        path, params = f"/v1/games/{self.game}/commands", {"level": level, "wait_ms": str(wait_ms)}
        headers = bearer(self.token) | {"Idempotency-Key": id_}
        return self.http.post(path, json=command, params=params, headers=headers)

    def look(self) -> GameState:
        """The state of the game as this seat sees it now."""
        for entry in entries(self.http, self.game, self.token, self.number):
            fold_events(self.state, entry["at"], read_events(entry))
            self.number = entry["number"]
        return self.state

    def legal(self) -> list[Command]:
        return legal(self.look(), self.seat)

    def do(self, command: Command) -> Json:
        """Send a command that must be accepted; returns its entry."""
        reply = self.send(write_command(command))
        assert reply.status_code == 200, reply.text
        body: Json = reply.json()
        assert body["verdict"] == "accepted"
        entry: Json = body["entry"]
        return entry


def seated(http: httpx.Client, people: int = 2, **more: Any) -> list[Player]:
    """The players of a game that isn't started yet; each of them may start it."""
    created = CreatedGame(http, *["human"] * people, **more)
    return [created.join(name) for name in ("Ada", "Bo", "Cy", "Dee", "Eve")[:people]]


def begun(http: httpx.Client, people: int = 2, **more: Any) -> list[Player]:
    """The players of a game that has started: all of them choose their tickets now."""
    players = seated(http, people, **more)
    reply = http.post(f"/v1/games/{players[0].game}/start", headers=bearer(players[0].token))
    assert reply.status_code == 200, reply.text
    return players


def in_turn(http: httpx.Client, people: int = 2, **more: Any) -> list[Player]:
    """The same after everybody chose: seat 0 is to act."""
    players = begun(http, people, **more)
    for player in players:
        player.do(player.legal()[0])
    return players


def entries(http: httpx.Client, game: str, token: str | None, after: int = 0) -> list[Json]:
    reply = http.get(f"/v1/games/{game}/view", params={"after": after}, headers=bearer(token))
    assert reply.status_code == 200, reply.text
    assert not reply.json()["more"]
    found: list[Json] = reply.json()["entries"]
    return found


def over(http: httpx.Client) -> tuple[str, int]:
    """A game of bots that is over, and the number of its last entry."""
    created = CreatedGame(http, "greedy", "random", seed="over", options={"last_cars": 35, "cars": 45})
    created.start()
    return created.game, ended(http, created.game)


def ended(http: httpx.Client, game: str) -> int:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        view = entries(http, game, None)
        if any(event["type"] == "game_ended" for event in view[-1]["events"]):
            return int(view[-1]["number"])
        time.sleep(0.05)
    raise AssertionError("the game doesn't end")


def read_events(entry: Json) -> list[Event]:
    """The events of a view's entry, read from JSON through their contracts."""
    return [
        SCHEMAS[row["type"]].read({k: v for k, v in row.items() if k != "type"}) for row in entry["events"]
    ]


def problem(reply: httpx.Response, status: int, rule: str, field: str | None = None) -> Json:
    """The problem details that this reply must be."""
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == MEDIA_TYPE
    return check_problem_body(reply.json(), status, rule, field)


def check_problem_body(body: Json, status: int, rule: str, field: str | None = None) -> Json:
    assert body["type"] == f"/rules/{rule}", body
    assert (body["title"], body["status"], body["rule"]) == (ALL_RULES[rule], status, rule)
    assert body["detail"]
    assert not VALIDATORS_WORDS.search(body["detail"]), body
    assert body.get("field") == field, body
    return body


def unknown(reply: httpx.Response, level: str, number: int | None = None) -> None:
    """Assert that the verdict is unknown: the answer has the level that was reached, and what to do."""
    assert reply.status_code == 202, reply.text
    body = reply.json()
    assert (body["verdict"], body["level"], body.get("number")) == ("unknown", level, number)
    assert "same id" in body["detail"]


def plain_problem(reply: httpx.Response, status: int) -> Json:
    """A problem of HTTP itself, which no rule is about."""
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == MEDIA_TYPE
    body: Json = reply.json()
    assert body["type"] == "about:blank"
    assert body["status"] == status
    assert body["title"]
    return body


class Socket:
    """A WebSocket on a game, with JSON in and out."""

    def __init__(
        self,
        http: httpx.Client,
        game: str,
        token: str | None = None,
        after: int | str = 0,
        head: str = "",
        legal: bool = False,
        asked: str = "",
        token_in_message: str | None = None,
        **more: Any,
    ) -> None:
        url = str(http.base_url.copy_with(scheme="ws")).rstrip("/")
        more.setdefault("additional_headers", bearer(token))
        known = f"after={after}" + (f"&head={head}" if head else "") + "&legal=true" * legal + asked
        self._first = token_in_message
        known += "&authenticate=true" * (token_in_message is not None)
        self._opening = connect(f"{url}/v1/games/{game}/play?{known}", proxy=None, **more)

    def __enter__(self) -> Socket:
        self.wire: ClientConnection = self._opening.__enter__()
        if self._first is not None:
            self.wire.send(json.dumps({"token": self._first}))
        return self

    def __exit__(self, *error: Any) -> None:
        self._opening.__exit__(*error)

    def send(self, id_: object, command: object, **more: object) -> None:
        self.wire.send(json.dumps({"id": id_, "command": command, **more}))

    def receive(self, timeout: float = ANSWER_S) -> Json:
        """The next message, whatever it is."""
        message: Json = json.loads(self.wire.recv(timeout))
        return message

    def next(self, timeout: float = ANSWER_S) -> Json:
        """The next message after the first, which says where the log is."""
        message = self.receive(timeout)
        return self.receive(timeout) if message["type"] == "attached" else message

    def read(self, count: int) -> list[Json]:
        """The next messages, which must be entries, without their type."""
        found = [self.next() for _ in range(count)]
        assert {message.pop("type") for message in found} <= {"entry"}, found
        return found

    def problem(self, id_: object, status: int, rule: str, field: str | None = None) -> Json:
        """The next message, which must be this problem."""
        message = self.next()
        assert (message["type"], message["id"]) == ("problem", id_), message
        return check_problem_body(message["problem"], status, rule, field)


def numbers(found: Iterable[Json]) -> list[int]:
    return [entry["number"] for entry in found]


def closed(socket: Socket) -> int:
    """The code that the gateway closes with."""
    return closed_why(socket)[0]


def closed_why(socket: Socket) -> tuple[int, str]:
    """The code that the gateway closes with, and its reason."""
    with pytest.raises(ConnectionClosed) as ended:
        raise AssertionError(f"it is open: {socket.next(10)}")
    assert ended.value.rcvd is not None
    return int(ended.value.rcvd.code), ended.value.rcvd.reason
