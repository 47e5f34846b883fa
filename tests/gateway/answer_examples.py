"""Records an example of every endpoint's answer for the OpenAPI document: `python -m tests.gateway.answer_examples`.

A whole server answers; long lists are cut. tests/gateway/test_openapi.py compares each example with its schema."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import httpx

from services.bootstrap.embedded import run_embedded_server
from services.gateway.models import openapi
from services.gateway.models.openapi import EXAMPLES_FILE, example_name
from tests.auditor.webhook_receiver import Browser
from tests.gateway.clients import LEAVE, Json, bearer, in_turn
from tests.many_clients import settings_for_many_clients

FOLDER: Final = Path(openapi.__file__).parent
MOST_ITEMS: Final = 2


def main() -> None:
    """Write the file."""
    with (
        tempfile.TemporaryDirectory() as data,
        run_embedded_server(Path(data), settings_for_many_clients()) as running,
        httpx.Client(base_url=running.url, timeout=60, trust_env=False) as http,
    ):
        examples = record(http)
    text = json.dumps(examples, indent=1, ensure_ascii=False) + "\n"
    (FOLDER / EXAMPLES_FILE).write_text(text, encoding="utf-8")


class Recorder:
    """Asks a server, and keeps the answers by name."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        self.found: Json = {}

    def note(
        self, method: str, path: str, token: str | None = None, body: object = None, **parts: str
    ) -> Json:
        """The answer to a request, which is kept."""
        reply = self.http.request(method, path.format(**parts), json=body, headers=bearer(token))
        assert reply.is_success, reply.text
        answer: Json = reply.json()
        self.found[example_name(method.lower(), path.partition("?")[0])] = shortened(answer)
        return answer


def record(http: httpx.Client) -> Json:
    """The examples by name."""
    recorder = Recorder(http)
    record_game(recorder)
    record_disputed_game(recorder, http)
    for path in ("/v1/games", "/v1/boards", "/v1/boards/{board}", "/v1/rulesets", "/v1/public-keys", "/health", "/health/live",
                 "/health/ready", "/rules", "/rules/{rule}"):  # fmt: skip
        recorder.note("GET", path, board="usa", rule="TURN-1")
    return recorder.found


def record_game(recorder: Recorder) -> None:
    """A game that is created, joined, started, looked at and left; and what can't be had at once: an end by the host, a
    play-off."""
    people = [{"kind": "human"}, {"kind": "bot", "policy": "greedy"}]
    created = recorder.note("POST", "/v1/games", body={"seats": people, "visibility": "public"})
    game = created["game"]
    joined = recorder.note("POST", "/v1/games/{game}/join", body={"name": "Ada"}, game=game)
    started = recorder.note("POST", "/v1/games/{game}/start", created["token"], game=game)
    recorder.note("POST", "/v1/games/{game}/withdraw-token", created["token"], game=game)
    for path in ("view", "state", "legal", "board", "replays", "replays/{number}", "suggestions"):
        recorder.note("GET", "/v1/games/{game}/" + path, joined["token"], game=game, number="4")
    record_webhook(recorder, game, joined["token"])
    record_push(recorder, game, joined["token"])
    recorder.note("POST", "/v1/games/{game}/leave", joined["token"], game=game)
    record_seats(recorder)
    recorder.found[example_name("post", "/v1/games/{game}/end")] = {**started, "number": 120}
    seat = {"game": "9d0e4b1f77c2", "seat": 0, "token": joined["token"]}
    recorder.found[example_name("post", "/v1/games/{game}/play-off")] = seat


def record_webhook(recorder: Recorder, game: str, token: str) -> None:
    """A webhook that is set, was notified of an entry, and is removed."""
    path, body = "/v1/games/{game}/webhook", {"url": "https://bot.example.org/ledgerline"}
    recorder.note("PUT", path, token, body, game=game)
    state = recorder.note("GET", path, token, game=game)
    recorder.found[example_name("get", path)] = {**state, "notified": 4}
    recorder.note("POST", f"{path}/test", token, game=game)
    recorder.note("DELETE", path, token, game=game)


def record_push(recorder: Recorder, game: str, token: str) -> None:
    """A device that is told by Web Push, and then isn't any more."""
    recorder.note("GET", "/v1/push-key")
    path, body = "/v1/games/{game}/push", {"endpoint": "https://push.example.org/1", "keys": Browser().keys}
    recorder.note("PUT", path, token, body, game=game)
    recorder.note("DELETE", path, token, game=game)


def record_seats(recorder: Recorder) -> None:
    """A game whose host frees a seat, and lets a bot take another."""
    created = recorder.http.post("/v1/games", json={"seats": [{"kind": "human"}] * 3}).json()
    game, host = created["game"], created["token"]
    recorder.http.post(f"/v1/games/{game}/join", json={"name": "Ada", "seat": 1}).raise_for_status()
    recorder.note("POST", "/v1/games/{game}/seats/{seat}/free", host, game=game, seat="1")
    recorder.note(
        "POST", "/v1/games/{game}/seats/{seat}/bot", host, {"policy": "greedy"}, game=game, seat="2"
    )


def record_disputed_game(recorder: Recorder, http: httpx.Client) -> None:
    """A game with a dispute, which is forked, left and audited."""
    ada, bo = in_turn(http)
    recorder.note("POST", "/v1/games/{game}/commands", ada.token, {"type": "draw_blind"}, game=ada.game)
    dispute = {"number": 7, "reason": "The card that I drew isn't in my hand."}
    raised = recorder.note("POST", "/v1/games/{game}/disputes", ada.token, dispute, game=ada.game)
    recorder.note("GET", "/v1/games/{game}/disputes", ada.token, game=ada.game)
    await_answer(http, raised["address"], ada.token)
    path = "/v1/games/{game}/disputes/{dispute}"
    recorder.note("GET", path, ada.token, game=ada.game, dispute=raised["dispute"])
    recorder.note("POST", "/v1/games/{game}/forks", ada.token, {"at": 6}, game=ada.game)
    for player in (ada, bo):
        player.send(LEAVE)
    while http.get(f"/v1/games/{ada.game}/audit").status_code == 503:
        time.sleep(0.5)
    recorder.note("GET", "/v1/games/{game}/audit?at=7", game=ada.game)
    recorder.note("GET", "/v1/games/{game}/choices/{place}?seat=0", game=ada.game, place="0")
    for method in ("POST", "GET"):
        recorder.note(method, "/v1/games/{game}/rematch", ada.token, game=ada.game)


def await_answer(http: httpx.Client, address: str, token: str) -> None:
    """Return once a dispute has its answer."""
    while http.get(address, headers=bearer(token)).json()["answer"] is None:
        time.sleep(0.2)


def shortened(value: Any) -> Any:  # any JSON value, and one of the same type
    """The value with the first of each long list and mapping, and without what differs each time and says nothing."""
    if isinstance(value, list):
        return [shortened(part) for part in value[:MOST_ITEMS]]
    if isinstance(value, dict):
        keys = [*value] if len(value) < 40 else [*value][:MOST_ITEMS]
        return {key: shortened(value[key]) for key in keys}
    if isinstance(value, str) and len(value) > 200:
        return value[:197] + "..."
    return value


if __name__ == "__main__":
    main()
