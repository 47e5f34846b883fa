"""Sending commands through a gateway, as any client does: the bots' way in `play`, and the
start of a client kit for other people's bots."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import httpx

from schemas import tokens
from schemas.commands import CommandEnvelope, write_command
from schemas.errors import LedgerlineError
from services.runtime.logging_setup import get_logger

log = get_logger("bots")
RETRY_DELAYS_S: Final = (0.0, 0.1)  # before each try: other games' commands wait behind this one
BUSY_STATUSES: Final = {408, 429}  # and every 5xx: another try may go well
REJECTED_STATUSES: Final = {409, 413, 422}  # the referee's no, or the form's: another try gets the same
MISCONFIGURED_STATUSES: Final = {401, 403}  # and every 3xx: it is wrong for all commands alike
MAX_RETRY_AFTER_S: Final = 60.0


class GatewayUnreachableError(LedgerlineError, ConnectionError):
    """The gateway can't be reached, or takes no commands of ours."""


class RetryLaterError(LedgerlineError):
    """The gateway doesn't take this command now; another, of another game, it may. It is to be
    sent again no sooner than after so long."""

    def __init__(self, reason: str, retry_after_s: float = 0.0) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s


class GatewaySink:
    """An outlet through a gateway: the house's bots make their seats' tokens themselves."""

    def __init__(self, url: str, token_key: bytes, retry_delays_s: Sequence[float] = RETRY_DELAYS_S) -> None:
        self.token_key, self.retry_delays_s = token_key, retry_delays_s
        self.http = httpx.Client(base_url=url, timeout=10, trust_env=False)

    def send(self, envelope: CommandEnvelope) -> None:
        """Hand the command in; its verdict comes with the view. Returns if the gateway took it
        or said no to the command itself. Raises NotNow, or GatewayAway where nobody answers."""
        response = self._post_with_retries(envelope)
        if response is None:
            raise GatewayUnreachableError(f"no gateway answers at {self.http.base_url}")
        if response.is_success:
            return
        reason, status = f"{self.http.base_url} answers {response.status_code}", response.status_code
        if _is_busy(response):
            raise RetryLaterError(reason, _retry_after_s(response))
        log.error("gateway refused", **_log_fields(envelope), status=status, reply=response.text)
        if response.is_redirect or status in MISCONFIGURED_STATUSES:
            raise GatewayUnreachableError(
                reason
            )  # somebody has to set it right, and commands can wait for that
        if status not in REJECTED_STATUSES:
            raise RetryLaterError(reason)

    def _post_with_retries(self, envelope: CommandEnvelope) -> httpx.Response | None:
        """What the gateway says at last; None if nobody answers."""
        response = None
        for delay_s in self.retry_delays_s:
            time.sleep(delay_s)
            response = self._post(envelope)
            if response is not None and (not _is_busy(response) or _retry_after_s(response) > 0):
                break
        return response

    def _post(self, envelope: CommandEnvelope) -> httpx.Response | None:
        """One try; None if nobody answers."""
        assert envelope.seat is not None, "bots speak for seats"
        headers = {
            "Authorization": f"Bearer {tokens.mint(self.token_key, envelope.game, envelope.seat)}",
            "Idempotency-Key": envelope.id,
            "Prefer": "respond-async",
        }
        path = f"/games/{envelope.game}/commands"
        try:
            return self.http.post(path, json=write_command(envelope.command), headers=headers)
        except httpx.HTTPError as error:
            log.warning("gateway away", **_log_fields(envelope), error=str(error))
            return None

    def close(self) -> None:
        self.http.close()


def _is_busy(response: httpx.Response) -> bool:
    return response.status_code in BUSY_STATUSES or response.is_server_error


def _retry_after_s(response: httpx.Response) -> float:
    """What the gateway asks for, in seconds; 0 where it doesn't, or names a date."""
    header = response.headers.get("Retry-After", "")
    return min(float(header), MAX_RETRY_AFTER_S) if header.isascii() and header.isdigit() else 0.0


def _log_fields(envelope: CommandEnvelope) -> dict[str, object]:
    return {"game": envelope.game, "seat": envelope.seat, "command": envelope.id}
