"""Sends commands through a gateway, as any client does: for the bots of `play`, and as an example for
other people's bots."""

from __future__ import annotations

import time
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

import httpx

from schemas import tokens
from schemas.commands import CommandEnvelope, write_command
from schemas.errors import LedgerlineError
from services.runtime.logging_setup import get_logger

log = get_logger("bots")
RETRY_DELAYS_S: Final = (0.0, 0.1)  # before each try; other games' commands wait meanwhile
# And every 5xx: another try may succeed.
BUSY_STATUSES: Final = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}
# Refused by the referee, or malformed: another try gets the same.
REJECTED_STATUSES: Final = {
    HTTPStatus.CONFLICT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
}
# And every 3xx: wrong for all commands alike.
MISCONFIGURED_STATUSES: Final = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
MAX_RETRY_AFTER_S: Final = 60.0


class GatewayUnreachableError(LedgerlineError, ConnectionError):
    """The gateway can't be reached, or accepts none of our commands."""


class RetryLaterError(LedgerlineError):
    """The gateway doesn't accept this command now, though it may accept others.

    It is to be sent again after `retry_after_s` or later."""

    def __init__(self, reason: str, retry_after_s: float = 0.0) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s


class GatewaySink:
    """Sends commands through a gateway. The server's own bots sign their seats' tokens themselves."""

    def __init__(self, url: str, token_key: bytes, retry_delays_s: Sequence[float] = RETRY_DELAYS_S) -> None:
        self.token_key, self.retry_delays_s = token_key, retry_delays_s
        self.http = httpx.Client(base_url=url, timeout=10, trust_env=False)

    def send(self, envelope: CommandEnvelope) -> None:
        """Submit the command; its verdict comes with the view.

        Returns if the gateway accepted it or refused the command itself. Raises RetryLaterError, or
        GatewayUnreachableError where the gateway can't be reached or is configured wrongly."""
        response = self._post_with_retries(envelope)
        if response is None:
            raise GatewayUnreachableError(f"no gateway answers at {self.http.base_url}")
        if response.is_success:
            return
        reason, status = f"{self.http.base_url} answers {response.status_code}", response.status_code
        if _is_busy(response):
            raise RetryLaterError(reason, _retry_after_s(response))
        log.error("command rejected by gateway", **_log_fields(envelope), status=status, reply=response.text)
        if response.is_redirect or status in MISCONFIGURED_STATUSES:
            raise GatewayUnreachableError(reason)  # an operator has to correct it; commands wait for that
        if status not in REJECTED_STATUSES:
            raise RetryLaterError(reason)

    def _post_with_retries(self, envelope: CommandEnvelope) -> httpx.Response | None:
        """The last response of the gateway; None if it can't be reached."""
        response = None
        for delay_s in self.retry_delays_s:
            time.sleep(delay_s)
            response = self._post(envelope)
            if response is not None and (not _is_busy(response) or _retry_after_s(response) > 0):
                break
        return response

    def _post(self, envelope: CommandEnvelope) -> httpx.Response | None:
        """One try; None if the gateway can't be reached."""
        assert envelope.seat is not None, "a bot's command is a seat's"
        headers = {
            "Authorization": f"Bearer {tokens.mint(self.token_key, envelope.game, envelope.seat)}",
            "Idempotency-Key": envelope.id,
            "Prefer": "respond-async",
        }
        path = f"/games/{envelope.game}/commands"
        try:
            return self.http.post(path, json=write_command(envelope.command), headers=headers)
        except httpx.HTTPError as error:
            log.warning("gateway unreachable", **_log_fields(envelope), error=str(error))
            return None

    def close(self) -> None:
        """Close its connections."""
        self.http.close()


def _is_busy(response: httpx.Response) -> bool:
    return response.status_code in BUSY_STATUSES or response.is_server_error


def _retry_after_s(response: httpx.Response) -> float:
    """The Retry-After of the response in seconds; 0 without one, or where it is a date."""
    header = response.headers.get("Retry-After", "")
    return min(float(header), MAX_RETRY_AFTER_S) if header.isascii() and header.isdigit() else 0.0


def _log_fields(envelope: CommandEnvelope) -> dict[str, object]:
    return {"game": envelope.game, "seat": envelope.seat, "command": envelope.id}
