"""`ledgerline engine-users`, `public-key` and `withdraw-token`: passwords, keys and tokens, for an operator."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from schemas.web.tokens import HOST, Holder, Token, token_end_s
from services.archive import Signer
from services.bootstrap.data_folder_keys import data_folder_signing_key, data_folder_token_keys
from services.cli.options import DEFAULT_DATA, DataOption, GameArgument, open_games, read_game_log
from services.cli.output import console, print_line
from services.ledger.embedded.engine_users import KEY_FILES, USERS_FILE, write_users
from services.referee.games import GameState, fold
from services.runtime.settings import read_settings

app = typer.Typer()


@app.command("public-key")
def public_key(data: DataOption = DEFAULT_DATA) -> None:
    """Print the public key that signs finished games here: LEDGERLINE_SIGNING_KEY's, or the data folder's."""
    print_line(Signer(data_folder_signing_key(data, read_settings())).public_key.hex())


@app.command("engine-users")
def engine_users(
    folder: Annotated[Path, typer.Argument(help="Folder of the passwords; made where it is missing.")],
) -> None:
    """Write the users file of an engine (aclfile), and the passwords and keys that are missing, into a folder."""
    users = write_users(folder)
    console.print(
        f"{folder / USERS_FILE} has the users {', '.join(users)}, each with <user>.password beside it;"
    )
    console.print(f"there too: {', '.join(KEY_FILES)}.")


@app.command("withdraw-token")
def withdraw_token(
    game: GameArgument,
    holder: Annotated[str, typer.Argument(metavar="SEAT", help="Whose: a seat (0, 1, ..), or host.")],
    issue: Annotated[bool, typer.Option("--issue", help="Print a new token for the seat.")] = False,
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Make all tokens void that a seat was given until now. Its player gets another by joining again under the same id."""
    with open_games(data) as games:
        seat = _parse_holder(holder, fold(read_game_log(games.repository, game)[:1]))
        generation = games.ledger.withdraw_tokens(game, seat)
    console.print(
        f"The tokens of {holder} in game {game} are withdrawn; within 5 seconds no gateway takes them."
    )
    if issue:
        end_s = token_end_s(time.time(), games.settings.token_life_s)
        token = Token(Holder(game, seat), generation, end_s)
        print_line(data_folder_token_keys(data, games.settings).mint(token))


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
