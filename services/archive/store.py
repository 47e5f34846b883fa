"""Where finished games lie: a folder, or whatever else fsspec can write to, by its URL.

    <url>/<two hex digits of SHA-256 of the id>/<the game's id>.ledgerline

A file is there whole or not at all: in a folder it is written beside its place, brought to
disk and moved; S3 shows an object only when it is complete.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import fsspec

from schemas.contract import Malformed, Shape
from schemas.field_types import GameId

SETTING: Final = "LEDGERLINE_ARCHIVE_URL"
SUFFIX: Final = ".ledgerline"
FOLDERS: Final = {"file", "local"}
S3: Final = {"s3", "s3a"}
LIMITS: Final = {"connect_timeout": 5, "read_timeout": 20, "retries": {"max_attempts": 2}}
_GAME_ID: Final[Shape[str]] = Shape(GameId, "game")


class ArchiveAway(Exception):
    """The archive can't be read or written now; a missing file is no such thing."""


class Archive:
    """Finished games by id. Any thread may ask. Raises Malformed: nothing can lie at this URL."""

    def __init__(self, url: str) -> None:
        self.url = url
        protocol = url.partition("://")[0] if "://" in url else "file"
        options: dict[str, Any] = {"config_kwargs": LIMITS} if protocol in S3 else {}
        try:
            self._files, root = fsspec.core.url_to_fs(url, **options)
        except (ImportError, ValueError, TypeError) as error:
            raise Malformed(SETTING, f"is no place that can be written to: {error}") from None
        self._root = root.rstrip("/")
        self._is_folder = protocol in FOLDERS
        if not self._root or not url.partition("://")[2 if "://" in url else 0]:
            raise Malformed(SETTING, "must name a folder, or a bucket")

    def read(self, game: str) -> bytes | None:
        """The file of a game, or None if there is none. Raises ArchiveAway."""
        with self._reached(), suppress(FileNotFoundError, Malformed):
            found: bytes = self._files.cat_file(self._place(game))
            return found
        return None

    def has(self, game: str) -> bool:
        """Whether there is a file of this game. Raises ArchiveAway."""
        with self._reached(), suppress(Malformed):
            self._files.invalidate_cache()
            return bool(self._files.exists(self._place(game)))
        return False

    def games(self) -> list[str]:
        """Every game that is there, the latest first. Asks for all names at once: for people, not
        for every request. Raises ArchiveAway."""
        with self._reached():
            self._files.invalidate_cache()
            found = self._files.find(self._root, detail=True) if self._files.exists(self._root) else {}
        told = [(_written(about), Path(path).name) for path, about in found.items() if path.endswith(SUFFIX)]
        return [name.removesuffix(SUFFIX) for _, name in sorted(told, reverse=True)]

    def write(self, game: str, data: bytes) -> None:
        """Put a game's file there, instead of one that may be there. Raises ArchiveAway, Malformed."""
        place = self._place(game)
        with self._reached(missing=()):
            if self._is_folder:
                _write_whole(Path(place), data)
            else:
                self._files.pipe_file(place, data)

    def _place(self, game: str) -> str:
        name = _GAME_ID.read(game)
        return f"{self._root}/{sha256(name.encode()).hexdigest()[:2]}/{name}{SUFFIX}"

    @contextmanager
    def _reached(self, missing: tuple[type[Exception], ...] = (FileNotFoundError,)) -> Iterator[None]:
        try:
            yield
        except Malformed:
            raise
        except Exception as error:  # each store has errors of its own kind
            if isinstance(error, missing):
                raise
            raise ArchiveAway(
                f"the archive at {self.url} doesn't answer: {type(error).__name__}: {error}"
            ) from error


def _written(about: Any) -> float:
    """When a file was written, however its store says so."""
    when = about.get("mtime") or about.get("LastModified") or 0.0
    return float(when if isinstance(when, int | float) else when.timestamp())


def _write_whole(place: Path, data: bytes) -> None:
    """A file that is on disk, whole, when this returns; cut off anywhere, it isn't there."""
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
