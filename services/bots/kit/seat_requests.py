"""Requests over HTTP: make a table and start it; take a seat, by name, invitation or link; take one's seat in a play-off.

Each is sent again under the same id until it is answered, so that no seat is taken twice.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

import httpx

from schemas.contract import Json
from services.bots.kit.seat_session import (
    BUSY_STATUSES,
    PAUSE_S,
    KitError,
    ServerRefusedError,
    UnreachableError,
)

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
REQUEST_S: Final = 60.0  # for one answer
PATIENCE_S: Final = 300.0  # how long a server may not answer, before a client gives up


class SeatToken(NamedTuple):
    """A seat that was taken, its server, and its token. The view must show the last two."""

    url: str
    game: str
    seat: int
    token: str
    first_head: str = ""  # after the first entry, as it was before the seat was taken; in hex
    contribution: str = ""  # the player's own part of the deal, in hex


def join(
    url: str,
    game: str,
    name: str,
    invitation: str = "",
    patience_s: float = PATIENCE_S,
    age: int | date | None = None,
) -> SeatToken:
    """Take a free seat of a game, with a contribution to the deal that nobody else knows before. `age` (years, or a
    birthday) counts where the oldest or the youngest begins; only the years are sent.

    Raises ServerRefusedError: no seat is free, or it takes an invitation; UnreachableError."""
    with _client(url) as client:
        first_head = _first_head(client, game, patience_s)
        contribution = secrets.token_hex(32)
        body: dict[str, object] = {"name": name, "contribution": contribution}
        if invitation:
            body["invitation"] = invitation
        if age is not None:
            body["age"] = years_on(datetime.now(UTC).date(), age) if isinstance(age, date) else age
        headers = {"Idempotency-Key": secrets.token_hex(16)}
        request = client.build_request("POST", f"/v1/games/{game}/join", json=body, headers=headers)
        taken = _answer_to(client, request, patience_s)
    return SeatToken(url, game, int(taken["seat"]), str(taken["token"]), first_head, contribution)


def years_on(day: date, birthday: date) -> int:
    """The age in whole years, on a day, of who was born on another."""
    return day.year - birthday.year - ((day.month, day.day) < (birthday.month, birthday.day))


class OwnTable(NamedTuple):
    """A table that was made here, its server, and its host's token."""

    url: str
    game: str
    token: str

    def start(self) -> None:
        """Deal, once every seat is taken. Raises ServerRefusedError; UnreachableError."""
        with _client(self.url) as client:
            path = f"/v1/games/{self.game}/start"
            _answer_to(client, client.build_request("POST", path, headers=_bearer(self.token)), PATIENCE_S)


def create_table(url: str, body: Mapping[str, object]) -> OwnTable:
    """Make a table as the API's `POST /v1/games` does. Raises ServerRefusedError; UnreachableError."""
    with _client(url) as client:
        headers = {"Idempotency-Key": secrets.token_hex(16)}
        request = client.build_request("POST", "/v1/games", json=body, headers=headers)
        created = _answer_to(client, request, PATIENCE_S)
    return OwnTable(url, str(created["game"]), str(created["token"]))


def join_by_link(link: str, name: str, age: int | date | None = None) -> SeatToken:
    """Take the seat that a link of the pages invites to: `http://host/table/GAME#invite=..`; without an invitation any
    free seat. `age` as in `join`. Raises KitError for another link, and what `join` does."""
    parts = urlsplit(link)
    before, table, game = parts.path.rstrip("/").rpartition("/table/")
    if parts.scheme not in ("http", "https") or not table:
        raise KitError(f"{link[:80]} is no link to a table: http://host/table/GAME#invite=..")
    invitation = parse_qs(parts.fragment).get("invite", [""])[0]
    return join(f"{parts.scheme}://{parts.netloc}{before}", game, name, invitation, age=age)


def find_seat(url: str, game: str, token: str) -> SeatToken:
    """The seat that a token is for. Raises ServerRefusedError: it opens none of this game; UnreachableError."""
    with _client(url) as client:
        viewer = _read_view(client, game, token, PATIENCE_S)["viewer"]
    if not isinstance(viewer, int):
        raise ServerRefusedError(403, "TOKEN-1", "this token is the host's: it plays no seat")
    return SeatToken(url, game, viewer, token)


def take_play_off_seat(seat: SeatToken) -> SeatToken:
    """The seat in the game that follows from a shared first place (TIE-1).

    Raises ServerRefusedError: no play-off follows, or this seat isn't in it; UnreachableError."""
    with _client(seat.url) as client:
        path = f"/v1/games/{seat.game}/play-off"
        request = client.build_request("POST", path, headers=_bearer(seat.token))
        taken = _answer_to(client, request, PATIENCE_S)
    return SeatToken(seat.url, str(taken["game"]), int(taken["seat"]), str(taken["token"]))


def list_games(url: str, **wanted: str) -> Iterator[Json]:
    """Every public game of a server that its engine has, the latest created first, read page by page; `wanted` as
    `GET /v1/games` has it (`status="waiting"`). Raises ServerRefusedError; UnreachableError."""
    with _client(url) as client:
        cursor: str | None = ""
        while cursor is not None:
            params = {"most": "200", **wanted, **({"cursor": cursor} if cursor else {})}
            page = _answer_to(client, client.build_request("GET", "/v1/games", params=params), PATIENCE_S)
            yield from page["games"]
            cursor = page.get("next")


def uses_proxy(url: str) -> bool:
    """Whether a proxy of the environment counts: not on the way to this machine itself."""
    return urlsplit(url).hostname not in LOOPBACK


def _client(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, timeout=REQUEST_S, trust_env=uses_proxy(url))


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def _read_view(client: httpx.Client, game: str, token: str, patience_s: float) -> Json:
    path = f"/v1/games/{game}/view"
    request = client.build_request("GET", path, params={"most": 1}, headers=_bearer(token))
    return _answer_to(client, request, patience_s)


def _first_head(client: httpx.Client, game: str, patience_s: float) -> str:
    """The head after the first entry; empty for a private game."""
    try:
        entries = _read_view(client, game, "", patience_s)["entries"]
    except ServerRefusedError as refused:
        if refused.rule != "TOKEN-1":
            raise
        return ""
    return str(entries[0]["head"] or "") if entries else ""


def _answer_to(client: httpx.Client, request: httpx.Request, patience_s: float) -> Json:
    """The JSON object that the server answers, however often it must be asked."""
    deadline = time.monotonic() + patience_s
    while True:
        pause_s, why = PAUSE_S, ""
        try:
            reply = client.send(request)
            if reply.status_code not in BUSY_STATUSES:
                return _read_reply(reply)
            pause_s, why = float(reply.headers.get("Retry-After", PAUSE_S)), reply.text[:200]
        except httpx.TransportError as error:
            why = str(error)
        if time.monotonic() + pause_s > deadline:
            raise UnreachableError(f"{client.base_url} doesn't answer: {why}")
        time.sleep(pause_s)


def _read_reply(reply: httpx.Response) -> Json:
    try:
        body = reply.json()
    except ValueError:
        body = None
    if reply.is_success and isinstance(body, dict):
        return body
    problem: Mapping[str, object] = body if isinstance(body, dict) else {}
    raise ServerRefusedError.of_problem(
        {"title": f"HTTP {reply.status_code}", "status": reply.status_code, **problem}
    )
