"""The operator's page and `ledgerline top`: all of the system for who has the key, and nothing that a seat hides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import pytest
from pydantic import SecretStr

from schemas.commands import CommandEnvelope
from schemas.stored.codec import pack_envelope
from schemas.trains.commands import DrawBlind
from services.bootstrap.embedded import run_embedded_server
from services.bootstrap.operator_reads import OperatorReads
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, init_partition_count
from services.metrics import declared as metrics
from services.runtime.settings import read_settings
from tests.cli.command_line import run_in_process
from tests.deploy.compose import wait_until
from tests.security.engine_with_users import engine_with_users

KEY: Final = "an operator's key that nobody guesses"
LINE: Final = "KeyError: 'a purple card'"


class Watched(NamedTuple):
    """A server with a game of two people, its tokens, and a dead letter."""

    http: httpx.Client
    url: str  # of the engine
    game: str
    tokens: list[str]

    def overview(self, **asked: str) -> dict[str, Any]:
        reply = self.http.get("/v1/operator", params=asked, headers=bearer(KEY))
        assert reply.status_code == 200, reply.text
        found: dict[str, Any] = reply.json()
        return found

    def act(self, action: str, name: str, reason: str = "") -> httpx.Response:
        body = {"action": action, "name": name, "reason": reason}
        return self.http.post("/v1/operator", json=body, headers=bearer(KEY))


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    settings = read_settings(port=0, operator_key=SecretStr(KEY))
    with (
        run_embedded_server(tmp_path_factory.mktemp("operator"), settings) as server,
        httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http,
    ):
        seats = [{"kind": "human"}, {"kind": "human"}]
        created = http.post("/v1/games", json={"ruleset": "usa", "seats": seats}).json()
        game, tokens = created["game"], [created["token"]]
        for name in ("Ada", "Bo"):
            tokens.append(http.post(f"/v1/games/{game}/join", json={"name": name}).json()["token"])
        started = http.post(f"/v1/games/{game}/start", headers=bearer(created["token"]))
        assert started.status_code == 200, started.text
        yield Watched(http, server.settings.redis_url, game, tokens)


def add_dead_letter(url: str, id_: str, game: str) -> None:
    """Have a command break its referee, as a person finds it later."""
    with closing(connect(url)) as client:
        ledger = RedisLedger(client, init_partition_count(client))
        envelope = CommandEnvelope(id_, game, 1, DrawBlind())
        stream = keys.dead_letters(ledger.partition_of(game))
        untyped: Any = client
        untyped.xadd(stream, {"reason": LINE, "c": pack_envelope(envelope), "deliveries": 3})


@pytest.mark.parametrize("path", ["/v1/operator"])
def test_without_the_key_it_is_401_and_with_another_403(watched: Watched, path: str) -> None:
    for method in ("GET", "POST"):
        missing = watched.http.request(method, path)
        assert (missing.status_code, "WWW-Authenticate" in missing.headers) == (401, True)
        wrong = watched.http.request(method, path, headers=bearer("another key of thirty-two characters"))
        assert (wrong.status_code, wrong.json()["detail"]) == (403, "this isn't the operator's key")
        token = watched.http.request(method, path, headers=bearer(watched.tokens[0]))
        assert token.status_code == 403


def test_everything_is_there_and_nothing_that_a_seat_hides(watched: Watched) -> None:
    add_dead_letter(watched.url, "shown", watched.game)
    wait_until(lambda: len(watched.overview()["system"]["services"]) == 4)
    found = watched.overview()
    assert {*found} == {
        "system", "games", "dead_letters", "disputes", "jobs", "webhooks", "limits", "ready",
    }  # fmt: skip
    [game] = [row for row in found["games"] if row["game"] == watched.game]
    assert (game["state"], game["entries"] >= 4) == ("playing", True)
    assert 0 <= game["idle_s"] <= game["age_s"] < 600
    dead = found["dead_letters"][-1]
    assert (dead["game"], dead["command"], dead["error"]) == (watched.game, "draw_blind", "KeyError")
    text = json.dumps(found)
    assert [secret for secret in (*watched.tokens, KEY, "purple") if secret in text] == []
    watched.act("drop dead letter", dead["letter"])


def test_buttons_retry_and_drop_dead_letters_once(watched: Watched) -> None:
    for action, word in (("drop dead letter", "dropped"), ("retry dead letter", "queued again")):
        add_dead_letter(watched.url, action.replace(" ", "-"), watched.game)
        letter = watched.overview()["dead_letters"][-1]["letter"]
        assert watched.act(action, letter).json()["done"] == f"{letter} is {word}."
        again = watched.act(action, letter)
        assert (again.status_code, "any more" in again.json()["detail"]) == (422, True)


def test_dead_letters_are_shown_from_one_on(watched: Watched) -> None:
    for id_ in ("one", "two"):
        add_dead_letter(watched.url, id_, watched.game)
    *_, first, second = [row["letter"] for row in watched.overview()["dead_letters"]]
    assert [row["letter"] for row in watched.overview(dead_after=first)["dead_letters"]] == [second]
    assert "is named as" in watched.overview(dead_after="p0/x")["dead_letters"]["error"]
    for letter in (first, second):
        watched.act("drop dead letter", letter)


def test_an_entry_is_disputed_and_a_job_that_isnt_there_is_named(watched: Watched) -> None:
    done = watched.act("dispute", f"{watched.game}:2", "was that all right?")
    assert done.status_code == 200, done.text
    [dispute] = watched.overview()["disputes"]
    assert (dispute["number"], dispute["seat"], dispute["reason"]) == (2, None, "was that all right?")
    assert watched.act("dispute", f"{watched.game}:9999", "why").status_code == 422
    assert watched.act("retry job", "archive-000000000000").status_code == 422
    assert "is one of" in watched.act("explode", "it").json()["detail"]


def test_guesses_of_the_key_are_limited_as_reads_are(tmp_path: Path) -> None:
    settings = read_settings(port=0, operator_key=SecretStr(KEY), read_rate=1)
    with (
        run_embedded_server(tmp_path, settings) as server,
        httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http,
    ):
        guesses = [http.get("/v1/operator", headers=bearer(f"guess {n:040}")).status_code for n in range(12)]
        assert {*guesses} == {403, 429}

        def limits() -> dict[str, int]:
            reply = http.get("/v1/operator", headers=bearer(KEY))
            found: dict[str, int] = reply.json()["limits"] if reply.status_code == 200 else {}
            return found

        wait_until(lambda: limits().get("RATE-1"))


def test_P8_a_gateways_own_user_reads_no_dead_letter_and_the_page_says_who_may(tmp_path: Path) -> None:
    with engine_with_users(tmp_path) as engine:
        with closing(connect(engine.url("operator"))) as client:
            init_partition_count(client, 4)
        reads = OperatorReads(read_settings(redis_url=engine.url("gateway")))
        with closing(reads):
            found: Any = reads.overview()
        with closing(OperatorReads(read_settings(redis_url=engine.url("operator")))) as of_operator:
            shown: Any = of_operator.overview()
    assert found["dead_letters"]["error"].endswith("`ledgerline dead list` shows it")
    assert shown["dead_letters"] == []


def test_top_shows_the_same_on_a_terminal(watched: Watched) -> None:
    shown = run_in_process("top", "--once", LEDGERLINE_REDIS_URL=watched.url)
    assert shown.returncode == 0, shown.stderr
    for words in ("healthy", "Services", "games (", watched.game, "dead letters", "jobs", "webhooks"):
        assert words in shown.stdout, words
    assert (
        "the engine doesn't answer"
        in run_in_process("top", LEDGERLINE_REDIS_URL="redis://127.0.0.1:1").stderr
    )


def test_top_shows_the_limits_that_a_gateway_hit_to_who_has_the_key(watched: Watched) -> None:
    metrics.LIMIT_HITS.add("RATE-1", count=7)
    words = ("top", "--once", "--gateway", str(watched.http.base_url))
    look = partial(run_in_process, *words, LEDGERLINE_REDIS_URL=watched.url)
    shown = look(LEDGERLINE_OPERATOR_KEY=KEY)
    assert "limits (" in shown.stdout
    assert "RATE-1" in shown.stdout
    another = look(LEDGERLINE_OPERATOR_KEY="another key of 32 characters or more")
    assert "doesn't say" in another.stdout
    keyless = look()
    assert (keyless.returncode, "LEDGERLINE_OPERATOR_KEY" in keyless.stderr) == (2, True)
