"""`ledgerline export` and `verify`: a finished game as one file, and whether such a file is to be believed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from rich.table import Table as Grid

from schemas.contract import Schema
from schemas.errors import InvalidInputError
from schemas.field_types import GameId
from services.archive import MAX_FILE_BYTES, GameFileError, Signer, encode_game_file
from services.cli.replay import GameNotFoundError
from services.cli.tables import console
from services.documents.files import read_bytes, write_bytes
from services.ledger import GameReader, iter_view
from services.referee.rules import fold
from services.text.events import pluralize
from services.verification.audit import CHECK_NAMES, PASS_SENTENCES
from services.verification.findings import Check
from services.verification.log_check import check_file_bytes, recompute_heads
from services.verification.view_check import is_unchained

OLD_RULES_WARNING: Final = (
    "Its rules are of a version before 3: its chain holds nothing of what was hidden, and no player had a say "
    "in its chance. A game that began since then should name a later one."
)
CHECK_KINDS: Final = ("chain", "signature", "deal", "view")
_GAME_ID: Final[Schema[str]] = Schema(GameId, "game")
_HEAD_PATTERN: Final = re.compile(r"(\d{1,9}):([0-9a-fA-F]{64})")


# -- export ------------------------------------------------------------------------------------


def export_game(games: GameReader, signer: Signer, game: str, path: Path) -> None:
    """Write a finished game's file. Raises Malformed or NoSuchGame; Gap or Corrupt: it is damaged."""
    log = games.read_entries(_GAME_ID.read(game))
    if not log:
        raise GameNotFoundError(f"there is no game {game}; `ledgerline games` lists them")
    if not fold(log).result:
        raise InvalidInputError("game", f"{game} isn't over: its file would tell what is still hidden")
    data = encode_game_file(game, log, read_heads(games, game, len(log)), signer)
    write_bytes(path, data, "file")
    console.print(f"{path}: {len(log)} entries in {len(data):,} bytes, signed with the key", markup=False)
    console.print(signer.public_key.hex(), markup=False)


def read_heads(games: GameReader, game: str, length: int) -> list[bytes]:
    """The head after each entry, as everybody was told it. Raises Corrupt: it isn't what follows from
    what they were shown."""
    entries = islice(iter_view(games, game, None), length)
    return recompute_heads(game, [(entry.number, entry.shown.public, entry.shown.head) for entry in entries])


# -- verify --------------------------------------------------------------------------------------


def verify_file(path: Path, key: str | None, recorded_heads: Sequence[str], as_json: bool) -> bool:
    """Check a file, and tell what was found. Whether it is to be believed. Raises Malformed."""
    expected_key, expected_heads = _parse_key(key), dict(map(_parse_head, recorded_heads))
    try:
        file, checks = check_file_bytes(
            read_bytes(path, MAX_FILE_BYTES, str(path)), expected_key, expected_heads
        )
    except GameFileError as error:
        raise InvalidInputError(str(path), str(error)) from None
    if beyond := [number for number in expected_heads if number > len(file.entries)]:
        raise InvalidInputError(
            "--head", f"game {file.game} has {len(file.entries)} entries, so none {beyond[0]}"
        )
    findings = [found for check in checks for found in check.findings]
    sealed = not is_unchained(file.entries)
    if as_json:
        result = {
            "game": file.game,
            "ok": not findings,
            "entries": len(file.entries),
            "sealed": sealed,
            "head": file.head.hex(),
            "key": file.key.hex(),
            "findings": [found._asdict() for found in findings],
        }
        print(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        _print_checks(file.game, len(file.entries), checks)
        if not sealed:
            console.print(OLD_RULES_WARNING, markup=False, soft_wrap=True)
        if not findings:
            signer_label = "the key that you named" if expected_key else f"the key {file.key.hex()}"
            console.print(
                f"Signed with {signer_label}. Verdicts are checked by `ledgerline audit`.", markup=False
            )
    return not findings


def _print_checks(game: str, entry_count: int, checks: Sequence[Check]) -> None:
    grid = Grid("what", "finding", title=f"{game}: {entry_count} entries")
    findings_by_kind = {check.kind: list(check.findings) for check in checks}
    for kind in CHECK_KINDS:
        good_result = PASS_SENTENCES[kind] if kind in findings_by_kind else "not checked: the file is damaged"
        grid.add_row(
            CHECK_NAMES[kind],
            pluralize(len(findings_by_kind[kind]), "finding") if findings_by_kind.get(kind) else good_result,
        )
    console.print(grid)
    for finding in (finding for findings in findings_by_kind.values() for finding in findings):
        where = "the game" if finding.number is None else f"entry {finding.number}"
        console.print(f"{where}: {finding.why}", markup=False, soft_wrap=True)


def _parse_key(text: str | None) -> bytes | None:
    if text is None:
        return None
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        raise InvalidInputError("--key", "must be the house's public key, 64 hex digits")
    return bytes.fromhex(text)


def _parse_head(text: str) -> tuple[int, bytes]:
    match = _HEAD_PATTERN.fullmatch(text)
    if match is None or not int(match[1]):
        raise InvalidInputError("--head", f"{text[:80]!r} isn't NUMBER:HEAD, the head in 64 hex digits")
    return int(match[1]), bytes.fromhex(match[2])
