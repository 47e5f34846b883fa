"""Finished games outside of the engine. No rules here.

The file of a game (docs/reference/proof.md): its log, marks of its hash chain, and the server's signature. Decoding checks the form only; whether the game is valid, and where it isn't, is found by an audit.
But a file has exactly one encoding, so that no bit of it can change unnoticed. It may come from anybody, so
it is read in parts of bounded size: no file takes more than a few times MAX_UNCOMPRESSED_BYTES of memory.

The server's signature (Ed25519) is on the last head of a finished game; whose signature is believed, its reader says.

The place of the files is a folder, or whatever else fsspec can write to, by its URL.

    <url>/<two hex digits of SHA-256 of the id>/<the game's id>.ledgerline
    <url>/<the same>/<the game's id>.names, where its players' names are known

A file is there whole or not at all: in a folder it is written under another name, synced and
renamed; S3 shows an object only when it is complete.
"""

from __future__ import annotations

import os
import re
import secrets
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgpack
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from schemas.contract import Json, Schema
from schemas.errors import InvalidInputError, LedgerlineError
from schemas.field_types import GameId

SIGNING_KEY_VARIABLE: Final = "LEDGERLINE_SIGNING_KEY"
SECRET_BYTES: Final = 32
PUBLIC_KEYS_VARIABLE: Final = "LEDGERLINE_PUBLIC_KEYS"
PUBLIC_KEY_HEX: Final = r"[0-9a-fA-F]{64}"
_KEY_PATTERN: Final = re.compile(rf"({PUBLIC_KEY_HEX})(?:@(\d{{4}}-\d\d-\d\d)?\.\.(\d{{4}}-\d\d-\d\d)?)?")
_FORM: Final = "64 hex digits, or these with @2026-01-01..2026-12-31, where either day may be left out"


class Signer:
    """Signs with the server's key; `public_key` is 32 bytes. Raises InvalidInputError: the secret isn't
    64 hex digits."""

    def __init__(self, secret: str) -> None:
        try:
            key_bytes = bytes.fromhex(secret)
        except ValueError:
            key_bytes = b""
        if len(key_bytes) != SECRET_BYTES:
            raise InvalidInputError(SIGNING_KEY_VARIABLE, "must be 64 hex digits: openssl rand -hex 32")
        self._private_key = Ed25519PrivateKey.from_private_bytes(key_bytes)
        self.public_key = self._private_key.public_key().public_bytes_raw()

    def sign(self, message: bytes) -> bytes:
        """The signature, 64 bytes; Ed25519 is deterministic."""
        return self._private_key.sign(message)


def is_signed(message: bytes, signature: bytes, public_key: bytes) -> bool:
    """Whether this is a signature of the message by the owner of the key."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


class TrustedKey(NamedTuple):
    """A public key (32 bytes), and when the games were created that it may have signed: milliseconds since
    1970, from the first and before the second; None is without a bound."""

    public_key: bytes
    since_ms: int | None = None
    before_ms: int | None = None

    def may_sign(self, key: bytes, created_ms: int) -> bool:
        """Whether this is the key, and a game that was created then is one of its time."""
        return (
            key == self.public_key
            and (self.since_ms is None or created_ms >= self.since_ms)
            and (self.before_ms is None or created_ms < self.before_ms)
        )


class TrustedKeys:
    """The keys of the service. A file that is signed with another is somebody else's."""

    def __init__(self, keys: Iterable[TrustedKey]) -> None:
        self.keys: Sequence[TrustedKey] = tuple(keys)

    def may_sign(self, key: bytes, created_ms: int) -> bool:
        """Whether one of them is this key, and of that time."""
        return any(trusted.may_sign(key, created_ms) for trusted in self.keys)


def trusted_keys(setting: str, signer: Signer | None) -> TrustedKeys:
    """The keys that the setting names, and that of the service's own signer, where it has one.

    Raises InvalidInputError, naming the key that can't be read."""
    named = [_parse(word) for word in setting.replace(",", " ").split()]
    own = [] if signer is None else [TrustedKey(signer.public_key)]
    return TrustedKeys([*named, *(key for key in own if all(key.public_key != other[0] for other in named))])


def _parse(word: str) -> TrustedKey:
    match = _KEY_PATTERN.fullmatch(word)
    if match is None:
        raise InvalidInputError(PUBLIC_KEYS_VARIABLE, f"{word[:100]!r} isn't {_FORM}")
    return TrustedKey(
        bytes.fromhex(match[1]),
        None if match[2] is None else _day_ms(match[2]),
        None if match[3] is None else _day_ms(match[3]) + int(timedelta(days=1) / timedelta(milliseconds=1)),
    )


def _day_ms(text: str) -> int:
    """The begin of a day in UTC. Raises InvalidInputError: there is no such day."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise InvalidInputError(PUBLIC_KEYS_VARIABLE, f"there is no day {text}") from None
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)


FILE_MAGIC: Final = b"ledgerline/log/1\n"
MARK_BYTES: Final = 4  # of a head: enough to find the entry at which damage begins
MAX_FILE_BYTES: Final = 4 * 1024 * 1024
MAX_UNCOMPRESSED_BYTES: Final = 16 * 1024 * 1024  # a long game has a fiftieth of it
MAX_ENTRY_BYTES: Final = 512 * 1024  # the creation of a game with a board of its own has a quarter of it
MAX_ENTRIES: Final = 1 << 18
MAX_NAME_BYTES: Final = 64  # of a field, and of the game's id
DIGEST_BYTES: Final = 32  # SHA-256 over all before it: the same data has many zlib streams


class GameFileError(LedgerlineError):
    """The bytes are not the file of a game."""


class GameFile(NamedTuple):
    """The fields of a file. Only their types are checked."""

    game: str
    number: int  # of the last entry
    head: bytes  # of the hash chain, after that entry
    key: bytes  # the server's public key, 32 bytes
    signature: bytes  # of `build_statement`, 64 bytes
    marks: bytes  # the first bytes of the head after each entry
    entries: list[bytes]  # as the log stores them
    names: bytes = b""  # of the players, with salts (schemas/stored/player_names.py); the file may lack them

    def stored_fields(self) -> dict[str, object]:
        """The fields as the file has them: without names where there are none."""
        fields = self._asdict()
        if not self.names:
            del fields["names"]
        return fields


FIELD_TYPES: Final[Mapping[str, type]] = dict(
    zip(GameFile._fields, (str, int, bytes, bytes, bytes, bytes, list, bytes), strict=True)
)
REQUIRED_FIELDS: Final = tuple(FIELD_TYPES)[:-1]
_NO_FIELDS: Final = f"the file isn't a map of {', '.join(REQUIRED_FIELDS)}"


def build_statement(game: str, sequence: int, head: bytes) -> bytes:
    """The bytes that the server signs for a finished game."""
    return b"ledgerline/final/1\0" + game.encode() + b"\0" + sequence.to_bytes(8, "big") + head


def encode_game_file(
    game: str, entries: Sequence[bytes], heads: Sequence[bytes], signer: Signer, names: bytes = b""
) -> bytes:
    """The file of a game, from the entries of its log (at least one) and the head after each of them. With `names`,
    they lie in it beside the log.

    Raises GameFileError where the log is so large that no reader would take its file."""
    sequence, head = len(entries), heads[-1]
    assert len(heads) == sequence, "every entry has its head"
    marks = b"".join(entry_head[:MARK_BYTES] for entry_head in heads)
    signature = signer.sign(build_statement(game, sequence, head))
    game_file = GameFile(game, sequence, head, signer.public_key, signature, marks, [*entries], names)
    return encode_stored_file(game_file)


def encode_stored_file(game_file: GameFile) -> bytes:
    """The bytes of a file, signed as it is. Raises GameFileError where it is so large that no reader would take it."""
    packed, sequence = msgpack.packb(game_file.stored_fields()), game_file.number
    if len(packed) > MAX_UNCOMPRESSED_BYTES or sequence > MAX_ENTRIES:
        raise GameFileError(f"{sequence} entries in {len(packed)} bytes are more than a file may hold")
    return compress_packed(packed)


def compress_packed(packed: bytes) -> bytes:
    """The file whose fields are this packed map."""
    data = FILE_MAGIC + zlib.compress(packed, 9)
    return data + sha256(data).digest()


def decode_game_file(data: bytes) -> GameFile:
    """The fields of a file. Raises GameFileError: the bytes are damaged, or no such file."""
    if not data.startswith(FILE_MAGIC):
        raise GameFileError(f"the file doesn't begin with {FILE_MAGIC.decode().strip()}")
    body, stored_digest = data[:-DIGEST_BYTES], data[-DIGEST_BYTES:]
    if sha256(body).digest() != stored_digest:
        raise GameFileError("the file is damaged: its bytes don't give its own sum")
    packed = _decompress(body[len(FILE_MAGIC) :])
    fields, fault = read_fields(packed)
    if fault:
        raise GameFileError(fault)
    if msgpack.packb(fields) != packed:
        raise GameFileError("the file isn't msgpack in its shortest forms")
    return GameFile(**fields)


def read_fields(packed: bytes) -> tuple[Json, str]:
    """The fields of a file as far as they can be read, in their order, and the fault after them; empty where there is
    none. Of entries, those before the fault are among them."""
    unpacker = msgpack.Unpacker(
        max_buffer_size=len(packed) or 1,
        max_array_len=0,  # no value of a file is a list of more than nothing, but for the entries
        max_map_len=0,
        max_ext_len=0,
        max_bin_len=MAX_ENTRY_BYTES,
        max_str_len=MAX_NAME_BYTES,
    )
    fields: Json = {}
    name = "the file"
    try:
        unpacker.feed(packed)
        field_count = unpacker.read_map_header()
        if field_count not in (len(REQUIRED_FIELDS), len(FIELD_TYPES)):
            return fields, _NO_FIELDS
        for name, field_type in islice(FIELD_TYPES.items(), field_count):
            if unpacker.unpack() != name:
                return fields, _NO_FIELDS
            if field_type is list:
                fields[name] = []
                _read_entries(unpacker, fields[name])
            elif (value := unpacker.unpack()).__class__ is not field_type:
                return fields, f"{name} isn't {field_type.__name__}"
            else:
                fields[name] = value
    except GameFileError as error:
        return fields, str(error)
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException, msgpack.BufferFull) as error:
        return fields, f"{name} can't be read: {error or 'it ends too early'}"
    if unpacker.tell() != len(packed):
        return fields, "the file goes on after its last field"
    if fields.get("names") == b"":
        return fields, "names is empty, and not left out"
    return fields, "number is below 0" if fields["number"] < 0 else ""


def _read_entries(unpacker: msgpack.Unpacker, entries: list[bytes]) -> None:
    """Append the entries that come next to the list, up to a fault. Raises GameFileError, or what msgpack raises."""
    count = unpacker.read_array_header()
    if count > MAX_ENTRIES:
        raise GameFileError(f"the file has {count} entries, and at most {MAX_ENTRIES} are read")
    for _ in range(count):
        entry = unpacker.unpack()
        if entry.__class__ is not bytes:
            raise GameFileError("an entry isn't bytes")
        entries.append(entry)


def _decompress(compressed: bytes) -> bytes:
    """The content of a whole zlib stream. Raises GameFileError: it is damaged, cut off or too large."""
    decompressor = zlib.decompressobj()
    try:
        decompressed = decompressor.decompress(compressed, MAX_UNCOMPRESSED_BYTES)
    except zlib.error as error:
        raise GameFileError(f"the file is damaged: {error}") from None
    if decompressor.unconsumed_tail:
        raise GameFileError(f"the file unfolds to more than {MAX_UNCOMPRESSED_BYTES} bytes")
    if not decompressor.eof or decompressor.unused_data:
        raise GameFileError(
            "the file is damaged: " + ("something follows" if decompressor.eof else "its end is missing")
        )
    return decompressed


SLICE_BYTES: Final = 64  # compressed bytes at once, so that everything before the damage comes out


def recover_game_file(data: bytes) -> GameFile | None:
    """The file, with the entries before the damage; None if the fields before the entries can't be read.
    Only what the marks confirm can be trusted."""
    fields, _ = read_fields(_decompress_readable(data[len(FILE_MAGIC) : -DIGEST_BYTES]))
    return GameFile(**fields) if fields.keys() >= {*REQUIRED_FIELDS} else None


def _decompress_readable(compressed: bytes) -> bytes:
    """The content of a zlib stream, as far as it can be read and is no larger than a file's may be."""
    decompressor, decompressed = zlib.decompressobj(), bytearray()
    with suppress(zlib.error):
        for offset in range(0, len(compressed), SLICE_BYTES):
            room = MAX_UNCOMPRESSED_BYTES - len(decompressed)
            if not room:  # zlib takes 0 for no limit
                break
            decompressed += decompressor.decompress(compressed[offset : offset + SLICE_BYTES], room)
    return bytes(decompressed)


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
