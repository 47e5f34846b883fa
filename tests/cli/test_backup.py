"""`ledgerline backup`, `restore` and `import`: what is brought back is whole, said to be, and goes on."""

from __future__ import annotations

import json
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import httpx
import pytest

from services.bootstrap.embedded import EmbeddedServer, run_embedded_server
from services.cli.operating import backup
from services.cli.operating.backup import Backup, write_data_folder
from services.cli.options import open_games
from services.ledger.engine.connection import EngineUnavailableError, connect, init_partition_count
from services.ledger.engine.embedded_engine import running_engine
from services.ledger.operations.system_status import stream_snapshot
from services.runtime.settings import read_settings
from tests.cli.command_line import CommandResult, run_in_process
from tests.deploy.compose import SHORT, wait_until
from tests.gateway.clients import bearer, in_turn
from tests.security.engine_with_users import engine_with_users

GAMES: Final = 8


def begin_games(server: EmbeddedServer, count: int, **options: int) -> list[str]:
    """Games of bots, which play on while others look."""
    seats = [{"kind": "bot", "policy": "greedy"}] * 4
    games = []
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        for _ in range(count):
            created = http.post(
                "/v1/games", json={"ruleset": "usa", "seats": seats, "options": options}
            ).json()
            bearer = {"Authorization": f"Bearer {created['token']}"}
            assert http.post(f"/v1/games/{created['game']}/start", headers=bearer).status_code == 200
            games.append(created["game"])
    return games


def logs(data: Path, names: list[str]) -> dict[str, list[bytes]]:
    """The logs of a data folder's games, wherever they are."""
    with open_games(data) as games:
        return {game: games.repository.read_entries(game) for game in names}


def archived(data: Path) -> int:
    return len([*(data / "archive").rglob("*.ledgerline")])


@pytest.fixture(scope="module")
def backed_up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, list[bytes]]]]:
    """A backup that was made while games were played and others had been archived, and the logs as they ended."""
    folder = tmp_path_factory.mktemp("backup")
    data = folder / "data"
    settings = read_settings(port=0, archived_stays_s=0, open_games=100)
    with run_embedded_server(data, settings) as server:
        first = begin_games(server, 2, **SHORT)
        wait_until(lambda: archived(data) == 2)
        games = begin_games(server, GAMES)
        with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
            people = in_turn(http)  # who think while the backup is made
        made = run_in_process("backup", str(folder / "made"), "--json", data=data)
        assert made.returncode == 0, made.stderr
        said = json.loads(made.stdout)
        assert (said["keys"], said["missing_keys"]) == (["token", "signing", "push"], ["operator"])
        assert said["archived"] >= 2
        with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
            for person in people:
                http.post(f"/v1/games/{person.game}/leave", headers=bearer(person.token))
        wait_until(lambda: archived(data) == 2 + GAMES + 1)
    yield folder / "made", logs(data, [*first, *games, people[0].game])


@pytest.mark.long
def test_P1_a_backup_under_load_is_one_moment_and_every_game_of_it_goes_on(
    backed_up: tuple[Path, dict[str, list[bytes]]], tmp_path: Path
) -> None:
    made, ended = backed_up
    restored = run_in_process("restore", str(made), str(tmp_path / "data"), "--json")
    assert restored.returncode == 0, restored.stderr
    said = json.loads(restored.stdout)
    assert (said["playing"] + said["over"], said["faults"]) == (len(ended), [])
    copied = logs(tmp_path / "data", [*ended])
    assert all(copied[game] == ended[game][: len(copied[game])] for game in ended), "each is a beginning"
    assert any(len(copied[game]) < len(ended[game]) for game in ended), "it was made while they were played"
    with run_embedded_server(tmp_path / "data", read_settings(port=0)):
        wait_until(lambda: archived(tmp_path / "data") == len(ended) - 1)  # one waits for its people


@pytest.mark.long
def test_restore_says_what_it_checked_and_only_the_owner_reads_a_backup(
    backed_up: tuple[Path, dict[str, list[bytes]]], tmp_path: Path
) -> None:
    made, _ = backed_up
    said = run_in_process("restore", str(made), str(tmp_path / "data")).stdout
    assert f"{GAMES + 3} games, " in said
    assert "every chain holds." in said
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (made / "keys").iterdir()} == {0o600}
    for name in ("token", "signing", "push"):
        assert (tmp_path / "data" / f"{name}.key").read_text() == (made / "keys" / f"{name}.key").read_text()


@pytest.mark.long
def test_P2_a_backup_that_isnt_as_it_was_written_is_not_restored(
    backed_up: tuple[Path, dict[str, list[bytes]]], tmp_path: Path
) -> None:
    made, _ = backed_up
    changes: dict[str, Callable[[Path], object]] = {
        "engine.rdb is damaged": lambda folder: (folder / "engine.rdb").write_bytes(b"REDIS0011"),
        "keys/token.key is missing": lambda folder: (folder / "keys" / "token.key").unlink(),
        "is no whole backup": lambda folder: (folder / "backup.json").unlink(),
    }
    for reason, change in changes.items():
        copy = tmp_path / reason.replace("/", " ")
        shutil.copytree(made, copy)
        change(copy)
        refused = run_in_process("restore", str(copy), str(tmp_path / "data"))
        assert (refused.returncode, reason in refused.stderr) == (2, True), refused.stderr
        assert not (tmp_path / "data").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").touch()
    for words in (["backup", str(tmp_path / "there")], ["backup", str(tmp_path / "there" / "file")]):
        refused = run_in_process(*words, data=tmp_path / "data")
        assert (refused.returncode, "nothing is overwritten" in refused.stderr) == (2, True)


def test_P8_a_user_without_the_right_gets_no_snapshot(tmp_path: Path) -> None:
    with engine_with_users(tmp_path) as engine:
        with closing(connect(engine.url("operator"))) as client:
            init_partition_count(client, 4)
            assert b"".join(stream_snapshot(client)).startswith((b"REDIS", b"VALKEY"))
        for user in ("gateway", "auditor"):
            refused = run_in_process(
                "backup",
                str(tmp_path / user),
                LEDGERLINE_REDIS_URL=engine.url(user),
                LEDGERLINE_ARCHIVE_URL="",
            )
            assert refused.returncode == 1
            assert "NOPERM" in refused.stderr or "no permissions" in refused.stderr, refused.stderr
            assert not (tmp_path / user / "backup.json").exists()


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """An exported game with a person's name in it, its id, and the key that signed it."""
    folder = tmp_path_factory.mktemp("exported")
    words = ("play", "--rules", "tricks", "--seats", "random,random,random", "--seed", "one")
    played = run_in_process(*words, data=folder / "data")
    game = played.stdout.rpartition("ledgerline replay ")[2].split()[0]
    said = run_in_process("export", game, str(folder / "game.ledgerline"), data=folder / "data")
    assert said.returncode == 0, said.stderr
    return folder / "game.ledgerline", game, said.stdout.splitlines()[-1]


def new_data(folder: Path) -> Path:
    """A data folder with an engine that has no games."""
    with running_engine(folder / "data") as url, closing(connect(url)) as client:
        init_partition_count(client, 4)
    return folder / "data"


def import_file(data: Path, file: Path, key: str = "") -> CommandResult:
    return run_in_process("import", str(file), data=data, LEDGERLINE_PUBLIC_KEYS=key)


def test_P3_an_exported_game_is_brought_back_and_replayed(
    exported: tuple[Path, str, str], tmp_path: Path
) -> None:
    file, game, key = exported
    data = new_data(tmp_path)
    assert "there is no game" in run_in_process("replay", game, data=data).stderr
    done = import_file(data, file, key)
    assert (done.returncode, f"{game}: " in done.stdout) == (0, True), done.stderr
    replayed = run_in_process("replay", game, data=data, LEDGERLINE_PUBLIC_KEYS=key)
    assert "The game is over" in replayed.stdout
    again = import_file(data, file, key)
    assert (again.returncode, "is there already, and is the same" in again.stderr) == (2, True)


def test_P3_a_game_that_is_signed_by_another_or_was_changed_is_not_brought_back(
    exported: tuple[Path, str, str], tmp_path: Path
) -> None:
    file, game, key = exported
    data = new_data(tmp_path)
    foreign = import_file(data, file)
    assert (foreign.returncode, "LEDGERLINE_PUBLIC_KEYS" in foreign.stderr) == (2, True)
    changed = tmp_path / "changed.ledgerline"
    whole = file.read_bytes()
    changed.write_bytes(whole[:200] + bytes([whole[200] ^ 1]) + whole[201:])
    assert import_file(data, changed, key).returncode == 2
    changed.write_bytes(b"no game")
    assert import_file(data, changed, key).returncode == 2
    assert "there is no game" in run_in_process("replay", game, data=data, LEDGERLINE_PUBLIC_KEYS=key).stderr


def test_a_data_folder_that_the_command_line_names_comes_before_the_environments_engine_and_archive(
    exported: tuple[Path, str, str], tmp_path: Path
) -> None:
    file, game, _ = exported
    away, archive = "redis://127.0.0.1:1/0", tmp_path.as_uri()

    def replay(*more: str) -> CommandResult:
        return run_in_process(
            "replay", game, *more, LEDGERLINE_REDIS_URL=away, LEDGERLINE_ARCHIVE_URL=archive
        )

    named = replay("--data", str(file.parent / "data"))
    assert (named.returncode, "The game is over" in named.stdout) == (0, True), named.stderr
    assert replay().returncode == 1


def test_P3_an_archived_file_that_cant_be_read_is_replaced_by_one_that_is_believed(
    exported: tuple[Path, str, str], tmp_path: Path
) -> None:
    file, game, key = exported
    data = new_data(tmp_path)
    assert import_file(data, file, key).returncode == 0
    [stored] = (data / "archive").rglob(f"{game}.ledgerline")
    whole = stored.read_bytes()
    stored.write_bytes(whole[: len(whole) // 2])
    again = import_file(data, file, key)
    assert (again.returncode, stored.read_bytes() == whole) == (0, True), again.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="nothing else bounds a process's memory")
def test_P7_a_backup_that_unpacks_to_more_than_games_do_takes_no_more_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a snapshot of three megabytes that are 270 in the engine
    with running_engine(tmp_path / "packing") as url, connect(url) as client:
        client.mset(dict.fromkeys(("one", "two", "three"), b"x" * 90_000_000))
        client.save()
    (tmp_path / "made").mkdir()
    (tmp_path / "packing" / "dump.rdb").rename(tmp_path / "made" / "engine.rdb")
    described = Backup("0", "today", 16, "", {})
    [node] = write_data_folder(tmp_path / "made", tmp_path / "data")
    # when its games are looked at, with little room beside what a snapshot of its size needs
    monkeypatch.setattr(backup, "LEAST_MEMORY", 250 << 20)
    with (
        pytest.raises(EngineUnavailableError, match="can't start"),
        backup._open_restored(node, tmp_path / "data", described, of_cluster=False),
    ):
        pass
