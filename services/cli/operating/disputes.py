"""`ledgerline disputes`: the moves that seats or the operator dispute, and what audits found."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Annotated, Final, TypeAlias

import typer
from rich.table import Column, Table

from schemas.contract import Json
from schemas.errors import InvalidInputError
from schemas.web.disputes import (
    DISPUTE_SCHEMA,
    MAX_OPEN_PER_SEAT,
    MAX_PER_SEAT,
    derive_dispute_id,
    parse_dispute_id,
    unpack_answer,
)
from services.cli.options import (
    DEFAULT_DATA,
    GAME_ID,
    DataOption,
    GameArgument,
    JsonOption,
    open_games,
    open_read_ledger,
    read_game_log,
)
from services.cli.output import console, print_json, print_line
from services.ledger import RedisLedger
from services.ledger.stores.disputes import DisputeRecord, RaiseOutcome, dispute_json
from services.text.formatting import pluralize

WAITING_MESSAGE: Final = (
    "An auditor checks it while the server runs (`ledgerline serve`, or `ledgerline auditor`)."
)
FAILED_MESSAGE: Final = "The audit failed and is tried again; `ledgerline jobs` shows why."
app = typer.Typer(help="List the disputed moves, show one, or dispute a move.")


DisputeFields: TypeAlias = Json  # that of `dispute_json`, and "found": the answer of an audit


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
        wanted_game = None if game is None else GAME_ID.read(game)
        with open_read_ledger(data) as ledger:
            _print_disputes(_list_disputes(ledger, wanted_game, open_only), as_json)


@app.command()
def show(
    dispute: Annotated[str, typer.Argument(help="As `disputes` shows it.")],
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Show all of one: its reason, the answer to its seat, and what the audit found."""
    with open_read_ledger(data) as ledger:
        record = ledger.disputes().find(parse_dispute_id(dispute))
        if record is None:
            raise InvalidInputError(
                "dispute", f"there is no {dispute}; `ledgerline disputes` shows those there are"
            )
        fields = _dispute_fields(ledger, record)
    if as_json:
        print_json(fields)
    else:
        _print_dispute(fields)


@app.command("raise")
def raise_command(
    game: GameArgument,
    at: Annotated[int, typer.Option(min=1, help="The entry that is disputed.")],
    reason: Annotated[str, typer.Option(help="Why, in up to 500 characters.")],
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Dispute a move yourself. An operator sees the whole answer, even while the game runs."""
    with open_games(data) as games:
        game = games.find(game)
        length = len(read_game_log(games.repository, game))
        if at > length:
            raise InvalidInputError("--at", f"game {game} has {length} entries, so there is no entry {at}")
        name = derive_dispute_id(game, None, secrets.token_hex(12))
        request = DISPUTE_SCHEMA.read({"number": at, "reason": reason})
        _require_raised(games.ledger.disputes().create(name, request))
    if as_json:
        print_json({"dispute": name.id, "game": game, "number": at})
        return
    print_line(f"Entry {at} of game {game} is disputed: {name.id}")
    print_line(WAITING_MESSAGE)


def _list_disputes(ledger: RedisLedger, game: str | None, open_only: bool) -> list[DisputeFields]:
    """The disputes of a game or of all, the latest first."""
    records = sorted(ledger.disputes().list_all(), key=lambda record: (-record.raised_at_ms, record.name.id))
    return [
        _dispute_fields(ledger, record)
        for record in records
        if game in (None, record.name.game) and not (open_only and record.is_final)
    ]


def _print_disputes(rows: Sequence[DisputeFields], as_json: bool) -> None:
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
        since, number = row["since"][:16].replace("T", " "), str(row["number"])
        found = _finding_summary(row)
        table.add_row(row["dispute"], since, number, _disputant(row), state, found, row["reason"])
    console.print(table)
    console.print("`ledgerline disputes show DISPUTE` shows all of one.")


def _print_dispute(fields: DisputeFields) -> None:
    who, game, number = _disputant(fields), fields["game"], fields["number"]
    print_line(f"The {who} disputes entry {number} of game {game} since {fields['since']}:")
    print_line(f"  {fields['reason']}")
    answer, audit_answer = fields["answer"], fields["found"]
    if answer is not None:
        is_whole = fields["final"] or fields["seat"] is None
        label = "The answer" if is_whole else "The answer to its seat, while the game runs"
        print_line(f"{label}: {' '.join(filter(None, (answer.get('on_reason'), answer['verdict'])))}")
    elif fields["state"] == "failed":
        print_line(FAILED_MESSAGE)
    else:
        print_line(f"It is {fields['state']}. {WAITING_MESSAGE}")
    if audit_answer is not None:
        if not fields["final"]:
            print_line(f"The audit, for you alone until the game is over: {audit_answer['verdict']}")
        for finding in audit_answer["findings"]:
            where = "the game" if finding["number"] is None else f"entry {finding['number']}"
            print_line(f"  {where}: {finding['why']}")
    shown = "" if fields["final"] else " --open"
    print_line(f"`ledgerline audit {game} --at {number}{shown}` explains the move.")


def _require_raised(outcome: RaiseOutcome) -> None:
    """Raises InvalidInputError where a dispute wasn't stored."""
    if outcome is RaiseOutcome.TOO_MANY:
        raise InvalidInputError("game", f"the operator has disputed {MAX_PER_SEAT} moves of it already")
    if outcome in (RaiseOutcome.TOO_MANY_OPEN, RaiseOutcome.BUSY):
        raise InvalidInputError(
            "game", f"too many disputes wait for their answer (of one game at most {MAX_OPEN_PER_SEAT})"
        )


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
