"""`ledgerline audit`: a game of the ledger, or the file of one, checked, explained, and told to people."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.table import Table as Grid

from schemas.codec import Corrupt
from schemas.contract import Malformed, Shape
from schemas.field_types import GameId
from services.archive import FILE_MOST, Unreadable, read_file
from services.cli.replay import NoSuchGame
from services.cli.tables import out, standing_table
from services.documents.files import read_bytes, write_bytes
from services.text.commands import gathered, speaker, wish
from services.text.events import count
from services.verification.audit import NAMES, PLAINLY, Audit, audit, document
from services.verification.explanation import Explained, explain
from services.verification.findings import Check
from services.verification.game_repository import Kept
from services.verification.log_check import proven_file
from services.verification.report.page import page
from services.verification.view_check import UNSIGNED, chain_sent, views_sent

_GAME_ID: Final[Shape[str]] = Shape(GameId, "game")
_OF_A_GAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{2,39}")  # what can only be a file has a dot or a slash


class Source(NamedTuple):
    """A game to audit, and the checks that where it lies makes possible."""

    game: str
    log: Sequence[bytes]
    checks: Sequence[Check]


def run(
    named: str,
    opened: Callable[[], AbstractContextManager[Kept]],
    at: int | None,
    as_json: bool,
    html: Path | None,
) -> bool:
    """Audit what is named, and tell it. Whether all is well. Raises Malformed or NoSuchGame."""
    source = _of_file(Path(named)) if _is_file(named) else _of_game(named, opened)
    if at is not None and at > len(source.log):
        raise Malformed("--at", f"game {source.game} has {len(source.log)} entries, so no entry {at}")
    done = audit(source.game, source.log, source.checks)
    if html is not None:
        write_bytes(html, page(done, source.log, _explained(source, at)).encode(), "--html")
    if as_json:
        print(json.dumps(document(done, source.log, at), ensure_ascii=False, indent=2))
    else:
        _tell(done, _explained(source, at), at)
        if html is not None:
            out.print(f"The page is {html}.", markup=False)
    return done.ok


# -- where the game lies ---------------------------------------------------------------------


def _is_file(named: str) -> bool:
    return not _OF_A_GAME.fullmatch(named) or Path(named).is_file()


def _of_file(path: Path) -> Source:
    """The game of a file. Raises Malformed."""
    try:
        found = read_file(read_bytes(path, FILE_MOST, str(path)))
    except Unreadable as error:
        raise Malformed(str(path), str(error)) from None
    return Source(found.game, found.entries, proven_file(found))


def _of_game(game: str, opened: Callable[[], AbstractContextManager[Kept]]) -> Source:
    """The game that the ledger holds, or the archive. Raises NoSuchGame, or Gap: its log has a hole."""
    with opened() as kept:
        ledger = kept.ledger
        log = ledger.history(_GAME_ID.read(game))
        if not log and (file := kept.file(game)) is not None:
            return Source(file.game, file.entries, proven_file(file))
        if not log:
            told = f"there is no game {game}, and no file of that name; `ledgerline games` lists games"
            raise NoSuchGame(told)
        return Source(game, log, (*chain_sent(ledger, game, log), views_sent(ledger, game, log), UNSIGNED))


def _explained(source: Source, at: int | None) -> Explained | None:
    """The entry that was asked for; None where none was, or where it can't be read: then a finding says so."""
    try:
        return None if at is None else explain(source.game, source.log, at)
    except Corrupt:
        return None


# -- what a terminal is told -----------------------------------------------------------------


def _tell(done: Audit, told: Explained | None, at: int | None) -> None:
    _print(done.in_a_sentence)
    grid = Grid("what", "finding")
    for kind, good in PLAINLY.items():
        grid.add_row(NAMES[kind], _result(done, kind, good))
    out.print(grid)
    for finding in done.findings:
        where = "the game" if finding.number is None else f"entry {finding.number}"
        _print(f"{where}: {finding.why}")
    if told is not None:
        _tell_move(told)
    elif at is not None:
        _print(f"Entry {at} can't be explained: it, or one before it, can't be read.")


def _result(done: Audit, kind: Any, good: str) -> str:
    found = sum(finding.kind == kind for finding in done.findings)
    if found:
        return count(found, "finding")
    return (
        good if kind in done.checked else f"not checked: {done.unchecked.get(kind, 'not part of this audit')}"
    )


def _tell_move(told: Explained) -> None:
    entry, refusal, before = told.entry, told.entry.refusal, told.before
    said = wish(before, entry.seat, entry.command)
    _print(f"\nEntry {told.number}: {speaker(told.after, entry.seat)} wants to {said}.")
    _print(f"Refused by {refusal.rule}: {refusal.why}." if refusal else "Accepted.")
    _print(f"Not as the rules say. {told.doubt}" if told.doubt else "Decided again: the same verdict.")
    for cited in told.cited[:1] if refusal else told.cited:
        _print(f"  {cited.rule}: {cited.sentence or cited.passage}")
    for viewer, sight in told.sights.items():
        said = " ".join(line.sentence for line in sight.told if line.sentence)
        name = speaker(told.after, viewer) if isinstance(viewer, int) else f"the {viewer}"
        _print(f"{name} was told: {said or 'nothing'}")
    if before.game:
        out.print(standing_table(before))
    if entry.seat is not None and told.alternatives:
        kinds = gathered(before, entry.seat, told.alternatives)
        ways = (f"{kind} ({count(len(how), 'way')})" if len(how) > 1 else kind for kind, how in kinds)
        _print(f"It could have done {count(len(told.alternatives), 'thing')}: {'; '.join(ways)}.")


def _print(sentence: str) -> None:
    out.print(sentence, markup=False, soft_wrap=True)
