"""The opening of a WebSocket: whose view it sends, where the game's log is, and what the client has of it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from fastapi import WebSocket

from schemas.entries import ViewEntry
from schemas.field_types import Seat
from services.gateway.dependencies import client_address
from services.gateway.problem_details import HttpProblemError
from services.gateway.request_parsing import parse_bearer_token, parse_offered_token
from services.gateway.service import GatewayService
from services.ledger.view_merge import LogRewoundError
from services.ledger.view_queries import LogHead

_HEAD: Final = re.compile("[0-9a-fA-F]{64}")


class KnownEntry(NamedTuple):
    """The last entry that a client has (0: none), and the head after it; empty where the client didn't name it."""

    sequence: int
    head: bytes

    @staticmethod
    def read(after: int, head: str) -> KnownEntry:
        """As the address of the socket has it. Raises HttpProblemError."""
        if after < 0:
            raise HttpProblemError(422, "SHAPE-1", f"after: {after} is below 0", field="after")
        if head and not _HEAD.fullmatch(head):
            raise HttpProblemError(422, "SHAPE-1", "head: must be 64 hex digits", field="head")
        return KnownEntry(after, bytes.fromhex(head) if after else b"")


class BeyondEndError(HttpProblemError):
    """The client has an entry that is beyond the end of the log: a fail-over lost it."""

    def __init__(self, sequence: int, last_sequence: int) -> None:
        super().__init__(
            422, "SHAPE-1", f"after: {sequence} isn't between 0 and {last_sequence}", field="after"
        )


class Opening(NamedTuple):
    """A socket's viewer, the token that it was opened with, and where the game's log is."""

    viewer: Seat | None
    bearer: str | None
    log_head: LogHead  # as far as the viewer is shown it
    archived_view: list[ViewEntry] | None  # of a game that the engine no longer has


async def read_opening(service: GatewayService, websocket: WebSocket, game: str) -> Opening:
    """Check the token and the limits, and find the game.

    Raises HttpProblemError, CorruptDataError, or what the engine's client does."""
    client = client_address(websocket)
    service.enforce_read_limit(client)
    archived = (await service.locate_game(game, client)).archived
    offered = websocket.scope.get("subprotocols") or []
    bearer = parse_bearer_token(websocket.headers.get("authorization")) or parse_offered_token(offered)
    viewer = await service.authorization.resolve_viewer(game, bearer)
    if archived:
        view = list(await service.archive_views.read_view(game, viewer) or ())
        log_head = LogHead(view[-1].number, view[-1].shown.head) if view else LogHead(0, b"")
        return Opening(viewer, bearer, log_head, view)
    return Opening(viewer, bearer, await service.views.shown_head(game, viewer), None)


async def require_known_entry(
    service: GatewayService, game: str, opening: Opening, known: KnownEntry
) -> None:
    """Raises BeyondEndError or LogRewoundError unless the log has the client's last entry, under the head that it
    names; or what reading it does."""
    sequence, head = known
    if sequence > opening.log_head.sequence:
        raise BeyondEndError(sequence, opening.log_head.sequence)
    if not head:
        return
    if opening.archived_view is None:
        await service.ledger.read_view(game, None, sequence, 1, head)
    elif opening.archived_view[sequence - 1].shown.head not in (head, b""):
        raise LogRewoundError(f"entry {sequence} isn't the one that the client has")
