"""`ledgerline disputes`: the moves that seats or the operator doubt, and what audits found of them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
from rich.table import Column
from rich.table import Table as Grid
from rich.text import Text

from schemas.contract import Malformed, Shape
from schemas.disputes import DISPUTE, MOST, OPEN_MOST, named, read_name, unpack_answer
from schemas.field_types import GameId
from services.bootstrap.composition import shelf_of
from services.cli.options import DATA, AsJson, Data, open_to_read, settings_of, with_archive
from services.cli.replay import NoSuchGame
from services.cli.tables import out
from services.ledger import RedisLedger
from services.ledger.dispute_store import Held, document
from services.text.events import count
from services.verification.game_repository import Kept

WAITS: Final = (
    "The auditor looks at it where the house is open (`ledgerline serve`, or `ledgerline auditor`)."
)
FAILED: Final = "The audit broke and is tried again; `ledgerline jobs` tells why."
_GAME_ID: Final[Shape[str]] = Shape(GameId, "game")
app = typer.Typer(help="Look at the moves that somebody disputes.")


class Games(NamedTuple):
    """The ledger with its disputes, and every game that there ever was."""

    ledger: RedisLedger
    kept: Kept


@contextmanager
def _open(data: Path) -> Iterator[Games]:
    with open_to_read(data) as ledger:
        yield Games(ledger, Kept(ledger, shelf_of(with_archive(settings_of(), data))))


@app.callback(invoke_without_command=True)
def listed(
    context: typer.Context,
    game: Annotated[str | None, typer.Option(help="Only those of this game.")] = None,
    open_only: Annotated[bool, typer.Option("--open", help="Only those without their last answer.")] = False,
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """List the disputes, the latest first: who doubts which entry, how it stands, what was found."""
    if context.invoked_subcommand is None:
        with _open(data) as games:
            list_disputes(games.ledger, game, open_only, as_json)


@app.command()
def show(
    dispute: Annotated[str, typer.Argument(help="As `disputes` shows it.")],
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """Tell all of one: what was said, what its seat was told, and what the audit found."""
    with _open(data) as games:
        show_dispute(games.ledger, dispute, as_json)


@app.command("raise")
def raise_(
    game: Annotated[str, typer.Argument(help="The game's id, as play and games print it.")],
    at: Annotated[int, typer.Option(min=1, help="The entry that is doubted.")],
    reason: Annotated[str, typer.Option(help="Why, in up to 500 characters.")],
    data: Data = DATA,
    as_json: AsJson = False,
) -> None:
    """Dispute a move yourself. An operator is told all of it, even while the game runs."""
    with _open(data) as games:
        raise_dispute(games, game, at, reason, as_json)


def list_disputes(ledger: RedisLedger, game: str | None, open_only: bool, as_json: bool) -> None:
    """Those that fit, the latest first. Raises Malformed."""
    wanted = None if game is None else _GAME_ID.read(game)
    found = sorted(ledger.disputes().all(), key=lambda held: (-held.at, held.name.id))
    found = [held for held in found if wanted in (None, held.name.game) and not (open_only and held.final)]
    told = [_told(ledger, held) for held in found]
    if as_json:
        print(json.dumps({"disputes": told}, ensure_ascii=False, indent=2))
        return
    if not told:
        out.print("No disputes.")
        return
    names = ("dispute", "since", "entry", "who", "state", "found")
    grid = Grid(*(Column(name, no_wrap=True) for name in names), "reason")
    for one in told:
        state = "so far" if one["answer"] and not one["final"] else one["state"]
        since = one["since"][:16].replace("T", " ")
        cells = (one["dispute"], since, str(one["number"]), _who(one), state, _found(one), one["reason"])
        grid.add_row(*(Text(cell) for cell in cells))
    out.print(grid)
    out.print("`ledgerline disputes show DISPUTE` tells all of one.")


def show_dispute(ledger: RedisLedger, id_: str, as_json: bool) -> None:
    """All of one dispute. Raises Malformed: there is none."""
    held = ledger.disputes().one(read_name(id_))
    if held is None:
        raise Malformed("dispute", f"there is no {id_}; `ledgerline disputes` shows those there are")
    told = _told(ledger, held)
    if as_json:
        print(json.dumps(told, ensure_ascii=False, indent=2))
        return
    _print(f"The {_who(told)} disputes entry {told['number']} of game {told['game']} since {told['since']}:")
    _print(f"  {told['reason']}")
    answer, found = told["answer"], told["found"]
    if answer is None:
        _print(f"It is {told['state']}. {WAITS}" if told["state"] != "failed" else FAILED)
    else:
        whose = (
            "The answer"
            if told["final"] or held.name.seat is None
            else "Its seat was told, while the game runs"
        )
        _print(f"{whose}: {answer['verdict']}")
    if found is not None:
        if not told["final"]:
            _print(f"The audit, for you alone until the game is over: {found['verdict']}")
        for finding in found["findings"]:
            where = "the game" if finding["number"] is None else f"entry {finding['number']}"
            _print(f"  {where}: {finding['why']}")
    _print(f"`ledgerline audit {held.name.game} --at {told['number']}` explains the move.")


def raise_dispute(games: Games, game: str, number: int, reason: str, as_json: bool) -> None:
    """Put a dispute of the operator's down. Raises Malformed, or NoSuchGame."""
    length = len(games.kept.history(_GAME_ID.read(game)))
    if not length:
        raise NoSuchGame(f"there is no game {game}; `ledgerline games` lists them")
    if number > length:
        raise Malformed("--at", f"game {game} has {length} entries, so there is no entry {number}")
    wish = DISPUTE.read({"number": number, "reason": reason})
    name = named(game, None, secrets.token_hex(12))
    came = games.ledger.disputes().raise_(name, wish)
    if came == "many":
        raise Malformed("game", f"the operator has disputed {MOST} moves of it already")
    if came in ("open", "busy"):
        raise Malformed("game", f"too many disputes wait for their answer (of one game at most {OPEN_MOST})")
    if as_json:
        print(json.dumps({"dispute": name.id, "game": game, "number": number}))
        return
    _print(f"Entry {number} of game {game} is disputed: {name.id}")
    _print(WAITS)


def _told(ledger: RedisLedger, held: Held) -> dict[str, Any]:
    """A dispute with what was found, which only the operator sees."""
    found = ledger.disputes().found(held.name)
    return {**document(held), "found": unpack_answer(found) if found else None}


def _who(told: dict[str, Any]) -> str:
    return "operator" if told["seat"] is None else f"seat {told['seat']}"


def _found(told: dict[str, Any]) -> str:
    found = told["found"]
    if found is None:
        return ""
    return "nothing wrong" if found["ok"] else count(found["count"], "finding")


def _print(sentence: str) -> None:
    out.print(sentence, markup=False, soft_wrap=True)
