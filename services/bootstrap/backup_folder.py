"""A backup as a folder, and a data folder made of one.

    engine.rdb                 all keys of the engine at one moment; engine-2.rdb ... of the other primaries of a cluster
    archive/xx/GAME.ledgerline finished games that had left the engine, and GAME.names
    keys/*.key                 the keys that the one who made it had
    backup.json                written last: when, by which version, of how much, and the SHA-256 of every file

Whoever has it sees every hidden card, and may sign for the server: only its owner may read it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from schemas.errors import InvalidInputError
from services import VERSION
from services.archive import Archive
from services.bootstrap.data_folder_keys import KEY_NAMES
from services.runtime.settings import Settings

DESCRIPTION: Final = "backup.json"
ENGINE_FILES: Final = "engine*.rdb"
AOF_FOLDER: Final = "appendonlydir"  # of the embedded engine, and of each other as it comes
BASE_FILE: Final = "appendonly.aof.1.base.rdb"
MANIFEST: Final = "appendonly.aof.manifest"
MAX_DESCRIPTION_BYTES: Final = 512 * 1024 * 1024  # a million archived games have a quarter of it
Progress = Callable[[Iterable[str]], Iterable[str]]


class Backup(NamedTuple):
    """What backup.json says."""

    version: str
    taken_at: str
    partitions: int
    public_keys: str  # whose signature under its archived games is believed
    files: Mapping[str, str]  # SHA-256 by path


DESCRIPTION_FORM: Final = TypeAdapter(Backup)


def require_new_folder(folder: Path, field: str) -> None:
    """Make an empty folder for its owner alone. Raises InvalidInputError: something is there."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InvalidInputError(
                field, f"{folder} has something in it: name a new folder, nothing is overwritten"
            )
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(field, f"{folder} can't be made: {error}") from None


def write_snapshot(folder: Path, number: int, pieces: Iterable[bytes]) -> Iterator[int]:
    """Write a node's snapshot, and yield how many bytes of it were written."""
    with (folder / ("engine.rdb" if number == 1 else f"engine-{number}.rdb")).open("wb") as file:
        for piece in pieces:
            yield file.write(piece)


def copy_archive(archive: Archive, folder: Path, progress: Progress) -> int:
    """Copy the files of all archived games; returns how many there were. Raises ArchiveUnavailableError."""
    copied = 0
    to = Archive(folder.resolve().as_uri())
    for game in progress(archive.games()):
        if (data := archive.read(game)) is None:
            continue  # it was there a moment ago
        to.write(game, data)
        to.write_names(game, archive.read_names(game))
        copied += 1
    return copied


def copy_keys(settings: Settings, data: Path, folder: Path) -> list[str]:
    """Copy the keys that the settings or else the data folder have; returns their names."""
    folder.mkdir(mode=0o700, exist_ok=True)
    copied = []
    for name in KEY_NAMES:
        key = getattr(settings, f"{name}_key").get_secret_value()
        path = data / f"{name}.key"
        if not key and path.is_file():
            key = path.read_text().strip()
        if key:
            (folder / path.name).touch(mode=0o600)
            (folder / path.name).write_text(key)
            copied.append(name)
    return copied


def describe(folder: Path, taken_at: str, partitions: int, public_keys: str, progress: Progress) -> None:
    """Write backup.json, by which the folder is a backup."""
    files = {name: _digest(folder / name) for name in progress(_files(folder))}
    backup = Backup(VERSION, taken_at, partitions, public_keys, files)
    (folder / DESCRIPTION).write_text(json.dumps(backup._asdict(), indent=1) + "\n")


def read_description(folder: Path, progress: Progress) -> Backup:
    """What a backup says of itself, with every file looked at. A backup may come from anybody: nothing outside of its folder
    is read, and nothing in it that it doesn't name.

    Raises InvalidInputError: it is none, is incomplete, or a file isn't as it was written."""
    path = folder / DESCRIPTION
    try:
        if path.stat().st_size > MAX_DESCRIPTION_BYTES:
            raise ValueError(f"it has more than {MAX_DESCRIPTION_BYTES:,} bytes")
        backup = DESCRIPTION_FORM.validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        problem = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        reason = f"{folder} is no whole backup: {DESCRIPTION} can't be read ({problem})"
        raise InvalidInputError("backup", reason) from None
    there = {found.relative_to(folder).as_posix(): found for found in _walk(folder)}
    for name in there.keys() - backup.files.keys() - {DESCRIPTION}:
        raise InvalidInputError("backup", f"{there[name]} isn't named in {DESCRIPTION}")
    for name in progress(list(backup.files)):
        if name not in there:
            raise InvalidInputError("backup", f"{folder} is incomplete: {name[:200]} is missing")
        if _digest(there[name]) != backup.files[name]:
            raise InvalidInputError("backup", f"{there[name]} is damaged: it isn't as it was written")
    return backup


def write_data_folder(backup: Path, data: Path) -> list[Path]:
    """Make the folder of `ledgerline serve` of a backup: its engine loads the snapshot as the beginning of its AOF. Of a
    cluster's there is a folder in it for each primary. Returns those with an engine's files.

    Raises InvalidInputError: the backup has no snapshot, or one that no engine wrote."""
    snapshots = sorted(backup.glob(ENGINE_FILES), key=lambda path: (len(path.name), path.name))
    for snapshot in snapshots:
        with snapshot.open("rb") as file:
            if not file.read(8).startswith((b"REDIS", b"VALKEY")):
                raise InvalidInputError("backup", f"{snapshot} is no engine's snapshot")
    if not snapshots:
        raise InvalidInputError("backup", f"{backup} has no snapshot of an engine")
    nodes = [data / f"node-{number}" for number in range(1, len(snapshots) + 1)]
    nodes = nodes if len(snapshots) > 1 else [data]
    for snapshot, node in zip(snapshots, nodes, strict=True):
        (node / AOF_FOLDER).mkdir(mode=0o700, parents=True)
        shutil.copyfile(snapshot, node / AOF_FOLDER / BASE_FILE)
        (node / AOF_FOLDER / MANIFEST).write_text(f"file {BASE_FILE} seq 1 type b\n")
    if (backup / "archive").is_dir():
        shutil.copytree(backup / "archive", data / "archive")
    for key in (backup / "keys").glob("*.key"):
        (data / key.name).touch(mode=0o600)
        (data / key.name).write_text(key.read_text())
    return nodes


@contextmanager
def snapshot_to_look_at(node: Path) -> Iterator[Path]:
    """A folder with a node's snapshot as `dump.rdb`, for an engine that writes nothing; gone afterwards."""
    with TemporaryDirectory(prefix="look-", dir=node) as folder:
        (Path(folder) / "dump.rdb").hardlink_to(node / AOF_FOLDER / BASE_FILE)
        yield Path(folder)


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in _walk(folder) if path.name != DESCRIPTION)


def _walk(folder: Path) -> Iterator[Path]:
    """Every file of a folder. Raises InvalidInputError: something in it is no file, such as a link that leads elsewhere."""
    for path in folder.rglob("*"):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise InvalidInputError("backup", f"{path} is neither a file nor a folder")
        if path.is_file():
            yield path


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
