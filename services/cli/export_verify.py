"""`ledgerline export` and `verify`: a finished game as one file, and whether such a file is to be believed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

from rich.table import Table as Grid

from schemas.contract import Malformed, Shape
from schemas.field_types import GameId
from services.archive import FILE_MOST, Signer, Unreadable, write_file
from services.cli.replay import NoSuchGame
from services.cli.tables import out
from services.documents.files import read_bytes, write_bytes
from services.ledger import Seen, whole_view
from services.referee.rules import fold
from services.text.events import count
from services.verification.audit import NAMES, PLAINLY
from services.verification.findings import Check
from services.verification.log_check import proven_bytes, told_heads
from services.verification.view_check import is_old

OLD: Final = (
    "Its rules are of a version before 3: its chain holds nothing of what was hidden, and no player had a say "
    "in its chance. A game that began since then should name a later one."
)
KINDS: Final = ("chain", "signature", "deal", "view")
_GAME_ID: Final[Shape[str]] = Shape(GameId, "game")
_HEAD: Final = re.compile(r"(\d{1,9}):([0-9a-fA-F]{64})")


class Games(Seen, Protocol):
    """Where games are read from: the engine, and an archive beside it."""

    def history(self, game: str, after: int = 0) -> list[bytes]: ...


# -- export ------------------------------------------------------------------------------------


def export(games: Games, signer: Signer, game: str, path: Path) -> None:
    """Write a finished game's file. Raises Malformed or NoSuchGame; Gap or Corrupt: it is damaged."""
    log = games.history(_GAME_ID.read(game))
    if not log:
        raise NoSuchGame(f"there is no game {game}; `ledgerline games` lists them")
    if not fold(log).over:
        raise Malformed("game", f"{game} isn't over: its file would tell what is still hidden")
    data = write_file(game, log, heads(games, game, len(log)), signer)
    write_bytes(path, data, "file")
    out.print(f"{path}: {len(log)} entries in {len(data):,} bytes, signed with the key", markup=False)
    out.print(signer.key.hex(), markup=False)


def heads(games: Games, game: str, length: int) -> list[bytes]:
    """The head after each entry, as everybody was told it. Raises Corrupt: it isn't what follows from
    what they were shown."""
    entries = islice(whole_view(games, game, None), length)
    return told_heads(game, [(entry.number, entry.shown.public, entry.shown.head) for entry in entries])


# -- verify --------------------------------------------------------------------------------------


def verify(path: Path, key: str | None, kept: Sequence[str], as_json: bool) -> bool:
    """Check a file, and tell what was found. Whether it is to be believed. Raises Malformed."""
    wanted, heads = _key(key), dict(map(_kept, kept))
    try:
        file, checks = proven_bytes(read_bytes(path, FILE_MOST, str(path)), wanted, heads)
    except Unreadable as error:
        raise Malformed(str(path), str(error)) from None
    if beyond := [number for number in heads if number > len(file.entries)]:
        raise Malformed("--head", f"game {file.game} has {len(file.entries)} entries, so none {beyond[0]}")
    findings = [found for check in checks for found in check.findings]
    sealed = not is_old(file.entries)
    if as_json:
        told = {
            "game": file.game,
            "ok": not findings,
            "entries": len(file.entries),
            "sealed": sealed,
            "head": file.head.hex(),
            "key": file.key.hex(),
            "findings": [found._asdict() for found in findings],
        }
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        _tell(file.game, len(file.entries), checks)
        if not sealed:
            out.print(OLD, markup=False, soft_wrap=True)
        if not findings:
            whose = "the key that you named" if wanted else f"the key {file.key.hex()}"
            out.print(f"Signed with {whose}. Verdicts are checked by `ledgerline audit`.", markup=False)
    return not findings


def _tell(game: str, entries: int, checks: Sequence[Check]) -> None:
    grid = Grid("what", "finding", title=f"{game}: {entries} entries")
    done = {check.kind: list(check.findings) for check in checks}
    for kind in KINDS:
        told = PLAINLY[kind] if kind in done else "not checked: the file is damaged"
        grid.add_row(NAMES[kind], count(len(done[kind]), "finding") if done.get(kind) else told)
    out.print(grid)
    for finding in (finding for found in done.values() for finding in found):
        where = "the game" if finding.number is None else f"entry {finding.number}"
        out.print(f"{where}: {finding.why}", markup=False, soft_wrap=True)


def _key(told: str | None) -> bytes | None:
    if told is None:
        return None
    if not re.fullmatch(r"[0-9a-fA-F]{64}", told):
        raise Malformed("--key", "must be the house's public key, 64 hex digits")
    return bytes.fromhex(told)


def _kept(told: str) -> tuple[int, bytes]:
    fits = _HEAD.fullmatch(told)
    if fits is None or not int(fits[1]):
        raise Malformed("--head", f"{told[:80]!r} isn't NUMBER:HEAD, the head in 64 hex digits")
    return int(fits[1]), bytes.fromhex(fits[2])
