"""Routes of the server itself: its health."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from services.gateway.health import HealthWatch
from services.gateway.models import openapi
from services.gateway.models.response_models import Health, Liveness, Readiness
from services.gateway.routes.dependencies import ServiceParam

router = APIRouter(tags=["server"], responses=openapi.PROBLEM_RESPONSES)


@router.get(
    "/health",
    summary="Is this gateway fit to serve?",
    responses={503: {"model": Health, "description": "No entry reaches those who follow games"}},
)
async def health(service: ServiceParam, request: Request, response: Response) -> Health:
    await service.ledger.ping()
    if request.app.state.listening:
        return Health(status="ok")
    response.status_code = 503
    return Health(status="deaf")


@router.get("/health/live", summary="Does this gateway's process answer?")
async def live() -> Liveness:
    return Liveness()


@router.get(
    "/health/ready",
    summary="Can commands be expected to get their verdicts?",
    responses={503: {"model": Readiness, "description": "No engine takes writes, or nothing is decided"}},
)
async def ready(service: ServiceParam, request: Request, response: Response) -> Readiness:
    watch: HealthWatch = request.app.state.health
    service.stopping.note_asked()
    readiness = watch.readiness(request.app.state.listening, is_stopping=service.stopping.is_stopping)
    if readiness.status == "unready":
        response.status_code = 503
    return readiness
