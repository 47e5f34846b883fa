"""`ledgerline export`, `import` and `verify`: write a finished game to one file, bring it back, and check such a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table

from schemas.errors import CorruptDataError, ForeignFileError, InvalidInputError
from schemas.stored.player_names import pack_names
from services.archive import (
    MAX_FILE_BYTES,
    GameFile,
    GameFileError,
    Signer,
    encode_game_file,
    encode_stored_file,
)
from services.bootstrap.data_folder_keys import data_folder_signing_key
from services.cli.options import (
    DEFAULT_DATA,
    DataOption,
    GameArgument,
    JsonOption,
    OpenedGames,
    open_games,
    parse_public_key,
    read_game_log,
)
from services.cli.output import console, print_json, print_line
from services.documents import read_bytes, write_bytes
from services.ledger import GameReader, iter_view
from services.ledger.scripts.stored_entries import with_heads
from services.referee.games import fold
from services.runtime.settings import read_settings
from services.text.formatting import pluralize
from services.verification.audit import CHECK_NAMES, PASS_SENTENCES
from services.verification.deal_check import describe_deal_makers
from services.verification.log_check import Check, check_file_bytes, check_same_end
from services.verification.replay import Replay

CHECK_KINDS: Final = ("chain", "signature", "deal", "view")
app = typer.Typer()
_HEAD_PATTERN: Final = re.compile(r"(\d{1,9}):([0-9a-fA-F]{64})")


# -- export ------------------------------------------------------------------------------------


@app.command()
def export(
    game: GameArgument,
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Write a finished game to one file that everybody can check: see docs/reference/proof.md."""
    if file.exists() and not force:
        raise InvalidInputError("file", f"{file} is there already; --force writes over it")
    signer = Signer(data_folder_signing_key(data, read_settings()))
    with open_games(data) as games:
        export_game(games.repository, signer, games.find(game), file, as_json=as_json)


def export_game(reader: GameReader, signer: Signer, game: str, path: Path, *, as_json: bool = False) -> None:
    """Write a finished game's file.

    Raises InvalidInputError or GameNotFoundError; MissingEntryError or CorruptDataError where the game is damaged."""
    log = read_game_log(reader, game)
    if not fold(log).result:
        raise InvalidInputError("game", f"{game} isn't over: its file would show what is still hidden")
    names = reader.read_names(game)
    packed_names = pack_names(names) if names else b""
    data = encode_game_file(game, log, read_heads(reader, game, len(log)), signer, packed_names)
    write_bytes(path, data, "file")
    key = signer.public_key.hex()
    if as_json:
        print_json({"game": game, "file": str(path), "entries": len(log), "bytes": len(data), "key": key})
        return
    console.print(f"{path}: {len(log)} entries in {len(data):,} bytes, signed with the key")
    console.print(key)


def read_heads(reader: GameReader, game: str, length: int) -> list[bytes]:
    """The chain head after each entry, as the public view has it.

    Raises CorruptDataError where a head doesn't follow from the view."""
    entries = islice(iter_view(reader, game, None), length)
    shown = [(entry.number, entry.shown.public, entry.shown.head) for entry in entries]
    return [head for _, _, head in with_heads(game, shown)]


# -- import ------------------------------------------------------------------------------------


@app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(help="A file that `export` wrote, signed by a key of this server.")],
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Bring an exported game back: into the archive, where everybody finds it who finds finished games."""
    with open_games(data) as games:
        imported = import_game(games, read_bytes(file, MAX_FILE_BYTES, str(file)), str(file))
    if as_json:
        print_json({"game": imported.game, "entries": len(imported.entries)})
        return
    print_line(
        f"{imported.game}: {len(imported.entries)} entries are in the archive. See it: ledgerline replay {imported.game}"
    )


def import_game(games: OpenedGames, data: bytes, where: str) -> GameFile:
    """Put a game's file into the archive, and the names that lie in it beside it.

    Raises InvalidInputError: the file isn't to be believed, or another game of its id is there."""
    try:
        file, checks = check_file_bytes(data, games.repository.trusted)
    except GameFileError as error:
        raise InvalidInputError(where, str(error)) from None
    for finding in (finding for check in checks for finding in check.findings):
        mend = (
            "; name its key in LEDGERLINE_PUBLIC_KEYS if you believe it"
            if finding.kind == "signature"
            else ""
        )
        raise InvalidInputError(where, f"{finding.why}{mend}")
    reader = games.repository.archive_reader
    archive = None if reader is None else reader.archive
    if archive is None:
        raise InvalidInputError(
            "LEDGERLINE_ARCHIVE_URL", "is missing: an imported game goes into the archive"
        )
    try:
        known = games.repository.read_entries(file.game)
    except (CorruptDataError, ForeignFileError):  # what is there can't be read: this replaces it
        known = []
    if known:
        same = known == file.entries
        reason = "is there already, and is the same" if same else "is there already, and is another"
        raise InvalidInputError(where, f"game {file.game} {reason}: nothing is written")
    archive.write_names(file.game, file.names or None)
    archive.write(file.game, encode_stored_file(file._replace(names=b"")))
    games.repository.read_entries(file.game)
    return file


# -- verify --------------------------------------------------------------------------------------


@app.command()
def verify(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Files that `export` wrote, or of the archive; two of one game must agree.",
        ),
    ],
    key: Annotated[str | None, typer.Option(help="The server's public key, which must have signed.")] = None,
    head: Annotated[
        list[str] | None,
        typer.Option(help="NUMBER:HEAD that a player recorded during the game; may be repeated."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check games' files: chain, signature, deal, and views. Exit code 1: don't believe one of them."""
    ends: dict[str, GameFile] = {}
    found = [verify_file(file, key, head or (), as_json, ends) for file in files]
    if not all(found):
        raise typer.Exit(1)


def verify_file(
    path: Path,
    key: str | None,
    recorded_heads: Sequence[str],
    as_json: bool,
    ends: dict[str, GameFile] | None = None,
) -> bool:
    """Check a file, and print the findings; returns whether there are none. `ends` has the first file without findings of
    each game, and gets this one: another end of that game is a finding. Raises InvalidInputError."""
    trusted, expected_heads = parse_public_key(key), dict(map(_parse_head, recorded_heads))
    try:
        file, checks = check_file_bytes(read_bytes(path, MAX_FILE_BYTES, str(path)), trusted, expected_heads)
    except GameFileError as error:
        raise InvalidInputError(str(path), str(error)) from None
    if beyond := [number for number in expected_heads if number > len(file.entries)]:
        raise InvalidInputError(
            "--head", f"game {file.game} has {len(file.entries)} entries, so none {beyond[0]}"
        )
    if ends is not None and not any(check.findings for check in checks):
        checks = [*checks, *check_same_end(ends.setdefault(file.game, file), file)]
    findings = [finding for check in checks for finding in check.findings]
    deal = describe_deal_makers(Replay(file.game, file.entries).decoded.entries)
    if as_json:
        print_json(
            {
                "game": file.game,
                "ok": not findings,
                "entries": len(file.entries),
                "head": file.head.hex(),
                "key": file.key.hex(),
                "signer_checked": trusted is not None,
                "deal": deal,
                "findings": [finding._asdict() for finding in findings],
            }
        )
    else:
        _print_checks(file.game, len(file.entries), checks)
        print_line(deal)
        if not findings:
            signer = (
                "Signed with the key that you named."
                if trusted
                else f"The key in the file is {file.key.hex()}."
            )
            print_line(f"{signer} Verdicts are checked by `ledgerline audit`.")
    return not findings


def _print_checks(game: str, entry_count: int, checks: Sequence[Check]) -> None:
    table = Table("what", "finding", title=f"{game}: {entry_count} entries")
    made = {check.kind: check for check in checks}
    for kind in CHECK_KINDS:
        check = made.get(kind, Check(kind, skipped_reason="the file is damaged"))
        table.add_row(CHECK_NAMES[kind], _describe_result(check))
    console.print(table)
    for finding in (finding for check in checks for finding in check.findings):
        where = "the game" if finding.number is None else f"entry {finding.number}"
        print_line(f"{where}: {finding.why}")


def _describe_result(check: Check) -> str:
    if check.findings:
        return pluralize(len(check.findings), "finding")
    return f"not checked: {check.skipped_reason}" if check.skipped_reason else PASS_SENTENCES[check.kind]


def _parse_head(text: str) -> tuple[int, bytes]:
    match = _HEAD_PATTERN.fullmatch(text)
    if match is None or not int(match[1]):
        raise InvalidInputError("--head", f"{text[:80]!r} isn't NUMBER:HEAD, the head in 64 hex digits")
    return int(match[1]), bytes.fromhex(match[2])
