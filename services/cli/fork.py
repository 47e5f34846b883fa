"""`ledgerline fork`: a game that goes on from where another one stood, for an operator."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import Any

from schemas import tokens
from schemas.codec import unpack_entry
from schemas.commands import Command, ForkGame, Letter, StartGame
from schemas.contract import Malformed
from schemas.events import GameForked
from schemas.field_types import Seat
from services.bootstrap.composition import make_referee, shelf_of
from services.cli.replay import read_game, read_viewer
from services.cli.tables import out, standing_table
from services.ledger import RedisLedger
from services.referee.rules import NotKept, Table, fold
from services.referee.worker import Referee
from services.runtime.settings import Settings
from services.text.events import count
from services.verification.game_repository import Kept


def fork(
    ledger: RedisLedger, settings: Settings, game: str, at: int, viewer: str, key: str, as_json: bool
) -> None:
    """Lay the new game, start it if nobody has to sit down first, and tell how it stands. `key` signs tokens.

    Raises Malformed, naming the option, or NoSuchGame."""
    log = read_game(Kept(ledger, shelf_of(settings)), game)
    asker = read_viewer(viewer, len(fold(log[:1]).places))
    new = secrets.token_hex(6)
    referee, lease = make_referee(ledger, settings)
    try:
        _say(referee, new, ForkGame(game, at, asker))
        if not _free(fold(ledger.history(new))):
            _say(referee, new, StartGame())
    finally:
        lease.leave()
    log = ledger.history(new)
    table, told = fold(log), _document(log, key)
    if as_json:
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        _tell(table, told)


def _say(referee: Referee, game: str, command: Command) -> None:
    """Have it decided at once: a referee that is at work besides does no harm, and none is needed."""
    try:
        referee.desk.say(Letter(f"operator:{secrets.token_hex(8)}", game, None, command))
    except NotKept as no:
        field, _, why = no.why.partition(": ")
        raise Malformed(f"--{field}", why) if why else Malformed(no.rule, no.why) from None


def _free(table: Table) -> list[Seat]:
    return [seat for seat, place in enumerate(table.places) if not place.taken]


def _document(log: Sequence[bytes], key: str) -> dict[str, Any]:
    """All that is needed to go on with it. The tokens are as good as the gateway's."""
    table = fold(log)
    (forked,) = [event for event in unpack_entry(log[0]).events if isinstance(event, GameForked)]
    told: dict[str, Any] = {
        "game": table.game,
        "of": forked.of,
        "at": forked.at,
        "afresh": forked.afresh,
        "started": table.started,
        "free": _free(table),
        "token": tokens.mint(key.encode(), table.game, None),
    }
    if forked.asker is not None:
        told |= {"seat": forked.asker, "seat_token": tokens.mint(key.encode(), table.game, forked.asker)}
    return told


def _tell(table: Table, told: dict[str, Any]) -> None:
    out.print(standing_table(table))
    dealt = "what wasn't known is dealt afresh" if told["afresh"] else "everything lies as it lay"
    out.print(f"Game {table.game} goes on from game {told['of']} after entry {told['at']}; {dealt}.")
    if told["started"]:
        out.print("It has started: its bots play on where the house is open (`ledgerline serve`).")
        return
    free = ", ".join(map(str, told["free"]))
    out.print(
        f"{count(len(told['free']), 'seat')} to be taken: {free}. The host starts it then, with this token:"
    )
    out.print(told["token"], markup=False)
    if "seat" in told:
        out.print(f"Seat {told['seat']} is yours, with this one:")
        out.print(told["seat_token"], markup=False)
