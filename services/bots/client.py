"""Sending commands through a gateway, as any client does: the bots' way in `play`, and the
start of a client kit for other people's bots."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import httpx

from schemas import tokens
from schemas.commands import Letter, write_command
from services.logs import get_log

log = get_log("bots")
WAITS_S: Final = (0.0, 0.1, 0.5, 1.0, 2.0)  # before each try
BUSY: Final = {408, 429}  # and every 5xx: another try may go well
ANSWERS: Final = {409, 413, 422}  # the referee's no, or the form's: another try gets the same


class GatewayAway(ConnectionError):
    """The gateway can't be reached, or doesn't take commands now."""


class Gateway:
    """An outlet through a gateway: the house's bots make their seats' tokens themselves."""

    def __init__(self, url: str, key: bytes, waits_s: Sequence[float] = WAITS_S) -> None:
        self.key, self.waits_s = key, waits_s
        self.http = httpx.Client(base_url=url, timeout=10, trust_env=False)

    def send(self, letter: Letter) -> None:
        """Hand the command in; its verdict comes with the view. Raises GatewayAway, unless
        the gateway took the command or said no to the command itself."""
        for wait_s in self.waits_s:
            time.sleep(wait_s)
            reply = self._post(letter)
            if reply is None or reply.status_code in BUSY or reply.is_server_error:
                continue
            if reply.is_success:
                return
            log.error("gateway refused", **_about(letter), status=reply.status_code, reply=reply.text)
            if reply.status_code in ANSWERS:
                return
            # A wrong key or address: somebody has to set it right, and the command can wait for that.
            raise GatewayAway(f"{self.http.base_url} answers {reply.status_code}")
        raise GatewayAway(f"no gateway takes commands at {self.http.base_url}")

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


def _about(letter: Letter) -> dict[str, object]:
    return {"game": letter.game, "seat": letter.seat, "command": letter.id}
