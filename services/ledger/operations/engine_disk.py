"""The disk that an engine's AOF grows on, where this process can see it, and how much of it is left. An engine whose disk
is full ends: it can't tell anybody how full it is.

The engine says which folder it writes to; a user that may not ask takes that of the engine's image. If the folder is here too, and has append-only files, its disk is the engine's: on one machine, or where a volume is mounted at the
same place.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from redis.cluster import RedisCluster
from redis.exceptions import RedisError

from services.ledger.engine.connection import connect
from services.ledger.engine.queries import Client, Reply, command, send_and_wait

LOW_SHARE: Final = 0.1  # of a disk: with less left it is time to make room
MIB: Final = 1 << 20
IMAGE_FOLDER: Final = Path("/data/appendonlydir")  # of the append-only files, in the engine's image
MAY_ASK: Final = frozenset(
    (None, "", "default", "gateway", "operator")
)  # users; the engine logs each refusal of others
FOLDER_SETTINGS: Final = (command("CONFIG", "GET", "*dir*"), command("CONFIG", "GET", "appendfilename"))


class DiskRoom(NamedTuple):
    """The bytes of a disk, and those that this process's user may still write."""

    total: int
    free: int

    @property
    def is_low(self) -> bool:
        """Whether it is time to make room."""
        return self.free < LOW_SHARE * self.total

    def __str__(self) -> str:
        return f"{self.free / MIB:,.0f} of {self.total / MIB:,.0f} MiB are left"


def engine_folders(client: Client) -> dict[str, Path]:
    """The folders of the append-only files of a blocking client's engine that this process sees, by the node's name: ''
    for a single engine. Raises RedisError: that doesn't answer."""
    if not isinstance(client, RedisCluster):
        found = find_folder(*send_and_wait(client, FOLDER_SETTINGS))
        return {} if found is None else {"": found}
    folders: dict[str, Path] = {}
    cluster: Client = client  # it has no types
    for node in cluster.get_primaries():
        with suppress(RedisError):  # that it is away, others say
            connection: Client = cluster.get_redis_connection(node)
            if (found := find_folder(*send_and_wait(connection, FOLDER_SETTINGS))) is not None:
                folders[str(node.name)] = found
    return folders


def find_folder(folders: Reply, file: Reply) -> Path | None:
    """The folder of the append-only files, from the replies to FOLDER_SETTINGS."""
    if isinstance(folders, Exception) or isinstance(file, Exception):
        return None
    values = {
        name: value for each in (folders, file) for name, value in zip(each[::2], each[1::2], strict=True)
    }
    folder = Path(values.get(b"dir", b"").decode(errors="surrogateescape"))
    of_files = values.get(
        b"appenddirname", values.get(b"appendfilename", b"")
    ).decode()  # Redis 6.2 has one file
    try:
        return folder / of_files if of_files and (folder / of_files).exists() else None
    except OSError:  # it isn't to be looked into
        return None


def seen_folders(url: str, archive: Path | None) -> dict[str, Path]:
    """The folders of the engine's nodes at this address, where they are on this machine, and of the archive, by whose they
    are. Raises RedisError, OSError or EngineUnavailableError."""
    if urlsplit(url).username in MAY_ASK:
        with closing(connect(url)) as client:
            found = {f"engine {name}".rstrip(): folder for name, folder in engine_folders(client).items()}
    else:
        found = {"engine": IMAGE_FOLDER} if IMAGE_FOLDER.exists() else {}
    return found if archive is None else {**found, "archive": archive}


def read_rooms(folders: Mapping[str, Path]) -> dict[str, DiskRoom]:
    """The room on the disks of these folders; none where it can't be asked."""
    return {whose: room for whose, folder in folders.items() if (room := read_room(folder))}


def read_room(folder: Path) -> DiskRoom | None:
    """The room on a folder's disk; None where it can't be asked."""
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return None
    return DiskRoom(usage.total, usage.free)
