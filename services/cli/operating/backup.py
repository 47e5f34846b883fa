"""`ledgerline backup` and `restore`: the engine, the archive and the keys as one folder, and back; every game is checked.

    engine.rdb                 all keys of the engine at one moment; engine-2.rdb ... of the other primaries of a cluster
    archive/xx/GAME.ledgerline finished games that had left the engine, and GAME.names
    keys/*.key                 the keys that the one who made it had
    backup.json                written last: when, by which version, of how much, and the SHA-256 of every file

Whoever has it sees every hidden card, and may sign for the server: only its owner may read it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final, NamedTuple, TypeAlias

import typer
from pydantic import SecretStr, TypeAdapter, ValidationError
from rich.progress import BarColumn, DownloadColumn, TextColumn

from schemas.errors import CorruptDataError, ForeignFileError, InvalidInputError
from services import VERSION
from services.archive import Archive, ArchiveUnavailableError
from services.bootstrap.composition import open_archive_reader, open_ledger
from services.bootstrap.data_folder_keys import KEY_NAMES, data_folder_signing_key
from services.bootstrap.embedded import default_archive_url
from services.cli.games.export_verify import read_heads
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, OpenedGames, open_games
from services.cli.output import CommandLineError, counted, print_json, print_line, progress_bar
from services.ledger import MissingEntryError
from services.ledger.engine.embedded_engine import running_engine
from services.ledger.ports import ENGINE_ERRORS
from services.referee.games import fold
from services.runtime.settings import Settings, read_settings
from services.text.formatting import pluralize
from services.verification.game_repository import GameRepository
from services.verification.replay import REPLAY_ERRORS

app = typer.Typer()
ALL_GAMES: Final = 1_000_000_000
LEAST_MEMORY: Final = 1 << 30  # of addresses, most of which an engine never uses
MEMORY_A_BYTE: Final = 16  # of a snapshot; games take 1.5
ShowProgress: TypeAlias = Callable[[Iterable[str]], Iterable[str]]
GAME_ERRORS: Final = (
    CorruptDataError,
    ForeignFileError,
    MissingEntryError,
    ArchiveUnavailableError,
    *REPLAY_ERRORS,
)


class CheckedGames(NamedTuple):
    """What a look at every game found."""

    playing: int
    over: int
    entries: int
    faults: list[tuple[str, str]]  # the game, and why it isn't whole

    def sentence(self) -> str:
        """Say it."""
        games = pluralize(self.playing + self.over, "game")
        whole = "every chain holds" if not self.faults else f"{len(self.faults)} can't be read"
        return f"{games}, {self.playing} of them being played, in {self.entries:,} entries: {whole}."


@app.command()
def backup(
    to: Annotated[Path, typer.Argument(help="A new folder. Whoever reads it sees every hidden card.")],
    with_archive: Annotated[
        bool, typer.Option("--archive/--no-archive", help="Copy archived games too.")
    ] = True,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Write engine, archive and keys into a new folder while games go on, and check what was written."""
    require_new_folder(to, "backup")
    with open_games(data) as games:
        taken_at = datetime.now(UTC).isoformat(timespec="seconds")
        size = _write_snapshots(games, to)
        archived = _copy_archive(games.settings, to) if with_archive else 0
        keys = copy_keys(games.settings, data, to / "keys")
        describe(
            to, taken_at, games.ledger.partitions, games.settings.public_keys, partial(counted, "summing up")
        )
    missing = [name for name in KEY_NAMES if name not in keys]
    if as_json:
        print_json(
            {"backup": str(to), "bytes": size, "archived": archived, "keys": keys, "missing_keys": missing}
        )
        return
    print_line(
        f"{to}: {size:,} bytes of the engine, {pluralize(archived, 'archived game')}, keys: {', '.join(keys) or 'none'}."
    )
    if missing:
        print_line(
            f"Not here, so copy them yourself if you use them: {', '.join(f'{name}.key' for name in missing)}."
        )
    print_line(f"`ledgerline restore {to} FOLDER` makes a data folder of it, and checks every game.")


@app.command()
def restore(
    backup: Annotated[Path, typer.Argument(help="The folder that `backup` wrote.")],
    data: Annotated[
        Path, typer.Argument(help="A new data folder, for `serve --data` or the engine's volume.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Make a data folder of a backup, start its engine, and check the chain of every game; exit code 1: one is damaged."""
    described = read_description(backup, partial(counted, "reading the backup"))
    require_new_folder(data, "data")
    nodes = write_data_folder(backup, data)
    with ExitStack() as opened:
        checked = check_games(
            [opened.enter_context(_open_restored(node, data, described, len(nodes) > 1)) for node in nodes]
        )
    if as_json:
        print_json({"data": str(data), "taken_at": described.taken_at, **checked._asdict()})
    else:
        print_line(f"{data}: the backup of {described.taken_at}. {checked.sentence()}")
        for game, why in checked.faults:
            print_line(f"{game}: {why}")
        if len(nodes) == 1:
            print_line(f"`ledgerline serve --data {data}` goes on from there.")
        else:
            print_line(f"Each of {nodes[0]} to {nodes[-1].name} is a primary's folder: see the runbook.")
    if checked.faults:
        raise typer.Exit(1)


def check_games(repositories: Sequence[GameRepository]) -> CheckedGames:
    """Fold every game, wherever it is, and compute its chain anew from what the public sees."""
    playing = over = entries = 0
    faults = []
    where = {game: repository for repository in repositories for game in repository.games(ALL_GAMES)}
    for game in counted("checking games", where):
        try:
            log = where[game].read_entries(game)
            read_heads(where[game], game, len(log))
            is_over = bool(fold(log).result)
        except GAME_ERRORS as error:
            faults.append((game, str(error)))
            continue
        entries += len(log)
        playing, over = playing + (not is_over), over + is_over
    return CheckedGames(playing, over, entries, faults)


@contextmanager
def _open_restored(node: Path, data: Path, described: Backup, of_cluster: bool) -> Iterator[GameRepository]:
    """The games of a folder that was just restored, on an engine of its own, which takes no more memory than games need: a
    backup may come from anybody, and few bytes of it unpack to gigabytes. On one of a cluster's nodes it writes nothing: it
    is another node that has the number of partitions."""
    with ExitStack() as running:
        looked_at = running.enter_context(snapshot_to_look_at(node)) if of_cluster else node
        memory = LEAST_MEMORY + MEMORY_A_BYTE * (node / AOF_FOLDER / BASE_FILE).stat().st_size
        url = running.enter_context(
            running_engine(looked_at, memory, appendonly="no" if of_cluster else "yes")
        )
        own: dict[str, object] = {
            "redis_url": url,
            "partitions": described.partitions if of_cluster else None,
            "archive_url": default_archive_url(data),
            "public_keys": described.public_keys,
            "signing_key": SecretStr(""),
        }
        settings = read_settings().model_copy(update=own)
        key = SecretStr(data_folder_signing_key(data, settings, make=False))
        settings = settings.model_copy(update={"signing_key": key})
        with closing(open_ledger(settings)) as ledger:
            yield GameRepository(ledger, open_archive_reader(settings))


def _write_snapshots(games: OpenedGames, to: Path) -> int:
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
    size = 0
    with progress_bar(*columns) as progress:
        task = progress.add_task("the engine", total=None)
        try:
            for number, (_, pieces) in enumerate(games.ledger.system_status().snapshots(), 1):
                for written in write_snapshot(to, number, pieces):
                    size += written
                    progress.update(task, completed=size)
        except ENGINE_ERRORS as error:
            reason = f"{to} is no whole backup, delete it: {error}"
            raise CommandLineError(f"{reason}. Ask the engine as a user who may PSYNC (operator).") from None
    return size


def _copy_archive(settings: Settings, to: Path) -> int:
    if not settings.archive_url:
        return 0
    return copy_archive(Archive(settings.archive_url), to / "archive", partial(counted, "the archive"))


DESCRIPTION: Final = "backup.json"
ENGINE_FILES: Final = "engine*.rdb"
AOF_FOLDER: Final = "appendonlydir"  # of the embedded engine, and of each other as it comes
BASE_FILE: Final = "appendonly.aof.1.base.rdb"
MANIFEST: Final = "appendonly.aof.manifest"
MAX_DESCRIPTION_BYTES: Final = 512 * 1024 * 1024  # a million archived games have a quarter of it


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


def copy_archive(archive: Archive, folder: Path, progress: ShowProgress) -> int:
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


def describe(folder: Path, taken_at: str, partitions: int, public_keys: str, progress: ShowProgress) -> None:
    """Write backup.json, by which the folder is a backup."""
    files = {name: _digest(folder / name) for name in progress(_files(folder))}
    backup = Backup(VERSION, taken_at, partitions, public_keys, files)
    (folder / DESCRIPTION).write_text(json.dumps(backup._asdict(), indent=1) + "\n")


def read_description(folder: Path, progress: ShowProgress) -> Backup:
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
