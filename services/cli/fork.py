"""`ledgerline fork`: a game that goes on from where another one stood, for an operator."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import Any

from schemas import tokens
from schemas.codec import unpack_entry
from schemas.commands import Command, CommandEnvelope, ForkGame, StartGame
from schemas.errors import InvalidInputError
from schemas.events import GameForked
from schemas.field_types import Seat
from services.bootstrap.composition import build_referee, open_archive_reader
from services.cli.replay import parse_viewer, read_game_log
from services.cli.tables import console, standings_table
from services.ledger import RedisLedger
from services.referee.rules import GameState, UnloggedRejectionError, fold
from services.referee.worker import Referee
from services.runtime.settings import Settings
from services.text.events import pluralize
from services.verification.game_repository import GameRepository


def fork_game(
    ledger: RedisLedger,
    settings: Settings,
    game: str,
    sequence: int,
    viewer: str,
    token_key: str,
    as_json: bool,
) -> None:
    """Lay the new game, start it if nobody has to sit down first, and tell how it stands. `key` signs tokens.

    Raises Malformed, naming the option, or NoSuchGame."""
    log = read_game_log(GameRepository(ledger, open_archive_reader(settings)), game)
    viewer_seat = parse_viewer(viewer, len(fold(log[:1]).seats))
    new_game = secrets.token_hex(6)
    referee, lease = build_referee(ledger, settings)
    try:
        _send_command(referee, new_game, ForkGame(game, sequence, viewer_seat))
        if not _free_seats(fold(ledger.read_entries(new_game))):
            _send_command(referee, new_game, StartGame())
    finally:
        lease.leave()
    log = ledger.read_entries(new_game)
    state, fields = fold(log), _fork_json(log, token_key)
    if as_json:
        print(json.dumps(fields, ensure_ascii=False, indent=2))
    else:
        _print_fork(state, fields)


def _send_command(referee: Referee, game: str, command: Command) -> None:
    """Have it decided at once: a referee that is at work besides does no harm, and none is needed."""
    try:
        referee.processor.process_system_command(
            CommandEnvelope(f"operator:{secrets.token_hex(8)}", game, None, command)
        )
    except UnloggedRejectionError as rejection:
        field, _, reason = rejection.reason.partition(": ")
        raise (
            InvalidInputError(f"--{field}", reason)
            if reason
            else InvalidInputError(rejection.rule, rejection.reason)
        ) from None


def _free_seats(state: GameState) -> list[Seat]:
    return [seat for seat, seat_state in enumerate(state.seats) if not seat_state.is_seated]


def _fork_json(log: Sequence[bytes], token_key: str) -> dict[str, Any]:
    """All that is needed to go on with it. The tokens are as good as the gateway's."""
    state = fold(log)
    (forked,) = [event for event in unpack_entry(log[0]).events if isinstance(event, GameForked)]
    fields: dict[str, Any] = {
        "game": state.game,
        "of": forked.of,
        "at": forked.at,
        "afresh": forked.afresh,
        "started": state.started,
        "free": _free_seats(state),
        "token": tokens.mint(token_key.encode(), state.game, None),
    }
    if forked.asker is not None:
        fields |= {
            "seat": forked.asker,
            "seat_token": tokens.mint(token_key.encode(), state.game, forked.asker),
        }
    return fields


def _print_fork(state: GameState, fields: dict[str, Any]) -> None:
    console.print(standings_table(state))
    deal_note = "what wasn't known is dealt afresh" if fields["afresh"] else "everything lies as it lay"
    console.print(
        f"Game {state.game} goes on from game {fields['of']} after entry {fields['at']}; {deal_note}."
    )
    if fields["started"]:
        console.print("It has started: its bots play on where the house is open (`ledgerline serve`).")
        return
    free_seats = ", ".join(map(str, fields["free"]))
    console.print(
        f"{pluralize(len(fields['free']), 'seat')} to be taken: {free_seats}. The host starts it then, with this token:"
    )
    console.print(fields["token"], markup=False)
    if "seat" in fields:
        console.print(f"Seat {fields['seat']} is yours, with this one:")
        console.print(fields["seat_token"], markup=False)
