"""`ledgerline engine-users`: passwords for the engine's users, the file by which the engine knows them, and keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from services.cli.output import console
from services.ledger.embedded.engine_users import KEY_FILES, USERS_FILE, write_users

app = typer.Typer()


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
