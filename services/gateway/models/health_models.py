"""Answers about the gateway's own health and that of everything that its answers need."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from services.gateway.models.response_models import ResponseModel


class Health(ResponseModel):
    """Whether entries reach those who follow games; `deaf` with status 503 where they don't."""

    status: Literal["ok", "deaf"]


class Liveness(ResponseModel):
    """The gateway's process answers; nothing else is asked."""

    status: Literal["ok"] = "ok"


class EngineHealth(ResponseModel):
    """Whether the engine takes writes: the worst of its nodes."""

    status: Literal["ok", "away", "refuses writes"]


class MemberHealth(ResponseModel):
    """A referee, a bots worker or an auditor, and how long ago this gateway saw its last sign."""

    name: str
    last_sign_s: float


class WaitingTasks(ResponseModel):
    """The commands without a verdict, and the tasks of bots."""

    commands: int
    oldest_s: float | None = Field(description="how long this gateway has seen the oldest of them wait")
    stalled_partitions: list[int] = Field(description="those where that is 10 s or longer")
    bot_tasks: int


class Readiness(ResponseModel):
    """Whether commands can be expected to get their verdicts: `unready` with status 503 where they can't,
    `degraded` where that is so for a part of them, a service is missing, or a promise is broken."""

    status: Literal["ok", "degraded", "unready"]
    problems: list[str] = Field(description="what is wrong and what to do, in sentences")
    engine: EngineHealth
    referees: list[MemberHealth]
    bots: list[MemberHealth]
    auditors: list[MemberHealth]
    waiting: WaitingTasks
