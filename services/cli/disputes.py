"""`ledgerline disputes`: the moves that seats or the operator dispute, and what audits found."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

import typer
from rich.table import Column, Table

from schemas.contract import Schema
from schemas.disputes import (
    DISPUTE_SCHEMA,
    MAX_OPEN_PER_SEAT,
    MAX_PER_SEAT,
    derive_dispute_id,
    parse_dispute_id,
    unpack_answer,
)
from schemas.errors import InvalidInputError
from schemas.field_types import GameId
from services.bootstrap.composition import open_archive_reader
from services.cli.exit import GameNotFoundError
from services.cli.options import (
    DEFAULT_DATA,
    DataOption,
    JsonOption,
    load_settings,
    open_read_ledger,
    with_own_archive,
)
from services.cli.output import console, print_json, print_line
from services.ledger import RedisLedger
from services.ledger.stores.dispute_queries import DisputeRecord, RaiseOutcome, dispute_json
from services.text.formatting import pluralize
from services.verification.game_repository import GameRepository

WAITING_MESSAGE: Final = (
    "An auditor checks it while the server runs (`ledgerline serve`, or `ledgerline auditor`)."
)
FAILED_MESSAGE: Final = "The audit failed and is tried again; `ledgerline jobs` shows why."
_GAME_ID: Final[Schema[str]] = Schema(GameId, "game")
app = typer.Typer(help="List the disputed moves, show one, or dispute a move.")


# The JSON of `dispute_json`, and "found": the answer of an audit, whose form only its JSON Schema describes.
DisputeFields: TypeAlias = dict[str, Any]


class DisputeContext(NamedTuple):
    """The ledger with its disputes, and all games, those of the archive too."""

    ledger: RedisLedger
    repository: GameRepository


@contextmanager
def _open_context(data: Path) -> Iterator[DisputeContext]:
    with open_read_ledger(data) as ledger:
        yield DisputeContext(
            ledger, GameRepository(ledger, open_archive_reader(with_own_archive(load_settings(), data)))
        )


@app.callback(invoke_without_command=True)
def disputes_callback(
    context: typer.Context,
    game: Annotated[str | None, typer.Option(help="Only those of this game.")] = None,
    open_only: Annotated[bool, typer.Option("--open", help="Only those without their last answer.")] = False,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """List the disputes, the latest first: who disputes which entry, its state, what was found."""
    if context.invoked_subcommand is None:
        with _open_context(data) as games:
            list_disputes(games.ledger, game, open_only, as_json)


@app.command()
def show(
    dispute: Annotated[str, typer.Argument(help="As `disputes` shows it.")],
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Show all of one: its reason, the answer to its seat, and what the audit found."""
    with _open_context(data) as games:
        show_dispute(games.ledger, dispute, as_json)


@app.command("raise")
def raise_command(
    game: Annotated[str, typer.Argument(help="The game's id, as play and games print it.")],
    at: Annotated[int, typer.Option(min=1, help="The entry that is disputed.")],
    reason: Annotated[str, typer.Option(help="Why, in up to 500 characters.")],
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Dispute a move yourself. An operator sees the whole answer, even while the game runs."""
    with _open_context(data) as games:
        raise_dispute(games, game, at, reason, as_json)


def list_disputes(ledger: RedisLedger, game: str | None, open_only: bool, as_json: bool) -> None:
    """Print the disputes of a game or of all, the latest first. Raises InvalidInputError."""
    wanted_game = None if game is None else _GAME_ID.read(game)
    records = sorted(ledger.disputes().list_all(), key=lambda record: (-record.raised_at_ms, record.name.id))
    rows = [
        _dispute_fields(ledger, record)
        for record in records
        if wanted_game in (None, record.name.game) and not (open_only and record.is_final)
    ]
    if as_json:
        print_json({"disputes": rows})
        return
    if not rows:
        console.print("No disputes.")
        return
    names = ("dispute", "since", "entry", "who", "state", "found")
    table = Table(*(Column(name, no_wrap=True) for name in names), "reason")
    for row in rows:
        state = "so far" if row["answer"] and not row["final"] else row["state"]
        since = row["since"][:16].replace("T", " ")
        cells = (
            row["dispute"],
            since,
            str(row["number"]),
            _disputant(row),
            state,
            _finding_summary(row),
            row["reason"],
        )
        table.add_row(*cells)
    console.print(table)
    console.print("`ledgerline disputes show DISPUTE` shows all of one.")


def show_dispute(ledger: RedisLedger, dispute_id: str, as_json: bool) -> None:
    """Print all of one dispute. Raises InvalidInputError where there is none."""
    record = ledger.disputes().find(parse_dispute_id(dispute_id))
    if record is None:
        raise InvalidInputError(
            "dispute", f"there is no {dispute_id}; `ledgerline disputes` shows those there are"
        )
    fields = _dispute_fields(ledger, record)
    if as_json:
        print_json(fields)
        return
    print_line(
        f"The {_disputant(fields)} disputes entry {fields['number']} of game {fields['game']} since {fields['since']}:"
    )
    print_line(f"  {fields['reason']}")
    answer, audit_answer = fields["answer"], fields["found"]
    if answer is None:
        print_line(
            f"It is {fields['state']}. {WAITING_MESSAGE}" if fields["state"] != "failed" else FAILED_MESSAGE
        )
    else:
        answer_label = (
            "The answer"
            if fields["final"] or record.name.seat is None
            else "The answer to its seat, while the game runs"
        )
        print_line(f"{answer_label}: {answer['verdict']}")
    if audit_answer is not None:
        if not fields["final"]:
            print_line(f"The audit, for you alone until the game is over: {audit_answer['verdict']}")
        for finding in audit_answer["findings"]:
            where = "the game" if finding["number"] is None else f"entry {finding['number']}"
            print_line(f"  {where}: {finding['why']}")
    print_line(f"`ledgerline audit {record.name.game} --at {fields['number']}` explains the move.")


def raise_dispute(context: DisputeContext, game: str, sequence: int, reason: str, as_json: bool) -> None:
    """Raise a dispute as the operator. Raises InvalidInputError, or GameNotFoundError."""
    length = len(context.repository.read_entries(_GAME_ID.read(game)))
    if not length:
        raise GameNotFoundError(f"there is no game {game}; `ledgerline games` lists them")
    if sequence > length:
        raise InvalidInputError("--at", f"game {game} has {length} entries, so there is no entry {sequence}")
    request = DISPUTE_SCHEMA.read({"number": sequence, "reason": reason})
    name = derive_dispute_id(game, None, secrets.token_hex(12))
    outcome = context.ledger.disputes().create(name, request)
    if outcome is RaiseOutcome.TOO_MANY:
        raise InvalidInputError("game", f"the operator has disputed {MAX_PER_SEAT} moves of it already")
    if outcome in (RaiseOutcome.TOO_MANY_OPEN, RaiseOutcome.BUSY):
        raise InvalidInputError(
            "game", f"too many disputes wait for their answer (of one game at most {MAX_OPEN_PER_SEAT})"
        )
    if as_json:
        print_json({"dispute": name.id, "game": game, "number": sequence})
        return
    print_line(f"Entry {sequence} of game {game} is disputed: {name.id}")
    print_line(WAITING_MESSAGE)


def _dispute_fields(ledger: RedisLedger, record: DisputeRecord) -> DisputeFields:
    """A dispute with what was found, which only the operator sees."""
    audit_answer = ledger.disputes().read_findings(record.name)
    return {**dispute_json(record), "found": unpack_answer(audit_answer) if audit_answer else None}


def _disputant(fields: DisputeFields) -> str:
    return "operator" if fields["seat"] is None else f"seat {fields['seat']}"


def _finding_summary(fields: DisputeFields) -> str:
    audit_answer = fields["found"]
    if audit_answer is None:
        return ""
    return "nothing wrong" if audit_answer["ok"] else pluralize(audit_answer["count"], "finding")
