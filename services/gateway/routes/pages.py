"""The pages for people: the lobby at `/`, a table at `/table/{game}`, its audit at `/audit/{game}`, and their files
under `/assets`.

A page is the same for everybody: what it shows it asks the API for, with the tokens that the browser has. It may run
only scripts of this server, and asks no other host for anything."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from services.runtime.html_templates import html_templates

IMPORTED: Final = re.compile(r'^(?:import|export) .*"\./(.+)";$', re.MULTILINE)
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

_PAGES: Final = resources.files("services.gateway").joinpath("pages")
_TEMPLATES: Final = html_templates("services.gateway.routes")
router = APIRouter(include_in_schema=False)


@router.get("/", summary="The lobby")
async def lobby() -> Response:
    return _page("lobby", "lobby")


@router.get("/table/{game}", summary="A table")
async def table(game: str) -> Response:
    return _page("table", "board", "table")


@router.get("/audit/{game}", summary="A game's audit")
async def audit(game: str) -> Response:
    return _page("audit", "audit")


class Assets(StaticFiles):
    """The pages' files. A browser asks each time whether one has changed, and is answered 304."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, with the pages' headers. Raises HTTPException: there is none."""
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response


def assets() -> Assets:
    """The folder of the pages' files, as an application."""
    return Assets(directory=Path(str(_PAGES)))


@cache
def _render_page(name: str, sheets: tuple[str, ...]) -> str:
    """The page that runs the module `name`. It names all modules that this one imports, so that a browser asks for them
    at once."""
    modules = sorted(_imported_by(f"{name}.js"))
    return _TEMPLATES.get_template("app.html").render(name=name, sheets=sheets, modules=modules)


def _imported_by(module: str) -> set[str]:
    """All modules that a module imports, itself or by others."""
    found: set[str] = set()
    new = {module}
    while new:
        text = _PAGES.joinpath(new.pop()).read_text(encoding="utf-8")
        imported = set(IMPORTED.findall(text)) - found
        found |= imported
        new |= imported
    return found


def _page(name: str, *sheets: str) -> Response:
    return HTMLResponse(_render_page(name, sheets), headers=HEADERS)
