"""The pages for people: the lobby at `/`, a table at `/table/{game}`, and their files under `/assets`.

A page is the same for everybody: what it shows it asks the API for, with the tokens that the browser has. It may run
only scripts of this server, and asks no other host for anything."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "no-referrer",  # an invitation stands in the address until the page has read it
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}

router = APIRouter(include_in_schema=False)


@router.get("/", summary="The lobby")
async def lobby() -> Response:
    return _page("lobby.html")


@router.get("/table/{game}", summary="A table")
async def table(game: str) -> Response:
    return _page("table.html")


class Assets(StaticFiles):
    """The pages' files. A browser asks each time whether one has changed, and is answered 304."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, with the pages' headers. Raises HTTPException: there is none."""
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response


def assets() -> Assets:
    """The folder of the pages' files, as an application."""
    return Assets(directory=Path(str(resources.files("services.gateway").joinpath("pages"))))


@cache
def _read_page(name: str) -> str:
    return resources.files("services.gateway").joinpath("pages", name).read_text(encoding="utf-8")


def _page(name: str) -> Response:
    return HTMLResponse(_read_page(name), headers=HEADERS)
