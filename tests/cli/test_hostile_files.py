"""What `import` and `restore` make of files that somebody built to harm: a sentence, soon, and nothing written elsewhere."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgpack
import pytest

from services import archive as form
from services.archive import Signer
from services.ledger.engine.connection import connect, init_partition_count
from services.ledger.engine.embedded_engine import running_engine
from tests.cli.command_line import run_in_process

SIGNER = Signer("5e" * 32)  # whose signature is believed here: the hostile one has stolen the key


def file_of(packed: bytes) -> bytes:
    data = form.FILE_MAGIC + zlib.compress(packed, 9)
    return data + sha256(data).digest()


def signed(game: str, entries: list[bytes], names: bytes = b"") -> bytes:
    """A game's file with a valid signature."""
    number, head = len(entries), b"\1" * 32
    signature = SIGNER.sign(form.build_statement(game, number, head))
    marks = b"m" * form.MARK_BYTES * number
    fields = form.GameFile(game, number, head, SIGNER.public_key, signature, marks, entries, names)
    return file_of(msgpack.packb(fields.stored_fields()))


# Each is built where it is tried: to compress them all takes two seconds.
GAME_FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (bytes, "doesn't begin with"),
    "its first line alone": (lambda: form.FILE_MAGIC, "don't give its own sum"),
    "200 MB of zeros in 200 KB": (lambda: file_of(bytes(200 << 20)), "unfolds to more than"),
    "15 million lists in each other": (
        lambda: file_of(b"\x87\xa4game" + b"\x91" * (15 << 20)),
        "max_array_len",
    ),
    "a list of 4 billion": (lambda: file_of(b"\x87\xa4game\xdd\xff\xff\xff\xff"), "max_array_len"),
    "a string of 4 GB": (lambda: file_of(b"\x87\xa4game\xdb\xff\xff\xff\xff"), "can't be read"),
    "262,144 entries": (lambda: signed("aaaaaaaaaaaa", [b"\x80"] * (1 << 18)), "max_bin_len"),
    "a path for an id": (lambda: signed("../../../../hostile", [b"x"]), "can't be read"),
    "names that unfold to 400 MB": (
        lambda: signed("aaaaaaaaaaaa", [b"x"], zlib.compress(bytes(400 << 20))),
        "can't be read",
    ),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / "data"
    with running_engine(folder) as url, connect(url) as client:
        init_partition_count(client, 4)
    return folder


@pytest.mark.parametrize("kind", GAME_FILES)
def test_P9_a_hostile_games_file_is_refused_in_a_sentence(kind: str, data: Path, tmp_path: Path) -> None:
    build, reason = GAME_FILES[kind]
    file = tmp_path / "hostile.ledgerline"
    file.write_bytes(build())
    refused = run_in_process("import", str(file), data=data, LEDGERLINE_PUBLIC_KEYS=SIGNER.public_key.hex())
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    assert reason in refused.stderr
    assert not [*data.rglob("*.ledgerline")]


def test_P9_a_file_without_an_end_is_read_no_further_than_a_game_goes(data: Path, tmp_path: Path) -> None:
    (tmp_path / "sparse").touch()
    os.truncate(tmp_path / "sparse", 1 << 40)
    for endless in (str(tmp_path / "sparse"), "/dev/zero"):
        refused = run_in_process("import", endless, data=data)
        assert (refused.returncode, "has more than" in refused.stderr) == (2, True), refused.stderr


def backup_of(folder: Path, snapshot: bytes = b"REDIS0011\xff", **said: Any) -> Path:
    """A backup that says so of itself."""
    folder.mkdir()
    (folder / "engine.rdb").write_bytes(snapshot)
    whole = {
        "version": "0.1.0",
        "taken_at": "2026-11-28",
        "partitions": 4,
        "public_keys": "",
        "files": {"engine.rdb": sha256(snapshot).hexdigest()},
    }
    (folder / "backup.json").write_text(json.dumps(whole | said))
    return folder


def test_P9_a_hostile_backup_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("a secret")
    digest = sha256(b"a secret").hexdigest()
    deep = backup_of(tmp_path / "deep")
    (deep / "backup.json").write_text("[" * 200_000)
    huge = backup_of(tmp_path / "huge")
    os.truncate(huge / "backup.json", 1 << 40)
    linked = backup_of(tmp_path / "linked")
    (linked / "archive").symlink_to(tmp_path)
    unnamed = backup_of(tmp_path / "unnamed")
    (unnamed / "keys").mkdir()
    (unnamed / "keys" / "token.key").write_text("mine")
    pipe = backup_of(tmp_path / "pipe")
    os.mkfifo(pipe / "engine-2.rdb")
    hostile = {
        deep: "recursion limit",
        huge: "more than 536,870,912 bytes",
        linked: "neither a file nor a folder",
        unnamed: "isn't named in backup.json",
        pipe: "neither a file nor a folder",
        backup_of(tmp_path / "up", files={"../outside": digest, "engine.rdb": ""}): "is missing",
        backup_of(tmp_path / "root", files={str(outside): digest, "engine.rdb": ""}): "is missing",
        backup_of(tmp_path / "types", partitions="many"): "valid integer",
        backup_of(tmp_path / "empty", b""): "no engine's snapshot",
        backup_of(tmp_path / "other", b"PK\3\4"): "no engine's snapshot",
    }
    for folder, reason in hostile.items():
        to = tmp_path / "data"
        refused = run_in_process("restore", str(folder), str(to))
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), (folder, refused.stderr)
        assert reason in refused.stderr, (folder, refused.stderr)
        assert not [*to.rglob("*")]


def test_P9_a_snapshot_that_the_engine_cant_load_is_named_as_it_says(tmp_path: Path) -> None:
    cut_off = backup_of(tmp_path / "cut", b"REDIS0011\xfe\x00\x00\x01k\x81" + (1 << 40).to_bytes(8, "big"))
    refused = run_in_process("restore", str(cut_off), str(tmp_path / "data"))
    assert (refused.returncode, "can't start in" in refused.stderr) == (1, True), refused.stderr
    assert "RDB" in refused.stderr
