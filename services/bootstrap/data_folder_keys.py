"""Keys in the data folder: each is made when it is first needed, and readable by its owner only."""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from schemas.errors import InvalidInputError
from schemas.web.tokens import MIN_KEY_CHARACTERS, TokenKeys, parse_token_keys
from services.runtime.settings import Settings, read_token_keys

KEY_NAMES: Final = (
    "token",
    "signing",
    "push",
    "operator",
)  # each is a setting too; no folder makes the last one


def load_token_key(data: Path) -> str:
    """The data folder's key for seat tokens, or several with commas between them. Raises InvalidInputError."""
    return _load_key(data, "token", "seat tokens", "old tokens end")


def load_push_key(data: Path) -> str:
    """The data folder's key for Web Push. Raises InvalidInputError."""
    return _load_key(data, "push", "Web Push", "devices must be named again")


def data_folder_token_keys(data: Path, settings: Settings) -> TokenKeys:
    """The settings' keys for seat tokens, else the data folder's. Raises InvalidInputError."""
    if settings.token_key.get_secret_value():
        return read_token_keys(settings)
    return parse_token_keys(load_token_key(data), "--data")


def data_folder_signing_key(data: Path, settings: Settings, *, make: bool = True) -> str:
    """The settings' key for signing finished games, else the data folder's; empty where there is none yet and it
    isn't to be made. Raises InvalidInputError."""
    if key := settings.signing_key.get_secret_value():
        return key
    if not make and not (data / "signing.key").exists():
        return ""
    return _load_key(data, "signing", "signatures", "what the old one signed stays signed by it")


def _load_key(data: Path, name: str, purpose: str, consequence: str) -> str:
    """A key in the data folder, made on first use and readable by its owner only.

    Raises InvalidInputError: it can't be made, or the file there holds no key."""
    path, new_path = data / f"{name}.key", data / f"{name}.{secrets.token_hex(4)}"
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            new_path.touch(mode=0o600)
            new_path.write_text(secrets.token_hex(32))
            with suppress(FileExistsError):  # another process was first, and its key is used
                path.hardlink_to(new_path)
            new_path.unlink()
        key = path.read_text().strip()
    except OSError as error:
        raise InvalidInputError("--data", f"the key for {purpose} can't be kept in {data}: {error}") from None
    if len(key) < MIN_KEY_CHARACTERS:
        raise InvalidInputError(
            "--data", f"{path} holds no key; delete it, and a new one is made ({consequence})"
        )
    return key
