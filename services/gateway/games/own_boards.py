"""Who may create games on boards of their own, or from positions: a setting.

Such a game is what its creator makes of it: its size, its routes, where everybody stands. What it can cost is bounded
(services/referee/rules/setup/validation.py), but that is for the operator of a server to weigh.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Final, NamedTuple

from schemas.errors import InvalidInputError
from services.gateway.errors import NotYoursError
from services.runtime.settings import Settings

KEY_SETTING: Final = "LEDGERLINE_OPERATOR_KEY"


class OwnBoards(NamedTuple):
    """Whose games may have boards of their own and positions, and the operator's key, if there is one."""

    creators: str = "everyone"  # or "operator", or "nobody"
    operator_key: bytes = b""

    def is_operator(self, bearer: str | None) -> bool:
        """Whether this is the operator's key."""
        return bool(self.operator_key and bearer) and hmac.compare_digest(
            (bearer or "").encode(), self.operator_key
        )

    def require_creator(self, bearer: str | None) -> None:
        """Raises NotYoursError (OPERATOR-1): who sends this may not create such a game."""
        if self.creators == "everyone" or (self.creators == "operator" and self.is_operator(bearer)):
            return
        who = "only who sends the operator's key" if self.creators == "operator" else "nobody"
        raise NotYoursError(
            f"{who} may create games on boards of their own or from positions here "
            f"(LEDGERLINE_OWN_BOARDS={self.creators})",
            "OPERATOR-1",
        )


EVERYONE: Final = OwnBoards()


def read_own_boards(settings: Settings) -> OwnBoards:
    """What the settings say. Raises InvalidInputError: only the operator may, and there is no key."""
    key = settings.operator_key.get_secret_value()
    if settings.own_boards == "operator" and not key:
        raise InvalidInputError(KEY_SETTING, "is missing: LEDGERLINE_OWN_BOARDS=operator needs it")
    return OwnBoards(settings.own_boards, key.encode())


def has_own_board(body: Mapping[str, object]) -> bool:
    """Whether a creation's body asks for a board of its creator's, or for a position, well-formed or not."""
    return not isinstance(body.get("board", ""), str | None) or body.get("position") is not None
