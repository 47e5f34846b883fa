"""`ledgerline dead`: the dead letters, which are commands that the referee failed on, for an operator."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table

from schemas.commands import CommandEnvelope, write_command
from schemas.errors import InvalidInputError
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, open_read_ledger
from services.cli.output import console, print_json
from services.ledger import RedisLedger
from services.ledger.queues.task_queues import DeadLetter

app = typer.Typer(no_args_is_help=True, help="List, retry or drop the commands that broke the referee.")
Reference = Annotated[str, typer.Argument(metavar="letter", help="As `dead list` shows it.")]
References = Annotated[
    list[str] | None,
    typer.Argument(metavar="letters", help="As `dead list` shows them: p07/1700000000000-0."),
]
AllOption = Annotated[bool, typer.Option("--all", help="All of them (a thousand at a time).")]


@app.command("list")
def list_command(
    most: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many, the oldest first.")] = 1_000,
    after: Annotated[str, typer.Option(help="Those that follow this one.")] = "",
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """List the dead letters: the commands that broke the referee."""
    with open_read_ledger(data) as ledger:
        dead_letters = ledger.dead_letters().list_all(most, after)
    if as_json:
        print_json({"dead": [_dead_letter_json(dead) for dead in dead_letters]})
        return
    if not dead_letters:
        console.print(
            "No dead letters follow it." if after else "No dead letters: no command has broken the referee."
        )
        return
    table = Table("letter", "since", "game", "seat", "command", "why")
    for dead in dead_letters:
        game, seat, command = "", "", "(can't be read)"
        if (envelope := dead.envelope) is not None:
            game = envelope.game
            command = envelope.command.type if isinstance(envelope, CommandEnvelope) else command
            seat = "system" if envelope.seat is None else str(envelope.seat)
        table.add_row(dead.reference, _format_time(dead.at_ms), game, seat, command, dead.reason)
    console.print(table)
    if len(dead_letters) == most:
        console.print(f"`ledgerline dead list --after {dead_letters[-1].reference}` shows those that follow.")
    console.print(
        "`ledgerline dead show LETTER` shows all of one; retry it when the cause is mended, or drop it."
    )


@app.command("show")
def show_command(reference: Reference, data: DataOption = DEFAULT_DATA) -> None:
    """Show everything that is known of one, as JSON."""
    with open_read_ledger(data) as ledger:
        print_json(_dead_letter_json(_find_dead_letter(ledger, reference)))


@app.command("retry")
def retry_command(
    references: References = None, select_all: AllOption = False, data: DataOption = DEFAULT_DATA
) -> None:
    """Queue them again, once the cause is mended. None of them can be decided twice."""
    with open_read_ledger(data) as ledger:
        for dead in _select_dead_letters(ledger, references or (), select_all):
            outcome = "is queued again" if ledger.dead_letters().retry(dead) else "was gone already"
            console.print(f"{dead.reference} {outcome}.")


@app.command("drop")
def drop_command(
    references: References = None, select_all: AllOption = False, data: DataOption = DEFAULT_DATA
) -> None:
    """Delete them for good."""
    with open_read_ledger(data) as ledger:
        for dead in _select_dead_letters(ledger, references or (), select_all):
            outcome = "is dropped" if ledger.dead_letters().drop(dead) else "was gone already"
            console.print(f"{dead.reference} {outcome}.")


def _select_dead_letters(
    ledger: RedisLedger, references: Sequence[str], select_all: bool
) -> list[DeadLetter]:
    """Those that the command names. Raises InvalidInputError where it names none, or one that doesn't exist."""
    if select_all == bool(references):
        raise InvalidInputError("dead letter", "name them as `ledgerline dead list` shows them, or use --all")
    if select_all:
        return ledger.dead_letters().list_all()
    return [_find_dead_letter(ledger, reference) for reference in references]


def _find_dead_letter(ledger: RedisLedger, reference: str) -> DeadLetter:
    dead = ledger.dead_letters().find(reference)
    if dead is None:
        raise InvalidInputError(
            "dead letter", f"there is no {reference}; `ledgerline dead list` shows those there are"
        )
    return dead


def _dead_letter_json(dead: DeadLetter) -> dict[str, object]:
    fields: dict[str, object] = {
        "letter": dead.reference,
        "since": _format_time(dead.at_ms),
        "reason": dead.reason,
        "deliveries": dead.delivery_count,
    }
    if (envelope := dead.envelope) is None:
        return {**fields, "bytes": dead.data.hex()}
    sent = {"game": envelope.game, "seat": envelope.seat, "id": envelope.id}
    if not isinstance(envelope, CommandEnvelope):
        return {**fields, **sent, "bytes": dead.data.hex()}
    return {**fields, **sent, "command": write_command(envelope.command)}


def _format_time(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="seconds")
