"""Dead letters for an operator: what broke the referee, and what is to become of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rich.table import Table as Grid

from schemas.commands import write_command
from schemas.contract import Malformed
from services.cli.tables import out
from services.ledger import RedisLedger
from services.ledger.dead_letters import DeadLetter


def list_dead(ledger: RedisLedger, most: int, as_json: bool) -> None:
    """All of them, the oldest first."""
    letters = ledger.dead_letters().all(most)
    if as_json:
        print(json.dumps({"dead": [_document(dead) for dead in letters]}, ensure_ascii=False, indent=2))
        return
    if not letters:
        out.print("No dead letters: no command has broken the referee.")
        return
    grid = Grid("letter", "since", "game", "seat", "command", "why")
    for told in map(_document, letters):
        command = told.get("command", {}).get("type", "(can't be read)")
        seat = "house" if "game" in told and told["seat"] is None else str(told.get("seat", ""))
        grid.add_row(told["letter"], told["since"], told.get("game", ""), seat, command, told["reason"])
    out.print(grid)
    out.print(
        "`ledgerline dead show LETTER` tells all of one; retry it when the cause is mended, or drop it."
    )


def show(ledger: RedisLedger, reference: str) -> None:
    """Everything that is known of one, as JSON."""
    print(json.dumps(_document(_found(ledger, reference)), ensure_ascii=False, indent=2))


def retry(ledger: RedisLedger, references: Sequence[str], every: bool) -> None:
    """Put them on their way again, under the ids that they have."""
    for dead in _chosen(ledger, references, every):
        gone = "is on its way again" if ledger.dead_letters().retry(dead) else "was gone already"
        out.print(f"{dead.reference} {gone}.", markup=False)


def drop(ledger: RedisLedger, references: Sequence[str], every: bool) -> None:
    """Forget them for good."""
    for dead in _chosen(ledger, references, every):
        gone = "is dropped" if ledger.dead_letters().drop(dead) else "was gone already"
        out.print(f"{dead.reference} {gone}.", markup=False)


def _chosen(ledger: RedisLedger, references: Sequence[str], every: bool) -> list[DeadLetter]:
    """The letters that are meant. Raises Malformed: none, or one that there isn't."""
    if every == bool(references):
        raise Malformed("dead letter", "name the letters as `ledgerline dead list` shows them, or say --all")
    if every:
        return ledger.dead_letters().all()
    return [_found(ledger, reference) for reference in references]


def _found(ledger: RedisLedger, reference: str) -> DeadLetter:
    dead = ledger.dead_letters().one(reference)
    if dead is None:
        raise Malformed(
            "dead letter", f"there is no {reference}; `ledgerline dead list` shows those there are"
        )
    return dead


def _document(dead: DeadLetter) -> dict[str, Any]:
    since = datetime.fromtimestamp(dead.at / 1000, UTC).isoformat(timespec="seconds")
    told = {"letter": dead.reference, "since": since, "reason": dead.reason, "deliveries": dead.deliveries}
    if (letter := dead.letter) is None:
        return {**told, "bytes": dead.data.hex()}
    command = write_command(letter.command)
    return {**told, "game": letter.game, "seat": letter.seat, "id": letter.id, "command": command}
