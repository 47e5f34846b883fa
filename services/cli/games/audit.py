"""`ledgerline audit`: check a game of the ledger or of a file, and explain one of its moves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer
from rich.table import Table

from schemas.errors import CorruptDataError, InvalidInputError
from schemas.stored.player_names import shown_names, unpack_names
from services.archive import MAX_FILE_BYTES, GameFile, GameFileError, TrustedKeys, decode_game_file
from services.cli.options import DEFAULT_DATA, GAME_ID, DataOption, JsonOption, open_games, parse_public_key
from services.cli.output import GameNotFoundError, console, print_json, print_line
from services.cli.tables.game_tables import standings_table
from services.documents import read_bytes, write_bytes
from services.text.formatting import pluralize
from services.text.sentences import describe_command, group_commands, sender_name
from services.verification.audit import (
    CHECK_NAMES,
    PASS_SENTENCES,
    SIGNATURE_NOT_CHECKED,
    Audit,
    audit,
    audit_json,
    check_stored_chain,
    check_stored_views,
)
from services.verification.explanation import Explanation, explain
from services.verification.game_repository import GameRepository
from services.verification.log_check import Check, CheckKind, check_file
from services.verification.replay import Replay
from services.verification.report.page import render_page

# Only the name of a file has a dot or a slash.
_GAME_PATTERN: Final = re.compile(r"[a-z0-9-]{1,40}")
app = typer.Typer()


class AuditSource(NamedTuple):
    """A game to audit: the replay of its log, and the checks that only its place of storage makes possible."""

    replay: Replay
    checks: Sequence[Check]


@app.command("audit")
def audit_command(
    game_or_file: Annotated[
        str, typer.Argument(metavar="GAME|FILE", help="A game's id, or a file that `export` wrote.")
    ],
    at: Annotated[int | None, typer.Option(min=1, help="Explain this entry: the disputed move.")] = None,
    key: Annotated[
        str | None, typer.Option(help="Of a FILE: the server's public key, which must have signed it.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page for an arbiter to this file.")] = None,
    all_open: Annotated[
        bool, typer.Option("--open", help="With --at while the game is played: show what seats hide.")
    ] = False,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Check everything of a game that can be checked, and explain a move. Exit code 1: something is wrong."""
    if not _GAME_PATTERN.fullmatch(game_or_file) or Path(game_or_file).is_file():
        source = load_file(Path(game_or_file), parse_public_key(key))
    else:
        with open_games(data) as games:
            source = load_game(games.find(game_or_file), games.repository)
    if at is not None and not all_open and _is_played(source.replay):
        raise InvalidInputError(
            "--at", "explains with every seat's cards, and the game is played: --open shows them"
        )
    if not run_audit(source, at, as_json, html):
        raise typer.Exit(1)


def run_audit(source: AuditSource, sequence: int | None, as_json: bool, html: Path | None) -> bool:
    """Audit a game, explain the entry of this number, and print the result. Returns whether nothing is wrong.

    Raises InvalidInputError: there is no such entry, or the page can't be written."""
    if sequence is not None and sequence > len(source.replay.log):
        raise InvalidInputError(
            "--at", f"game {source.replay.game} has {len(source.replay.log)} entries, so no entry {sequence}"
        )
    result = audit(source.replay, source.checks)
    explanation = None if as_json and html is None else _explain_entry(source, sequence)
    if html is not None:
        write_bytes(html, render_page(result, source.replay, explanation).encode(), "--html")
    if as_json:
        print_json(audit_json(result, source.replay, sequence))
    else:
        _print_audit(result, explanation, sequence)
        if html is not None:
            console.print(f"The page is {html}.")
    return result.ok


def _is_played(replay: Replay) -> bool:
    """Whether the game isn't over; of one that can't be read that is no matter."""
    try:
        return not replay.state_after(len(replay.log)).result
    except CorruptDataError:
        return False


# -- loading the game ---------------------------------------------------------------------


def load_file(path: Path, trusted: TrustedKeys | None) -> AuditSource:
    """The game of a file, which a trusted key must have signed; None says nothing about who signed.

    Raises InvalidInputError."""
    try:
        game_file = decode_game_file(read_bytes(path, MAX_FILE_BYTES, str(path)))
    except GameFileError as error:
        raise InvalidInputError(str(path), str(error)) from None
    try:
        names = unpack_names(game_file.names) if game_file.names else {}
    except CorruptDataError:  # a finding of the audit
        names = {}
    return _file_source(game_file, trusted, shown_names(names))


def load_game(game: str, repository: GameRepository) -> AuditSource:
    """A game of the ledger or of the archive.

    Raises InvalidInputError, GameNotFoundError, or MissingEntryError: its log has a gap."""
    ledger = repository.ledger
    log = ledger.read_entries(GAME_ID.read(game))
    if not log and (file := repository.read_game_file(game)) is not None:
        return _file_source(file, repository.trusted, shown_names(repository.read_names(game)))
    if not log:
        message = f"there is no game {game}, and no file of that name; `ledgerline games` lists games"
        raise GameNotFoundError(message)
    replay = Replay(game, log, shown_names(repository.read_names(game)))
    views = check_stored_views(ledger, replay)
    return AuditSource(replay, (*check_stored_chain(ledger, replay), views, SIGNATURE_NOT_CHECKED))


def _file_source(file: GameFile, trusted: TrustedKeys | None, names: Mapping[str, str]) -> AuditSource:
    replay = Replay(file.game, file.entries, names)
    return AuditSource(replay, check_file(file, trusted, replay=replay))


def _explain_entry(source: AuditSource, sequence: int | None) -> Explanation | None:
    """The entry that `--at` names; None without one, or where it can't be read: then a finding says so."""
    try:
        return None if sequence is None else explain(source.replay, sequence)
    except CorruptDataError:
        return None


# -- printing it for a terminal -----------------------------------------------------------------


def _print_audit(result: Audit, explanation: Explanation | None, sequence: int | None) -> None:
    print_line(result.summary)
    table = Table("what", "finding")
    for kind, good_result in PASS_SENTENCES.items():
        table.add_row(CHECK_NAMES[kind], _finding_summary(result, kind, good_result))
    console.print(table)
    print_line(result.deal)
    for finding in result.findings:
        where = "the game" if finding.number is None else f"entry {finding.number}"
        print_line(f"{where}: {finding.why}")
    if explanation is not None:
        _print_explanation(explanation)
    elif sequence is not None:
        print_line(f"Entry {sequence} can't be explained: it, or one before it, can't be read.")


def _finding_summary(result: Audit, kind: CheckKind, good_result: str) -> str:
    finding_count = sum(finding.kind == kind for finding in result.findings)
    if finding_count:
        return pluralize(finding_count, "finding")
    if kind in result.checked:
        return good_result
    return f"not checked: {result.unchecked.get(kind, 'not part of this audit')}"


def _print_explanation(explanation: Explanation) -> None:
    entry, refusal, state_before = explanation.entry, explanation.entry.refusal, explanation.before
    text = describe_command(state_before, entry.seat, entry.command)
    print_line()
    print_line(f"Entry {explanation.sequence}: {sender_name(explanation.after, entry.seat)} wants to {text}.")
    print_line(f"Refused by {refusal.rule}: {refusal.why}." if refusal else "Accepted.")
    doubt = explanation.doubt
    print_line(f"Not as the rules say. {doubt}" if doubt else "Decided again: the same verdict.")
    for citation in explanation.cited[:1] if refusal else explanation.cited:
        print_line(f"  {citation.rule}: {citation.sentence or citation.passage}")
    for viewer, perspective in explanation.perspectives.items():
        text = " ".join(line.sentence for line in perspective.narrated_events if line.sentence)
        name = sender_name(explanation.after, viewer) if isinstance(viewer, int) else f"the {viewer}"
        print_line(f"{name} was shown: {text or 'nothing'}")
    if state_before.game:
        console.print(standings_table(state_before))
    if entry.seat is not None and explanation.alternatives:
        kinds = group_commands(state_before, entry.seat, explanation.alternatives)
        ways = (f"{kind} ({pluralize(len(how), 'way')})" if len(how) > 1 else kind for kind, how in kinds)
        print_line(
            f"It could have done {pluralize(len(explanation.alternatives), 'thing')}: {'; '.join(ways)}."
        )
