"""Routes of what describes the API, beside OpenAPI: the messages of the socket, and a page for models."""

from __future__ import annotations

from functools import cache
from importlib import resources

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response
from pydantic_core import to_json

from schemas.socket_messages import describe_socket

router = APIRouter(include_in_schema=False)


@router.get("/llms.txt", summary="The API for language models")
async def llms_txt() -> Response:
    return PlainTextResponse(_read_text("llms.txt"), media_type="text/markdown")


@router.get("/asyncapi.json", summary="The messages of the WebSocket")
async def asyncapi() -> Response:
    return Response(_asyncapi_text(), media_type="application/json")


@cache
def _asyncapi_text() -> bytes:
    return to_json(describe_socket())


@cache
def _read_text(name: str) -> str:
    return resources.files("services.gateway").joinpath(name).read_text(encoding="utf-8")
