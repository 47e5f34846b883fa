"""`ledgerline audit`: a game of the ledger, or the file of one, checked, explained, and told to people."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.table import Table as Grid

from schemas.contract import Schema
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.field_types import GameId
from services.archive import MAX_FILE_BYTES, GameFileError, decode_game_file
from services.cli.replay import GameNotFoundError
from services.cli.tables import console, standings_table
from services.documents.files import read_bytes, write_bytes
from services.text.commands import describe_command, group_commands, sender_name
from services.text.events import pluralize
from services.verification.audit import CHECK_NAMES, PASS_SENTENCES, Audit, audit, audit_json
from services.verification.explanation import Explanation, explain
from services.verification.findings import Check
from services.verification.game_repository import GameRepository
from services.verification.log_check import check_file
from services.verification.report.page import render_page
from services.verification.view_check import SIGNATURE_NOT_CHECKED, check_stored_chain, check_stored_views

_GAME_ID: Final[Schema[str]] = Schema(GameId, "game")
_GAME_ID_PATTERN: Final = re.compile(
    r"[a-z0-9][a-z0-9-]{2,39}"
)  # what can only be a file has a dot or a slash


class AuditSource(NamedTuple):
    """A game to audit, and the checks that where it lies makes possible."""

    game: str
    log: Sequence[bytes]
    checks: Sequence[Check]


def run_audit(
    game_or_file: str,
    open_repository: Callable[[], AbstractContextManager[GameRepository]],
    sequence: int | None,
    as_json: bool,
    html: Path | None,
) -> bool:
    """Audit what is named, and tell it. Whether all is well. Raises Malformed or NoSuchGame."""
    source = (
        _load_file(Path(game_or_file))
        if _is_file(game_or_file)
        else _load_game(game_or_file, open_repository)
    )
    if sequence is not None and sequence > len(source.log):
        raise InvalidInputError(
            "--at", f"game {source.game} has {len(source.log)} entries, so no entry {sequence}"
        )
    result = audit(source.game, source.log, source.checks)
    if html is not None:
        write_bytes(
            html, render_page(result, source.log, _explain_entry(source, sequence)).encode(), "--html"
        )
    if as_json:
        print(json.dumps(audit_json(result, source.log, sequence), ensure_ascii=False, indent=2))
    else:
        _print_audit(result, _explain_entry(source, sequence), sequence)
        if html is not None:
            console.print(f"The page is {html}.", markup=False)
    return result.ok


# -- where the game lies ---------------------------------------------------------------------


def _is_file(game_or_file: str) -> bool:
    return not _GAME_ID_PATTERN.fullmatch(game_or_file) or Path(game_or_file).is_file()


def _load_file(path: Path) -> AuditSource:
    """The game of a file. Raises Malformed."""
    try:
        game_file = decode_game_file(read_bytes(path, MAX_FILE_BYTES, str(path)))
    except GameFileError as error:
        raise InvalidInputError(str(path), str(error)) from None
    return AuditSource(game_file.game, game_file.entries, check_file(game_file))


def _load_game(
    game: str, open_repository: Callable[[], AbstractContextManager[GameRepository]]
) -> AuditSource:
    """The game that the ledger holds, or the archive. Raises NoSuchGame, or Gap: its log has a hole."""
    with open_repository() as repository:
        ledger = repository.ledger
        log = ledger.read_entries(_GAME_ID.read(game))
        if not log and (file := repository.read_game_file(game)) is not None:
            return AuditSource(file.game, file.entries, check_file(file))
        if not log:
            message = f"there is no game {game}, and no file of that name; `ledgerline games` lists games"
            raise GameNotFoundError(message)
        return AuditSource(
            game,
            log,
            (
                *check_stored_chain(ledger, game, log),
                check_stored_views(ledger, game, log),
                SIGNATURE_NOT_CHECKED,
            ),
        )


def _explain_entry(source: AuditSource, sequence: int | None) -> Explanation | None:
    """The entry that was asked for; None where none was, or where it can't be read: then a finding says so."""
    try:
        return None if sequence is None else explain(source.game, source.log, sequence)
    except CorruptDataError:
        return None


# -- what a terminal is told -----------------------------------------------------------------


def _print_audit(result: Audit, explanation: Explanation | None, sequence: int | None) -> None:
    _print_line(result.summary)
    grid = Grid("what", "finding")
    for kind, good_result in PASS_SENTENCES.items():
        grid.add_row(CHECK_NAMES[kind], _finding_summary(result, kind, good_result))
    console.print(grid)
    for finding in result.findings:
        where = "the game" if finding.number is None else f"entry {finding.number}"
        _print_line(f"{where}: {finding.why}")
    if explanation is not None:
        _print_explanation(explanation)
    elif sequence is not None:
        _print_line(f"Entry {sequence} can't be explained: it, or one before it, can't be read.")


def _finding_summary(result: Audit, kind: Any, good_result: str) -> str:
    finding_count = sum(finding.kind == kind for finding in result.findings)
    if finding_count:
        return pluralize(finding_count, "finding")
    return (
        good_result
        if kind in result.checked
        else f"not checked: {result.unchecked.get(kind, 'not part of this audit')}"
    )


def _print_explanation(explanation: Explanation) -> None:
    entry, refusal, state_before = explanation.entry, explanation.entry.refusal, explanation.before
    text = describe_command(state_before, entry.seat, entry.command)
    _print_line(
        f"\nEntry {explanation.sequence}: {sender_name(explanation.after, entry.seat)} wants to {text}."
    )
    _print_line(f"Refused by {refusal.rule}: {refusal.why}." if refusal else "Accepted.")
    _print_line(
        f"Not as the rules say. {explanation.doubt}"
        if explanation.doubt
        else "Decided again: the same verdict."
    )
    for citation in explanation.cited[:1] if refusal else explanation.cited:
        _print_line(f"  {citation.rule}: {citation.sentence or citation.passage}")
    for viewer, perspective in explanation.perspectives.items():
        text = " ".join(line.sentence for line in perspective.narrated_events if line.sentence)
        name = sender_name(explanation.after, viewer) if isinstance(viewer, int) else f"the {viewer}"
        _print_line(f"{name} was told: {text or 'nothing'}")
    if state_before.game:
        console.print(standings_table(state_before))
    if entry.seat is not None and explanation.alternatives:
        kinds = group_commands(state_before, entry.seat, explanation.alternatives)
        ways = (f"{kind} ({pluralize(len(how), 'way')})" if len(how) > 1 else kind for kind, how in kinds)
        _print_line(
            f"It could have done {pluralize(len(explanation.alternatives), 'thing')}: {'; '.join(ways)}."
        )


def _print_line(sentence: str) -> None:
    console.print(sentence, markup=False, soft_wrap=True)
