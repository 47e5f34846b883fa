"""The server: it listens for the time of the sign-up, then plays one tournament, and is done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from schemas.errors import InvalidInputError
from services.trains_server.remote_tournament import MapChooser, Progress, RemoteResult, RemoteTournament
from services.trains_server.sign_up import SignUp
from services.trains_server.table_port import TableOpener


async def run_tcp_tournament(
    sign_up: SignUp,
    tables: TableOpener,
    choose_map: MapChooser,
    *,
    host: str,
    port: int,
    on_listening: Callable[[int], object] = lambda port: None,
    progress: Progress | None = None,
) -> RemoteResult:
    """Sign players up at this address, and play their tournament; `on_listening` gets the port.

    Raises InvalidInputError where nobody can listen there, and what opening a table does."""
    try:
        server = await asyncio.start_server(sign_up.welcome, host, port)
    except OSError as error:
        raise InvalidInputError(
            "port", f"nobody can listen at {host}:{port}: {error.strerror or error}"
        ) from None
    try:
        on_listening(server.sockets[0].getsockname()[1])
        players = await sign_up.wait()
        server.close()
        return await RemoteTournament(players, tables, choose_map, progress).run()
    finally:
        server.close()
        for player in sign_up.players:
            player.connection.cut()
