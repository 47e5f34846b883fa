"""Sending commands through a gateway, as any client does: the bots' way in `play`, and the
start of a client kit for other people's bots."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import httpx

from schemas import tokens
from schemas.commands import Letter, write_command
from services.runtime.logging_setup import get_log

log = get_log("bots")
WAITS_S: Final = (0.0, 0.1)  # before each try: other games' commands wait behind this one
BUSY: Final = {408, 429}  # and every 5xx: another try may go well
ANSWERS: Final = {409, 413, 422}  # the referee's no, or the form's: another try gets the same
KEY_OR_ADDRESS: Final = {401, 403}  # and every 3xx: it is wrong for all commands alike
RETRY_AFTER_MOST_S: Final = 60.0


class GatewayAway(ConnectionError):
    """The gateway can't be reached, or takes no commands of ours."""


class NotNow(Exception):
    """The gateway doesn't take this command now; another, of another game, it may. It is to be
    sent again no sooner than after so long."""

    def __init__(self, why: str, retry_after_s: float = 0.0) -> None:
        super().__init__(why)
        self.retry_after_s = retry_after_s


class Gateway:
    """An outlet through a gateway: the house's bots make their seats' tokens themselves."""

    def __init__(self, url: str, key: bytes, waits_s: Sequence[float] = WAITS_S) -> None:
        self.key, self.waits_s = key, waits_s
        self.http = httpx.Client(base_url=url, timeout=10, trust_env=False)

    def send(self, letter: Letter) -> None:
        """Hand the command in; its verdict comes with the view. Returns if the gateway took it
        or said no to the command itself. Raises NotNow, or GatewayAway where nobody answers."""
        reply = self._try(letter)
        if reply is None:
            raise GatewayAway(f"no gateway answers at {self.http.base_url}")
        if reply.is_success:
            return
        said, status = f"{self.http.base_url} answers {reply.status_code}", reply.status_code
        if _busy(reply):
            raise NotNow(said, _retry_after_s(reply))
        log.error("gateway refused", **_about(letter), status=status, reply=reply.text)
        if reply.is_redirect or status in KEY_OR_ADDRESS:
            raise GatewayAway(said)  # somebody has to set it right, and commands can wait for that
        if status not in ANSWERS:
            raise NotNow(said)

    def _try(self, letter: Letter) -> httpx.Response | None:
        """What the gateway says at last; None if nobody answers."""
        reply = None
        for wait_s in self.waits_s:
            time.sleep(wait_s)
            reply = self._post(letter)
            if reply is not None and (not _busy(reply) or _retry_after_s(reply) > 0):
                break
        return reply

    def _post(self, letter: Letter) -> httpx.Response | None:
        """One try; None if nobody answers."""
        assert letter.seat is not None, "bots speak for seats"
        headers = {
            "Authorization": f"Bearer {tokens.mint(self.key, letter.game, letter.seat)}",
            "Idempotency-Key": letter.id,
            "Prefer": "respond-async",
        }
        path = f"/games/{letter.game}/commands"
        try:
            return self.http.post(path, json=write_command(letter.command), headers=headers)
        except httpx.HTTPError as error:
            log.warning("gateway away", **_about(letter), error=str(error))
            return None

    def close(self) -> None:
        self.http.close()


def _busy(reply: httpx.Response) -> bool:
    return reply.status_code in BUSY or reply.is_server_error


def _retry_after_s(reply: httpx.Response) -> float:
    """What the gateway asks for, in seconds; 0 where it doesn't, or names a date."""
    asked = reply.headers.get("Retry-After", "")
    return min(float(asked), RETRY_AFTER_MOST_S) if asked.isascii() and asked.isdigit() else 0.0


def _about(letter: Letter) -> dict[str, object]:
    return {"game": letter.game, "seat": letter.seat, "command": letter.id}
