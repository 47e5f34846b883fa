"""A whole server: a game ends, is archived and evicted, and reads as before."""

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
from services.gateway.sockets.websocket_opening import CloseCode
from services.ledger import RedisLedger
from services.runtime.settings import read_settings
from tests.auditor.frequent_tasks import frequent_tasks
from tests.cli.command_line import run_in_process
from tests.deploy.compose import wait_until
from tests.gateway.clients import LEAVE, Socket, bearer, closed_why, new_id
from tests.many_clients import settings_for_many_clients

BODY = {"seats": [{"kind": "human"}, {"kind": "bot", "policy": "greedy"}], "options": {"cars": 8}}


class RunningServer(NamedTuple):
    data: Path
    running: EmbeddedServer
    http: httpx.Client
    ledger: RedisLedger
    archive: Archive


@pytest.fixture(scope="module")
def running_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    data = tmp_path_factory.mktemp("server")
    settings = settings_for_many_clients(archived_stays_s=0)
    with (
        frequent_tasks(),
        run_embedded_server(data, settings) as running,
        httpx.Client(base_url=running.url, timeout=120, trust_env=False) as http,
        closing(open_ledger(running.settings)) as ledger,
    ):
        yield RunningServer(data, running, http, ledger, Archive((data / "archive").as_uri()))


def posted(running_server: RunningServer, path: str, body: Any = None, **headers: str) -> Any:
    reply = running_server.http.post(path, json=body, headers=headers)
    assert reply.status_code in (200, 201), reply.text
    return reply.json()


def view(running_server: RunningServer, game: str, token: str | None, **params: Any) -> Any:
    reply = running_server.http.get(f"/v1/games/{game}/view", params=params, headers=bearer(token))
    assert reply.status_code == 200, reply.text
    return reply.json()


def is_over(running_server: RunningServer, game: str) -> bool:
    entries = view(running_server, game, None)["entries"]
    return any(event["type"] == "game_ended" for event in entries[-1]["events"])


def begun(running_server: RunningServer, key: str) -> tuple[Any, str]:
    """A game whose only human player left, so that it ends soon: the answer to its creation, and that
    player's token."""
    created = posted(running_server, "/v1/games", BODY, **{"Idempotency-Key": key})
    game = created["game"]
    ada: str = posted(running_server, f"/v1/games/{game}/join", {"name": "Ada"})["token"]
    posted(running_server, f"/v1/games/{game}/start", **bearer(created["token"]))
    posted(running_server, f"/v1/games/{game}/commands", LEAVE, **bearer(ada))
    return created, ada


def test_an_evicted_game_is_shown_as_before_and_can_not_be_created_again(
    running_server: RunningServer,
) -> None:
    key = new_id()
    created, ada = begun(running_server, key)
    game = created["game"]
    wait_until(lambda: is_over(running_server, game))
    before = [view(running_server, game, token, proofs=True) for token in (None, ada)]

    wait_until(lambda: not running_server.ledger.read_entries(game))

    assert running_server.running.failure_reason() == ""
    assert [view(running_server, game, token, proofs=True) for token in (None, ada)] == before
    assert all(entry["head"] for entry in before[0]["entries"])
    file = decode_game_file(running_server.archive.read(game) or b"")
    assert file.head.hex() == before[0]["entries"][-1]["head"]
    page = view(running_server, game, ada, after=2, most=3)
    assert [entry["number"] for entry in page["entries"]] == [3, 4, 5]
    assert (page["next"], page["more"]) == (5, True)
    assert posted(running_server, "/v1/games", BODY, **{"Idempotency-Key": key}) == created
    assert not running_server.ledger.read_entries(game)
    for wrong in ("not a token", created["token"][:-2]):
        assert running_server.http.get(f"/v1/games/{game}/view", headers=bearer(wrong)).status_code == 401
    late = running_server.http.post(f"/v1/games/{game}/commands", json=LEAVE, headers=bearer(ada))
    assert (late.status_code, late.json()["rule"], late.json()["level"]) == (409, "GAME-3", "rejected")
    left = next(entry for entry in before[1]["entries"] if entry["answers"])
    same_command = {**bearer(ada), "Idempotency-Key": left["answers"]}
    repeated = running_server.http.post(f"/v1/games/{game}/commands", json=LEAVE, headers=same_command).json()
    assert (repeated["number"], repeated["head"]) == (left["number"], left["head"])
    rest = before[1]["entries"][2:]
    with Socket(running_server.http, game, ada, after=2) as socket:
        assert [entry["head"] for entry in socket.read(len(rest))] == [entry["head"] for entry in rest]
        assert closed_why(socket) == (1000, "the game is over")
    with Socket(running_server.http, game, ada, 2, "0" * 64) as socket:
        assert closed_why(socket)[0] == CloseCode.BEGIN_ANEW
    with open_jobs_for_reading(running_server.data, running_server.running.settings) as jobs:
        assert jobs.list_jobs() == []


def output_of(running_server: RunningServer, *words: str) -> str:
    """What a command of `ledgerline` prints about this server's games."""
    result = run_in_process(*words, data=running_server.data)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_commands_find_an_evicted_game(running_server: RunningServer, tmp_path: Path) -> None:
    game = begun(running_server, new_id())[0]["game"]
    wait_until(lambda: running_server.archive.has(game) and not running_server.ledger.read_entries(game))
    replayed = json.loads(output_of(running_server, "replay", game, "--json"))
    assert (replayed["game"], replayed["state"]) == (game, "over")
    assert json.loads(output_of(running_server, "replay", game, "--as", "0", "--json"))["turns"]
    listed = {
        each["game"]: each["state"]
        for each in json.loads(output_of(running_server, "games", "--json"))["games"]
    }
    assert listed[game] == "over"
    audited = json.loads(output_of(running_server, "audit", game, "--json"))
    assert (audited["ok"], audited["unchecked"]) == (True, {})
    output_of(running_server, "export", game, str(tmp_path / "file"))
    exported, archived = (tmp_path / "file").read_bytes(), running_server.archive.read(game)
    assert archived is not None
    assert decode_game_file(exported) == decode_game_file(archived)._replace(
        names=running_server.archive.read_names(game) or b""
    )
    assert json.loads(output_of(running_server, "jobs", "--json"))["count"] == {
        "failed": 0,
        "running": 0,
        "waiting": 0,
        "later": 0,
    }


def test_an_unknown_game_is_not_found(running_server: RunningServer) -> None:
    for game in ("no-such-game", "UPPER", "..%2f..%2fetc"):
        assert running_server.http.get(f"/v1/games/{game}/view").status_code == 404


def test_a_damaged_file_is_reported_and_quotes_nothing(running_server: RunningServer) -> None:
    running_server.archive.write("damaged-game", b"ledgerline/log/1\nrest")
    reply = running_server.http.get("/v1/games/damaged-game/view")
    assert reply.status_code == 500
    assert reply.json()["title"] == "This view is damaged"
    assert running_server.http.get("/health").status_code == 200


def test_a_new_folder_has_a_signing_key_that_stays(running_server: RunningServer) -> None:
    path = running_server.data / "signing.key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert running_server.running.settings.signing_key.get_secret_value() == path.read_text()


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
        run_auditor(read_settings(**given), None)  # type: ignore[arg-type]  # it raises before it needs one


@pytest.mark.parametrize("url", ["redis+cluster://127.0.0.1:7000", "http://there", "nowhere"])
def test_jobs_are_kept_on_one_engine(url: str) -> None:
    with pytest.raises(InvalidInputError, match="LEDGERLINE_JOBS_URL"):
        read_settings(jobs_url=url)
