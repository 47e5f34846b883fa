"""`ledgerline withdraw-token`: all tokens of a seat made void, for an operator."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from schemas.tokens import HOST, Holder, Token, token_end_s
from services.bootstrap.composition import open_archive_reader
from services.bootstrap.data_folder_keys import data_folder_token_keys
from services.cli.options import DEFAULT_DATA, DataOption, load_settings, open_read_ledger, with_own_archive
from services.cli.output import console, print_line
from services.cli.replay import read_game_log
from services.referee.rules import GameState, fold
from services.verification.game_repository import GameRepository

app = typer.Typer()


@app.command("withdraw-token")
def withdraw_token(
    game: Annotated[str, typer.Argument(help="The game's id, as play and games print it.")],
    holder: Annotated[str, typer.Argument(metavar="SEAT", help="Whose: a seat (0, 1, ..), or host.")],
    issue: Annotated[bool, typer.Option("--issue", help="Print a new token for the seat.")] = False,
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Make all tokens void that a seat was given until now. Its player gets another by joining again under the same id."""
    settings = with_own_archive(load_settings(), data)
    with open_read_ledger(data) as ledger:
        state = fold(read_game_log(GameRepository(ledger, open_archive_reader(settings)), game)[:1])
        seat = _parse_holder(holder, state)
        generation = ledger.withdraw_tokens(game, seat)
    console.print(
        f"The tokens of {holder} in game {game} are withdrawn; within 5 seconds no gateway takes them."
    )
    if issue:
        token = Token(Holder(game, seat), generation, token_end_s(time.time(), settings.token_life_s))
        print_line(data_folder_token_keys(data, settings).mint(token))


def _parse_holder(text: str, state: GameState) -> Seat | None:
    """The seat, or None for the host. Raises InvalidInputError: no person can hold that seat."""
    if text == HOST:
        return None
    if not text.isdecimal() or int(text) >= len(state.seats):
        raise InvalidInputError("SEAT", f"must be {HOST}, or a number from 0 to {len(state.seats) - 1}")
    seat = int(text)
    if state.seats[seat].policy is not None:
        raise InvalidInputError("SEAT", f"seat {seat} is a bot's, which holds no token")
    return seat
