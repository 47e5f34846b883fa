"""Routes of what describes the API, beside OpenAPI: a page for models."""

from __future__ import annotations

from functools import cache
from importlib import resources

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

router = APIRouter(include_in_schema=False)


@router.get("/llms.txt", summary="The API for language models")
async def llms_txt() -> Response:
    return PlainTextResponse(_read_text("llms.txt"), media_type="text/markdown")


@cache
def _read_text(name: str) -> str:
    return resources.files("services.gateway").joinpath(name).read_text(encoding="utf-8")
