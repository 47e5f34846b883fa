"""`ledgerline export` and `verify`: a finished game as a file that anybody can verify."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import fakeredis
import pytest

import ledgerline
from schemas.errors import InvalidInputError
from schemas.stored.rows import pack, unpack
from services.archive import Signer, decode_game_file
from services.cli.games.export_verify import export_game, read_heads, verify_file
from services.cli.output import GameNotFoundError
from services.ledger import RedisLedger
from services.ledger.engine import keys
from tests.cli.command_line import run_in_process
from tests.conftest import PARTITIONS
from tests.referee.running_referee import GAME, Players, opening_commands, referee_at, submit

SIGNER = Signer("7f" * 32)
STANDALONE = Path(__file__).parents[3] / "deploy" / "verify_game.py"


@pytest.fixture
def file(ledger: RedisLedger, tmp_path: Path) -> Path:
    path = tmp_path / "game.ledgerline"
    export_game(ledger, SIGNER, GAME, path)
    return path


def payload(capsys: pytest.CaptureFixture[str]) -> Any:
    out = capsys.readouterr().out
    return json.loads(out[out.index("{\n") :])


def test_P6_an_exported_game_is_verified(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify_file(file, SIGNER.public_key.hex(), (), as_json=True)
    found = payload(capsys)
    assert (found["game"], found["ok"], found["findings"]) == (GAME, True, [])
    assert found["key"] == SIGNER.public_key.hex()


def test_P6_the_one_file_verifier_gives_the_same_result(file: Path) -> None:
    command = [sys.executable, "-I", str(STANDALONE), str(file)]
    checked = subprocess.run(command, check=False, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert checked.stdout.startswith(f"GOOD game {GAME}")


def test_P6_another_key_is_refused(file: Path) -> None:
    assert not verify_file(file, "ab" * 32, (), as_json=True)


def test_P6_the_library_verifies_and_replays_a_file(file: Path, tmp_path: Path) -> None:
    assert ledgerline.verify(file, SIGNER.public_key.hex()) == []
    assert [finding.kind for finding in ledgerline.verify(file, "ab" * 32)] == ["signature"]
    replayed = ledgerline.replay(file)
    assert (replayed.game, replayed.state_after(len(replayed.log)).result is None) == (GAME, False)
    file.write_bytes(file.read_bytes()[:-9])
    assert ledgerline.verify(file) != []
    (tmp_path / "photo.png").write_bytes(b"PK\x03\x04")
    for read in (ledgerline.verify, ledgerline.replay):
        with pytest.raises(InvalidInputError, match=r"photo\.png"):
            read(tmp_path / "photo.png")


def test_P6_heads_that_players_kept_fit_and_another_one_is_a_finding(
    file: Path, ledger: RedisLedger, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = read_heads(ledger, GAME, 9)
    assert verify_file(file, None, [f"{n}:{head.hex()}" for n, head in enumerate(kept, 1)], as_json=True)
    capsys.readouterr()
    assert not verify_file(file, None, [f"7:{kept[5].hex()}"], as_json=True)
    [found] = payload(capsys)["findings"]
    assert (found["number"], found["kind"]) == (7, "chain")


def test_P6_the_file_of_a_log_changed_in_the_engine_fails_verification(
    ledger: RedisLedger, client: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The heads are those that everybody was sent, so the changed log doesn't give them."""
    stream = keys.log(ledger.partition_of(GAME), GAME)
    entries = client.xrange(stream)
    client.delete(stream)
    for number, (id_, fields) in enumerate(entries, 1):
        name, *more = unpack(fields[b"s"])
        client.xadd(stream, {"s": pack((f"{name}x", *more))} if number == 8 else fields, id=id_)
    path = tmp_path / "changed.ledgerline"
    export_game(ledger, SIGNER, GAME, path)
    capsys.readouterr()
    assert not verify_file(path, None, (), as_json=True)
    assert payload(capsys)["findings"][0]["number"] == 8


def test_P5_a_game_that_goes_on_is_not_exported(ledger: RedisLedger, tmp_path: Path) -> None:
    submit(ledger, opening_commands("game-two"))
    referee_at(ledger).step(0)
    with pytest.raises(InvalidInputError, match="still hidden"):
        export_game(ledger, SIGNER, "game-two", tmp_path / "x")
    with pytest.raises(GameNotFoundError, match="no game another-game"):
        export_game(ledger, SIGNER, "another-game", tmp_path / "x")


@pytest.mark.parametrize(
    ("key", "kept", "field"),
    [
        ("ab", [], "--key"),
        (None, ["7"], "--head"),
        (None, ["0:" + "ab" * 32], "--head"),
        (None, ["9999:" + "ab" * 32], "--head"),
    ],
)
def test_an_invalid_key_or_head_is_one_line(file: Path, key: str | None, kept: list[str], field: str) -> None:
    with pytest.raises(InvalidInputError, match=field):
        verify_file(file, key, kept, as_json=True)


def test_an_invalid_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "none"
    with pytest.raises(InvalidInputError, match="none"):
        verify_file(path, None, (), as_json=True)
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(InvalidInputError, match="none"):
        verify_file(path, None, (), as_json=True)


def test_a_file_that_can_not_be_written_is_one_line(ledger: RedisLedger, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="file"):
        export_game(ledger, SIGNER, GAME, tmp_path / "no folder" / "x")


def test_P6_two_signed_ends_of_one_game_are_found_when_both_are_given(file: Path, tmp_path: Path) -> None:
    """A server that signs another end for one player is caught as soon as two players compare their files."""
    # given
    other, again = tmp_path / "other.ledgerline", tmp_path / "again.ledgerline"
    again.write_bytes(file.read_bytes())
    export_another_game_of_this_id(other)
    for alone in (file, other):
        assert run_in_process("verify", str(alone)).returncode == 0
    # when
    found = run_in_process("verify", str(file), str(again), str(other))
    # then
    assert run_in_process("verify", str(file), str(again)).returncode == 0
    assert found.returncode == 1
    text = " ".join(found.stdout.split())
    assert "Another file of this game, signed with the same key, ends after entry" in text
    assert decode_game_file(file.read_bytes()).head.hex() in text.replace(" ", "")


def export_another_game_of_this_id(path: Path) -> None:
    client: Any = fakeredis.FakeRedis()
    ledger = RedisLedger(client, PARTITIONS)
    submit(ledger, opening_commands(cars=5))
    referee, players = referee_at(ledger), Players(ledger, Random(4))
    while referee.step(0) + players.step():
        pass
    export_game(ledger, SIGNER, GAME, path)
    client.close()
