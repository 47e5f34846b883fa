"""`ledgerline engine-users`, `public-key` and `withdraw-token`: passwords, keys and tokens, for an operator.

The engine's users: the file that an engine reads (`aclfile`), made of deploy/redis/users.acl and passwords.

That file says what each service may do. Here each user gets the hash of its password, because the engine needs
no more, and whoever reads the file learns no password by it.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final

import typer

from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from schemas.web.tokens import HOST, Holder, Token, token_end_s
from services.archive import Signer
from services.bootstrap.data_folder_keys import data_folder_signing_key, data_folder_token_keys
from services.cli.options import (
    DEFAULT_DATA,
    DataOption,
    GameArgument,
    fold_with_names,
    open_games,
    parse_seat,
    read_game_log,
)
from services.cli.output import console, print_line
from services.referee.games import GameState
from services.runtime.settings import read_settings
from services.runtime.shipped_files import shipped_file
from services.text.formatting import SEAT_LETTERS, seat_title

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
    holder: Annotated[str, typer.Argument(metavar="SEAT", help="Whose: a seat (A, B, ..), or host.")],
    issue: Annotated[bool, typer.Option("--issue", help="Print a new token for the seat.")] = False,
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Make all tokens void that a seat was given until now. Its player gets another by joining again under the same id."""
    with open_games(data) as games:
        game = games.find(game)
        seat = _parse_holder(
            holder, fold_with_names(games.repository, game, read_game_log(games.repository, game))
        )
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
    if (seat := parse_seat(text, state)) is None:
        last = SEAT_LETTERS[len(state.seats) - 1]
        raise InvalidInputError("SEAT", f"must be {HOST}, or a letter from A to {last}")
    if state.seats[seat].policy is not None:
        raise InvalidInputError("SEAT", f"{seat_title(seat)} is a bot's, which holds no token")
    return seat


RULES_FILE: Final = shipped_file("deploy/redis/users.acl")
USERS_FILE: Final = "users.acl"
KEY_FILES: Final = (
    "token.key",
    "signing.key",
    "operator.key",
    "push.key",
)  # the services' own, beside the passwords
MIN_PASSWORD_CHARACTERS: Final = 32
# A container's user is another than the folder's owner, and must read what is mounted into it. The folder
# itself keeps everybody else on the machine out.
FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o644


def read_rules(text: str) -> dict[str, str]:
    """The rules of each user, on one line; indented lines go on from the line before. `#` begins a comment."""
    rules: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            rules[name] += f" {line.strip()}"
        else:
            _, name, rest = line.split(maxsplit=2)
            rules[name] = rest
    return rules


def users_with_password(rules: Mapping[str, str]) -> list[str]:
    """The users that need a password."""
    return [user for user, words in rules.items() if "nopass" not in words.split()]


def render_users(rules: Mapping[str, str], passwords: Mapping[str, str]) -> str:
    """The engine's file: a line for each user, with the SHA-256 of its password."""
    lines = []
    for user, words in rules.items():
        hashed = f"#{sha256(passwords[user].encode()).hexdigest()} " if user in passwords else ""
        lines.append(f"user {user} {hashed}{words}\n")
    return "".join(lines)


def write_users(folder: Path) -> list[str]:
    """Write the engine's file into the folder, and the passwords and keys that are missing there; returns the
    users with a password. A password or key that is there stays.

    Raises InvalidInputError: one of them is too short, or the folder can't be used, or is open to others."""
    rules = shipped_rules()
    users = users_with_password(rules)
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o077:
            raise InvalidInputError("folder", f"{folder} is open to others: chmod 700, or name a new one")
        passwords = {user: _read_or_make_secret(password_file(folder, user)) for user in users}
        for name in KEY_FILES:
            _read_or_make_secret(folder / name)
        _write(folder / USERS_FILE, render_users(rules, passwords))
    except OSError as error:
        raise InvalidInputError("folder", f"{folder} can't be used: {error}") from None
    return users


def password_file(folder: Path, user: str) -> Path:
    """Where a user's password lies, and nothing else."""
    return folder / f"{user}.password"


def shipped_rules() -> dict[str, str]:
    """The rules of each user that this version has."""
    return read_rules(RULES_FILE.read_text())


def _read_or_make_secret(path: Path) -> str:
    if not path.exists():
        _write(path, secrets.token_hex(32))
    secret = path.read_text().strip()
    if len(secret) < MIN_PASSWORD_CHARACTERS:
        raise InvalidInputError(
            path.name, f"needs {MIN_PASSWORD_CHARACTERS} characters; delete it, and a new one is made"
        )
    return secret


def _write(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    new_path = path.with_name(f".{path.name}.new")
    new_path.write_text(text)
    new_path.chmod(FILE_MODE)
    new_path.replace(path)
