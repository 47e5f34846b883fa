"""A whole server: a game ends, goes into the archive, leaves the engine, and nobody who looks notices."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from schemas.errors import InvalidInputError
from services.archive import Archive, decode_game_file
from services.bootstrap.composition import open_ledger, run_auditor
from services.bootstrap.embedded import EmbeddedServer, open_jobs_for_reading, run_embedded_server
from services.ledger import RedisLedger
from services.runtime.settings import read_settings
from tests.cli.command_line import run_in_process
from tests.deploy.compose import wait_until
from tests.gateway.clients import LEAVE, Socket, bearer, closed_why, new_id

BODY = {"seats": [{"kind": "human"}, {"kind": "bot", "policy": "greedy"}], "options": {"cars": 8}}


class Home(NamedTuple):
    data: Path
    running: EmbeddedServer
    http: httpx.Client
    ledger: RedisLedger
    archive: Archive


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    data = tmp_path_factory.mktemp("house")
    settings = read_settings(port=0, rate=10_000, burst=100_000, archived_stays_s=0)
    with (
        run_embedded_server(data, settings) as running,
        httpx.Client(base_url=running.url, timeout=20, trust_env=False) as http,
        closing(open_ledger(running.settings)) as ledger,
    ):
        yield Home(data, running, http, ledger, Archive((data / "archive").as_uri()))


def posted(home: Home, path: str, body: Any = None, **headers: str) -> Any:
    reply = home.http.post(path, json=body, headers=headers)
    assert reply.status_code in (200, 201), reply.text
    return reply.json()


def view(home: Home, game: str, token: str | None, **params: Any) -> Any:
    reply = home.http.get(f"/games/{game}/view", params=params, headers=bearer(token))
    assert reply.status_code == 200, reply.text
    return reply.json()


def is_over(home: Home, game: str) -> bool:
    entries = view(home, game, None)["entries"]
    return any(event["type"] == "game_ended" for event in entries[-1]["events"])


def begun(home: Home, key: str) -> tuple[Any, str]:
    """A game that its only person left, so that it ends soon: the answer to its creation, and that person's token."""
    created = posted(home, "/games", BODY, **{"Idempotency-Key": key})
    game = created["game"]
    ada: str = posted(home, f"/games/{game}/join", {"name": "Ada"})["token"]
    posted(home, f"/games/{game}/start", **bearer(created["token"]))
    posted(home, f"/games/{game}/commands", LEAVE, **bearer(ada))
    return created, ada


def test_a_game_that_has_left_is_shown_as_before_and_can_not_be_made_anew(home: Home) -> None:
    key = new_id()
    created, ada = begun(home, key)
    game = created["game"]
    wait_until(lambda: is_over(home, game))
    before = [view(home, game, token, proofs=True) for token in (None, ada)]

    wait_until(lambda: not home.ledger.read_entries(game))

    assert home.running.failure_reason() == ""
    assert [view(home, game, token, proofs=True) for token in (None, ada)] == before
    assert all(entry["head"] for entry in before[0]["entries"])
    file = decode_game_file(home.archive.read(game) or b"")
    assert file.head.hex() == before[0]["entries"][-1]["head"]
    page = view(home, game, ada, after=2, most=3)
    assert [entry["number"] for entry in page["entries"]] == [3, 4, 5]
    assert (page["next"], page["more"]) == (5, True)
    assert posted(home, "/games", BODY, **{"Idempotency-Key": key}) == created
    assert not home.ledger.read_entries(game)
    for wrong in ("not a token", created["token"][:-2]):
        assert home.http.get(f"/games/{game}/view", headers=bearer(wrong)).status_code == 401
    late = home.http.post(f"/games/{game}/commands", json=LEAVE, headers=bearer(ada))
    assert (late.status_code, late.json()["rule"], late.json()["level"]) == (409, "GAME-3", "told")
    left = next(entry for entry in before[1]["entries"] if entry["answers"])
    again = {**bearer(ada), "Idempotency-Key": left["answers"]}
    repeated = home.http.post(f"/games/{game}/commands", json=LEAVE, headers=again).json()
    assert (repeated["number"], repeated["head"]) == (left["number"], left["head"])
    rest = before[1]["entries"][2:]
    with Socket(home.http, game, ada, after=2) as socket:
        assert [entry["head"] for entry in socket.read(len(rest))] == [entry["head"] for entry in rest]
        assert closed_why(socket) == (1000, "the game is over")
    with open_jobs_for_reading(home.data, home.running.settings) as jobs:
        assert jobs.list_jobs() == []


def said(home: Home, *words: str) -> str:
    """What a command of `ledgerline` prints about this server's games."""
    result = run_in_process(*words, data=home.data)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_commands_find_a_game_that_has_left(home: Home, tmp_path: Path) -> None:
    game = begun(home, new_id())[0]["game"]
    wait_until(lambda: home.archive.has(game) and not home.ledger.read_entries(game))
    replayed = json.loads(said(home, "replay", game, "--json"))
    assert (replayed["game"], replayed["state"]) == (game, "over")
    assert json.loads(said(home, "replay", game, "--as", "0", "--json"))["turns"]
    listed = {each["game"]: each["state"] for each in json.loads(said(home, "games", "--json"))["games"]}
    assert listed[game] == "over"
    audited = json.loads(said(home, "audit", game, "--json"))
    assert (audited["ok"], audited["unchecked"]) == (True, {})
    said(home, "export", game, str(tmp_path / "file"))
    assert (tmp_path / "file").read_bytes() == home.archive.read(game)
    assert json.loads(said(home, "jobs", "--json"))["count"] == {
        "failed": 0,
        "running": 0,
        "waiting": 0,
        "later": 0,
    }


def test_a_game_that_there_never_was_is_not_found(home: Home) -> None:
    for game in ("no-such-game", "UPPER", "..%2f..%2fetc"):
        assert home.http.get(f"/games/{game}/view").status_code == 404


def test_a_damaged_file_is_reported_and_quotes_nothing(home: Home) -> None:
    home.archive.write("damaged-game", b"ledgerline/log/1\nrest")
    reply = home.http.get("/games/damaged-game/view")
    assert reply.status_code == 500
    assert reply.json()["title"] == "This view is damaged"
    assert home.http.get("/health").status_code == 200


def test_a_new_folder_has_a_signing_key_that_stays(home: Home) -> None:
    path = home.data / "signing.key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert home.running.settings.signing_key.get_secret_value() == path.read_text()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"redis_url": "redis+cluster://127.0.0.1:7000"}, "LEDGERLINE_JOBS_URL"),
        ({"archive_url": "file:///archive"}, "LEDGERLINE_SIGNING_KEY"),
        ({"archive_url": "file:///archive", "signing_key": "5e"}, "LEDGERLINE_SIGNING_KEY"),
        ({"archive_url": "nonsense://x", "signing_key": "5e" * 32}, "LEDGERLINE_ARCHIVE_URL"),
    ],
)
def test_an_auditor_that_lacks_a_setting_names_it_and_does_not_start(given: Any, named: str) -> None:
    with pytest.raises(InvalidInputError, match=named):
        run_auditor(read_settings(**given), None)  # type: ignore[arg-type]  # it comes to nothing before


@pytest.mark.parametrize("url", ["redis+cluster://127.0.0.1:7000", "http://there", "nowhere"])
def test_jobs_are_kept_on_one_engine(url: str) -> None:
    with pytest.raises(InvalidInputError, match="LEDGERLINE_JOBS_URL"):
        read_settings(jobs_url=url)
