"""P8: the three questions about a server's health over HTTP, and what is logged when answers are unknown."""

from __future__ import annotations

from typing import Any

import httpx
from structlog.testing import capture_logs

from tests.deploy.compose import wait_until
from tests.gateway.clients import begun


def test_the_three_questions_about_health_have_three_answers(http: httpx.Client) -> None:
    begun(http)
    assert http.get("/health").json() == {"status": "ok"}
    assert http.get("/health/live").json() == {"status": "ok"}
    wait_until(lambda: http.get("/health/ready").json()["referees"])  # it looks every two seconds
    ready = http.get("/health/ready")
    assert (ready.status_code, ready.json()["status"], ready.json()["engine"]) == (
        200,
        "ok",
        {"status": "ok"},
    )
    assert [referee["name"].partition("-")[0] for referee in ready.json()["referees"]] == ["referee"]


def test_P8_commands_that_nobody_decides_are_told_of(http: httpx.Client, paused_referee: Any) -> None:
    """The engine has them, no referee does anything, and the player reads `unknown`."""
    [player, _] = begun_without(http, paused_referee)
    with capture_logs() as lines:
        answer = player.ask({"type": "keep_tickets", "keep": [0, 1, 2]}, "kept", "decided", 1_000).json()
    assert (answer["verdict"], answer["level"]) == ("unknown", "accepted")
    assert [line["event"] for line in lines if line["event"].startswith("answers")] == [
        "answers are unknown: commands get no verdict in time"
    ]


def begun_without(http: httpx.Client, paused_referee: Any) -> list[Any]:
    """The players of a game that began before the referee paused."""
    paused_referee.set()
    players = begun(http)
    paused_referee.clear()
    return players
