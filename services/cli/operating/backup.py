"""`ledgerline backup` and `restore`: the engine, the archive and the keys as one folder, and back; every game is checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer
from pydantic import SecretStr
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn

from schemas.errors import CorruptDataError, ForeignFileError
from services.archive import Archive, ArchiveUnavailableError
from services.bootstrap.backup_folder import (
    AOF_FOLDER,
    BASE_FILE,
    Backup,
    copy_archive,
    copy_keys,
    describe,
    read_description,
    require_new_folder,
    snapshot_to_look_at,
    write_data_folder,
    write_snapshot,
)
from services.bootstrap.composition import open_archive_reader, open_ledger
from services.bootstrap.data_folder_keys import KEY_NAMES, data_folder_signing_key
from services.bootstrap.embedded import default_archive_url
from services.cli.games.export_verify import read_heads
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, OpenedGames, open_games
from services.cli.output import CommandLineError, PlainTextConsole, print_json, print_line
from services.ledger import MissingEntryError
from services.ledger.embedded_engine import running_engine
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
        describe(to, taken_at, games.ledger.partitions, games.settings.public_keys, Counted("summing up"))
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
    described = read_description(backup, Counted("reading the backup"))
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
    for game in Counted("checking games")(where):
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
    with _progress(*columns) as progress:
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
    return copy_archive(Archive(settings.archive_url), to / "archive", Counted("the archive"))


class Counted:
    """Shows how many of some names are done, on a terminal."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __call__(self, names: Iterable[str]) -> Iterator[str]:
        names = list(names)
        with _progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()) as progress:
            yield from progress.track(names, total=len(names), description=self.what)


def _progress(*columns: BarColumn | TextColumn | DownloadColumn | MofNCompleteColumn) -> Progress:
    console = PlainTextConsole(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
