"""Dead letters for an operator: what broke the referee, and what is to become of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rich.table import Table as Grid

from schemas.commands import write_command
from schemas.errors import InvalidInputError
from services.cli.tables import console
from services.ledger import RedisLedger
from services.ledger.dead_letters import DeadLetter


def list_dead_letters(ledger: RedisLedger, limit: int, as_json: bool) -> None:
    """All of them, the oldest first."""
    dead_letters = ledger.dead_letters().list_all(limit)
    if as_json:
        print(
            json.dumps(
                {"dead": [_dead_letter_json(dead) for dead in dead_letters]}, ensure_ascii=False, indent=2
            )
        )
        return
    if not dead_letters:
        console.print("No dead letters: no command has broken the referee.")
        return
    grid = Grid("letter", "since", "game", "seat", "command", "why")
    for fields in map(_dead_letter_json, dead_letters):
        command = fields.get("command", {}).get("type", "(can't be read)")
        seat = "house" if "game" in fields and fields["seat"] is None else str(fields.get("seat", ""))
        grid.add_row(
            fields["letter"], fields["since"], fields.get("game", ""), seat, command, fields["reason"]
        )
    console.print(grid)
    console.print(
        "`ledgerline dead show LETTER` tells all of one; retry it when the cause is mended, or drop it."
    )


def show_dead_letter(ledger: RedisLedger, reference: str) -> None:
    """Everything that is known of one, as JSON."""
    print(json.dumps(_dead_letter_json(_find_dead_letter(ledger, reference)), ensure_ascii=False, indent=2))


def retry_dead_letters(ledger: RedisLedger, references: Sequence[str], select_all: bool) -> None:
    """Put them on their way again, under the ids that they have."""
    for dead in _select_dead_letters(ledger, references, select_all):
        outcome = "is on its way again" if ledger.dead_letters().retry(dead) else "was gone already"
        console.print(f"{dead.reference} {outcome}.", markup=False)


def drop_dead_letters(ledger: RedisLedger, references: Sequence[str], select_all: bool) -> None:
    """Forget them for good."""
    for dead in _select_dead_letters(ledger, references, select_all):
        outcome = "is dropped" if ledger.dead_letters().drop(dead) else "was gone already"
        console.print(f"{dead.reference} {outcome}.", markup=False)


def _select_dead_letters(
    ledger: RedisLedger, references: Sequence[str], select_all: bool
) -> list[DeadLetter]:
    """The letters that are meant. Raises Malformed: none, or one that there isn't."""
    if select_all == bool(references):
        raise InvalidInputError(
            "dead letter", "name the letters as `ledgerline dead list` shows them, or say --all"
        )
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


def _dead_letter_json(dead: DeadLetter) -> dict[str, Any]:
    since = datetime.fromtimestamp(dead.at_ms / 1000, UTC).isoformat(timespec="seconds")
    fields = {
        "letter": dead.reference,
        "since": since,
        "reason": dead.reason,
        "deliveries": dead.delivery_count,
    }
    if (envelope := dead.envelope) is None:
        return {**fields, "bytes": dead.data.hex()}
    command = write_command(envelope.command)
    return {**fields, "game": envelope.game, "seat": envelope.seat, "id": envelope.id, "command": command}
