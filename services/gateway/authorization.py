"""Tokens: which seat of which game a caller holds, and whose view it may read.

A token is a signed statement (schemas/tokens.py), so checking one takes no read of the engine.
"""

from __future__ import annotations

from schemas import tokens
from schemas.field_types import Seat
from services.gateway.problem_details import HttpProblemError


class Authorization:
    """Mints and checks tokens with the server's key."""

    def __init__(self, token_key: bytes) -> None:
        self._token_key = token_key

    def mint(self, game: str, seat: Seat | None) -> str:
        """The token of a seat, or of the game's host (None): always the same."""
        return tokens.mint(self._token_key, game, seat)

    def require_holder(self, game: str, bearer: str | None) -> tokens.Holder:
        """The seat that this token names, or None as its seat for the host.

        Raises HttpProblemError: there is no token, it isn't signed by this server, or it is of another game."""
        if not bearer:
            raise HttpProblemError(401, "TOKEN-1", "send the seat's token: Authorization: Bearer <token>")
        holder = tokens.verify(self._token_key, bearer)
        if holder is None:
            raise HttpProblemError(401, "TOKEN-1", "this isn't a token of ours")
        if holder.game != game:
            raise HttpProblemError(403, "TOKEN-1", "this token is for another game")
        return holder

    def require_seat(self, game: str, bearer: str | None) -> Seat:
        """The seat that the token names. Raises HttpProblemError: also for the host's, which names none."""
        seat = self.require_holder(game, bearer).seat
        if seat is None:
            raise HttpProblemError(403, "TOKEN-1", "the host's token starts the game; it plays no seat")
        return seat

    def resolve_viewer(self, game: str, bearer: str | None) -> Seat | None:
        """Whose view a request may read: the token's seat's, or None for the public view.

        Without a token, and with the host's, it is the public view. Raises HttpProblemError for a bad token."""
        return self.require_holder(game, bearer).seat if bearer else None
