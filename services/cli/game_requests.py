"""Games created and started by requests to the gateway, which may be slow to answer."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from typing import Final

import httpx

from schemas.errors import InvalidInputError
from services.cli.exit import CommandLineError
from services.cli.stall_watch import StallWatch

REQUEST_TIMEOUT_S: Final = 30.0  # then the same request is sent again
RETRY_DELAY_S: Final = 0.2
WITHOUT_VERDICT: Final = (httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.ACCEPTED)


def create_games(
    url: str,
    body: Mapping[str, object],
    game_count: int,
    failure_reason: Callable[[], str],
    operator_key: str = "",
) -> list[str]:
    """The ids of so many new games, which are started. `body` is the JSON of the request for one; where it
    names a seed, each game's own is derived from it. `failure_reason` says why the server can't go on.
    With the operator's key games may be on boards of one's own, where only the operator may create those.

    Raises InvalidInputError where the request is wrong, CommandLineError where the server fails."""
    stall_watch = StallWatch(failure_reason)
    try:
        with httpx.Client(base_url=url, timeout=REQUEST_TIMEOUT_S, trust_env=False) as http:
            headers = {"Authorization": f"Bearer {operator_key}"} if operator_key else {}
            return [
                _create_game(http, _with_own_seed(body, i), headers, stall_watch) for i in range(game_count)
            ]
    except httpx.HTTPError as error:
        raise CommandLineError(f"the gateway doesn't answer: {error}") from None


def _with_own_seed(body: Mapping[str, object], index: int) -> Mapping[str, object]:
    return {**body, "seed": f"{body['seed']}/{index}"} if "seed" in body and index else body


def _create_game(
    http: httpx.Client, body: Mapping[str, object], headers: Mapping[str, str], stall_watch: StallWatch
) -> str:
    created = post_until_answered(http, "/games", body, headers, stall_watch).json()
    game: str = created["game"]
    post_until_answered(
        http, f"/games/{game}/start", None, {"Authorization": f"Bearer {created['token']}"}, stall_watch
    )
    return game


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
