"""The place of finished games' files: a folder, or whatever else fsspec can write to, by its URL.

    <url>/<two hex digits of SHA-256 of the id>/<the game's id>.ledgerline
    <url>/<the same>/<the game's id>.names, where its players' names are known

A file is there whole or not at all: in a folder it is written under another name, synced and
renamed; S3 shows an object only when it is complete.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from schemas.contract import Schema
from schemas.errors import InvalidInputError, LedgerlineError
from schemas.field_types import GameId

ARCHIVE_URL_VARIABLE: Final = "LEDGERLINE_ARCHIVE_URL"
SUFFIX: Final = ".ledgerline"
NAMES_SUFFIX: Final = ".names"  # beside the file: what is erased from here is in no file
LOCAL_PROTOCOLS: Final = {"file", "local"}
S3_PROTOCOLS: Final = {"s3", "s3a"}
S3_CLIENT_CONFIG: Final = {"connect_timeout": 5, "read_timeout": 20, "retries": {"max_attempts": 2}}
_GAME_ID: Final[Schema[str]] = Schema(GameId, "game")


class ArchiveUnavailableError(LedgerlineError):
    """The archive can't be read or written now. (A missing file is no such error.)"""


class Archive:
    """The files of finished games by game id, for any thread.

    Raises InvalidInputError: nothing can be stored at this URL."""

    def __init__(self, url: str) -> None:
        self.url = url
        import fsspec  # noqa: PLC0415 - a service without an archive needs none of it

        protocol = url.partition("://")[0] if "://" in url else "file"
        options: dict[str, object] = {"config_kwargs": S3_CLIENT_CONFIG} if protocol in S3_PROTOCOLS else {}
        try:
            self._filesystem, root = fsspec.core.url_to_fs(url, **options)
        except (ImportError, ValueError, TypeError) as error:
            raise InvalidInputError(
                ARCHIVE_URL_VARIABLE, f"is no place that can be written to: {error}"
            ) from None
        self._root = root.rstrip("/")
        self._is_local = protocol in LOCAL_PROTOCOLS
        if not self._root or not url.partition("://")[2 if "://" in url else 0]:
            raise InvalidInputError(ARCHIVE_URL_VARIABLE, "must name a folder, or a bucket")

    def read(self, game: str) -> bytes | None:
        """The file of a game, or None if there is none. Raises ArchiveUnavailableError."""
        with self._translated_errors(), suppress(FileNotFoundError, InvalidInputError):
            data: bytes = self._filesystem.cat_file(self._path(game))
            return data
        return None

    def has(self, game: str) -> bool:
        """Whether there is a file of this game. Raises ArchiveUnavailableError."""
        with self._translated_errors(), suppress(InvalidInputError):
            self._filesystem.invalidate_cache()
            return bool(self._filesystem.exists(self._path(game)))
        return False

    def games(self) -> list[str]:
        """Every game that is there, the latest first. It lists all names at once, which is too slow for
        every request. Raises ArchiveUnavailableError."""
        with self._translated_errors():
            self._filesystem.invalidate_cache()
            infos_by_path = (
                self._filesystem.find(self._root, detail=True) if self._filesystem.exists(self._root) else {}
            )
        dated_names = [
            (_modified_at(info), Path(path).name)
            for path, info in infos_by_path.items()
            if path.endswith(SUFFIX)
        ]
        return [name.removesuffix(SUFFIX) for _, name in sorted(dated_names, reverse=True)]

    def write(self, game: str, data: bytes) -> None:
        """Write a game's file, in place of one that is there.

        Raises ArchiveUnavailableError; InvalidInputError: the id is no game's."""
        self._write(self._path(game), data)

    def _write(self, path: str, data: bytes) -> None:
        with self._translated_errors(passed_through=()):
            if self._is_local:
                _write_atomically(Path(path), data)
            else:
                self._filesystem.pipe_file(path, data)

    def try_reading(self) -> None:
        """Look into the place. A folder that isn't there yet is made by what is written first. Raises
        ArchiveUnavailableError."""
        with self._translated_errors(passed_through=()):
            self._filesystem.invalidate_cache()
            if not self._is_local:
                self._filesystem.ls(self._root)
            elif Path(self._root).exists():
                next(Path(self._root).iterdir(), None)

    def try_writing(self, name: str) -> None:
        """Write a file that is no game's, and delete it. Raises ArchiveUnavailableError."""
        path = f"{self._root}/{name}.tried"
        self._write(path, b"")
        with self._translated_errors():
            self._filesystem.rm_file(path)

    def read_names(self, game: str) -> bytes | None:
        """The names of a game's players, or None if none lie there. Raises ArchiveUnavailableError."""
        with self._translated_errors(), suppress(FileNotFoundError, InvalidInputError):
            data: bytes = self._filesystem.cat_file(self._path(game, NAMES_SUFFIX))
            return data
        return None

    def write_names(self, game: str, data: bytes | None) -> None:
        """Write the names beside a game's file, in place of those that are there; None erases them.

        Raises ArchiveUnavailableError; InvalidInputError: the id is no game's."""
        path = self._path(game, NAMES_SUFFIX)
        if data is not None:
            self._write(path, data)
            return
        with self._translated_errors(), suppress(FileNotFoundError):
            self._filesystem.rm_file(path)

    def _path(self, game: str, suffix: str = SUFFIX) -> str:
        name = _GAME_ID.read(game)
        return f"{self._root}/{sha256(name.encode()).hexdigest()[:2]}/{name}{suffix}"

    @contextmanager
    def _translated_errors(
        self, passed_through: tuple[type[Exception], ...] = (FileNotFoundError,)
    ) -> Iterator[None]:
        try:
            yield
        except InvalidInputError:
            raise
        except Exception as error:  # each store raises errors of its own
            if isinstance(error, passed_through):
                raise
            raise ArchiveUnavailableError(
                f"the archive at {self.url} doesn't answer: {type(error).__name__}: {error}"
            ) from error


def _modified_at(info: Mapping[str, Any]) -> float:  # fsspec has no type for it
    """When a file was written, under the name that its store has for that."""
    modified = info.get("mtime") or info.get("LastModified") or 0.0
    return float(modified if isinstance(modified, int | float) else modified.timestamp())


def _write_atomically(path: Path, data: bytes) -> None:
    """Write a file that is on disk, whole, when this returns; if it is cut off, the file isn't there."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary_path = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary_path.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary_path.replace(path)
    finally:
        temporary_path.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
