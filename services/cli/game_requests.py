"""Requests to a gateway that may be slow to answer."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Final

import httpx

from schemas.errors import InvalidInputError
from services.cli.exit import CommandLineError
from services.cli.stall_watch import StallWatch

REQUEST_TIMEOUT_S: Final = 30.0  # then the same request is sent again
RETRY_DELAY_S: Final = 0.2
WITHOUT_VERDICT: Final = (httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.ACCEPTED)


def post_until_answered(
    http: httpx.Client,
    path: str,
    body: Mapping[str, object] | None,
    headers: Mapping[str, str],
    stall_watch: StallWatch,
) -> httpx.Response:
    """The answer to a request, which is sent again under the same key until there is a verdict.

    Raises InvalidInputError where it is refused, CommandLineError where the server fails."""
    headers = {"Idempotency-Key": secrets.token_hex(12), **headers}
    while True:
        try:
            response = http.post(path, json=body, headers=headers)
        except httpx.TimeoutException:
            stall_watch.check("the gateway")
            continue
        if response.status_code not in WITHOUT_VERDICT:
            _require_ok(response)
            stall_watch.note_progress()
            return response
        stall_watch.check("the referee")
        time.sleep(RETRY_DELAY_S)


def _require_ok(response: httpx.Response) -> None:
    if response.is_server_error:
        raise CommandLineError(f"the gateway can't create games now: {response.text[:200]}")
    if response.is_error:
        problem = response.json()
        raise InvalidInputError(problem.get("rule", ""), problem.get("detail", problem["title"]))
