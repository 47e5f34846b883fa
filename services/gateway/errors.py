"""Why a request isn't granted, in the product's own words: each error has its rule and a sentence.

The plain calls raise these, and `web/problem_details` alone says them in HTTP.
"""

from __future__ import annotations

from typing import Final

from schemas.errors import LedgerlineError

FULL_RETRY_S: Final = 60
UNLOGGED_LEVEL: Final = "rejected"  # the level of an answer without an entry: nothing of it is in the log


class RequestError(LedgerlineError):
    """A request isn't granted: the rule's id (schemas/refusals.py), the reason, and further members of the answer."""

    def __init__(self, rule: str, detail: str, **extensions: object) -> None:
        super().__init__(detail)
        self.rule, self.detail, self.extensions = rule, detail, extensions


class TokenError(RequestError):
    """There is no token, or this one opens nothing: it is forged, has ended, or was withdrawn."""

    def __init__(self, detail: str) -> None:
        super().__init__("TOKEN-1", detail)


class NotYoursError(RequestError):
    """The sender may not do this: another may, or a setting forbids it."""

    def __init__(self, detail: str, rule: str = "TOKEN-1") -> None:
        super().__init__(rule, detail)


class NotFoundError(RequestError):
    """The server has no such thing."""


class UnknownGameError(NotFoundError):
    """Neither the engine nor the archive has a game of this id."""

    def __init__(self, game: str) -> None:
        super().__init__("GAME-1", f"there is no game {game[:40]}")


class TooManyError(RequestError):
    """The sender, or the server, has as much of this as it may; there may be room after `retry_after_s` seconds."""

    def __init__(self, rule: str, detail: str, retry_after_s: int, **extensions: object) -> None:
        super().__init__(rule, detail, retry_after=retry_after_s, **extensions)


class RateExceededError(TooManyError):
    """A sender sends or reads too often. `limit` says how many of what it may a second; its policy has a name, and allows
    `quota` of them in a window of so many seconds."""

    def __init__(self, limit: str, retry_after_s: float, policy: str, quota: int, window_s: float) -> None:
        super().__init__("RATE-1", f"more than {limit} a second", max(1, round(retry_after_s)))
        self.policy, self.quota, self.window_s = policy, quota, max(1, round(window_s))


class EngineFullError(RequestError):
    """The engine has room for the games that there are, and for no other."""

    def __init__(self) -> None:
        detail = "the engine's memory is nearly full: games go on, and none is created until some have left"
        super().__init__("FULL-1", detail, retry_after=FULL_RETRY_S)


class NotYetError(RequestError):
    """The answer isn't there yet; the request may be sent again after `retry_after_s` seconds."""

    def __init__(self, detail: str, retry_after_s: int, **extensions: object) -> None:
        super().__init__("WAIT-1", detail, retry_after=retry_after_s, **extensions)


class LevelUnavailableError(RequestError):
    """The engine can't give this level of acknowledgement now."""

    def __init__(self, reason: str, level: str) -> None:
        super().__init__("LEVEL-1", reason, asked=level)


class RefusedError(RequestError):
    """A rule of the game, or one about messages, says no."""

    def __init__(self, rule: str, detail: str, **extensions: object) -> None:
        if rule == "RATE-1":
            extensions = {"retry_after": 1, **extensions}
        super().__init__(rule, detail, **extensions)


class GameOverError(RefusedError):
    """The game takes no more commands. `id_` is the command's, if there is one."""

    def __init__(self, id_: str | None) -> None:
        of_command = {} if id_ is None else {"id": id_, "level": UNLOGGED_LEVEL}
        super().__init__("GAME-3", "the game is over", **of_command)


class ReusedIdError(RefusedError):
    """The id was sent before, with another command; `extensions` have that one's verdict, if it is known."""

    def __init__(self, id_: str, **extensions: object) -> None:
        detail = "this id belongs to another command, sent before; a new command needs a new id"
        super().__init__("ID-1", detail, id=id_, **extensions)
