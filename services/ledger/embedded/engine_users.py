"""The engine's users: the file that an engine reads (`aclfile`), made of deploy/redis/users.acl and passwords.

That file says what each service may do. Here each user gets the hash of its password, because the engine needs
no more, and whoever reads the file learns no password by it.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from schemas.errors import InvalidInputError

RULES_FILES: Final = (  # beside the packages in a checkout and in the image, or where a wheel was installed
    Path(__file__).parents[3] / "deploy" / "redis" / "users.acl",
    Path(sys.prefix) / "share" / "ledgerline" / "redis" / "users.acl",
)
USERS_FILE: Final = "users.acl"
KEY_FILES: Final = ("token.key", "signing.key", "operator.key")  # the services' own, beside the passwords
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
    rules = read_rules(_find_rules_file().read_text())
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


def _find_rules_file() -> Path:
    return next((path for path in RULES_FILES if path.exists()), RULES_FILES[0])


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
