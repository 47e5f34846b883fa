"""Routes of the pages for people, and of two descriptions of the API beside OpenAPI: the messages of the
socket, and a page for models.

The lobby is at `/`, a table at `/table/{game}`, its audit at `/audit/{game}`, and their files under
`/assets`. A page is the same for everybody, but for the preview of its link: it asks the API for all that it
shows, with the tokens that the browser has. It may run only scripts of this server, and asks no other host for anything.
"""

from __future__ import annotations

import gzip
import mimetypes
import re
import sys
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Final, NamedTuple

from fastapi import APIRouter, HTTPException, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from pydantic_core import to_json
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from schemas.web.socket_messages import describe_socket
from services.gateway.routes.link_previews import LOBBY, LinkPreview, preview_table
from services.gateway.web.request_middleware import CONTENT_SECURITY_POLICY
from services.runtime.html_templates import html_templates

IMPORTED: Final = re.compile(r'^(?:import|export|\}) .*"(\.\.?/.+)";$', re.MULTILINE)
INLINE_SCRIPT: Final = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
HEADERS: Final = {"Cache-Control": "no-cache"}

VERIFIER_FILES: Final = (  # in a checkout and in the image; where the packages were installed from a wheel
    Path(__file__).parents[3] / "deploy" / "verify_game.py",
    Path(sys.prefix) / "share" / "ledgerline" / "verify_game.py",
)
_PAGES: Final = resources.files("services.gateway").joinpath("pages")
_TEMPLATES: Final = html_templates("services.gateway.routes")
router = APIRouter(include_in_schema=False)


@router.get("/", summary="The lobby")
async def lobby(request: Request) -> Response:
    return _page(request, "lobby/lobby", "lobby/lobby")


@router.get("/table/{game}", summary="A table")
async def table(request: Request, game: str) -> Response:
    sheets = ("board/board", "table/table", "guide/guide")
    preview = await preview_table(request, game)
    return _page(request, "table/table", *sheets, early="table/first_reading", preview=preview)


@router.get("/audit/{game}", summary="A game's audit")
async def audit(request: Request, game: str) -> Response:
    preview = await preview_table(request, game)
    return _page(request, "audit/audit", "audit/audit", preview=preview, title=f"Audit: {preview.title}")


@router.get("/docs", summary="The API for people")
async def docs() -> Response:
    return _docs_page()


@cache
def _docs_page() -> Response:
    """FastAPI's page over the files of fastapi-offline. It may run its one script that stands in it, by its hash, and set
    styles of its own."""
    files = "/static-offline-docs"
    page = get_swagger_ui_html(
        openapi_url="/openapi.json",
        title="API - Ledgerline",
        swagger_js_url=f"{files}/swagger-ui-bundle.js",
        swagger_css_url=f"{files}/swagger-ui.css",
        swagger_favicon_url="/assets/shared/favicon.svg",
    )
    digests = (b64encode(sha256(script).digest()).decode() for script in INLINE_SCRIPT.findall(page.body))
    allowed = {
        "script-src 'self'": " ".join(f"'sha256-{digest}'" for digest in digests),
        "style-src 'self'": "'unsafe-inline'",
    }
    policy = CONTENT_SECURITY_POLICY
    for source, more in allowed.items():
        policy = policy.replace(source, f"{source} {more}")
    page.headers["Content-Security-Policy"] = policy
    return page


@router.get("/verify_game.py", summary="The verifier of a game's file, in one file")
async def verifier() -> Response:
    if (found := next((file for file in VERIFIER_FILES if file.is_file()), None)) is None:
        raise HTTPException(404)
    disposition = {"Content-Disposition": f'attachment; filename="{found.name}"'}
    return Response(found.read_bytes(), media_type="text/x-python", headers=HEADERS | disposition)


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


class Asset(NamedTuple):
    """A file of the pages, as it is sent."""

    content: bytes
    compressed: bytes
    headers: Mapping[str, str]

    def response(self, request: Headers) -> Response:
        """The answer to a request with these headers."""
        if request.get("if-none-match") == self.headers["ETag"]:
            return Response(status_code=304, headers=self.headers)
        if "gzip" in request.get("accept-encoding", ""):
            return Response(self.compressed, headers={**self.headers, "Content-Encoding": "gzip"})
        return Response(self.content, headers=self.headers)


class Assets:
    """The pages' files, as an application: read and compressed once, since a page needs two dozen of them at the same
    moment. A browser asks each time whether one has changed, and is answered 304."""

    def __init__(self, folder: Path) -> None:
        files = [path for path in folder.rglob("*") if path.is_file()]
        self._assets = {path.relative_to(folder).as_posix(): _read_asset(path) for path in files}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Raises HTTPException: there is no such file."""
        asset = self._assets.get(scope["path"].removeprefix(scope.get("root_path", "")).lstrip("/"))
        if asset is None:
            raise HTTPException(404)
        if scope["method"] not in {"GET", "HEAD"}:
            raise HTTPException(405)
        await asset.response(Headers(scope=scope))(scope, receive, send)


@cache
def assets() -> Assets:
    """The folder of the pages' files, as an application."""
    return Assets(Path(str(_PAGES)))


def _read_asset(path: Path) -> Asset:
    content = path.read_bytes()
    media_type = mimetypes.guess_type(path.name)[0] or "text/plain"
    headers = {
        **HEADERS,
        "Content-Type": f"{media_type}; charset=utf-8",
        "ETag": f'"{sha256(content).hexdigest()[:32]}"',
        "Vary": "Accept-Encoding",
    }
    return Asset(content, gzip.compress(content), headers)


@cache
def _imported_by(module: str) -> frozenset[str]:
    """All modules that a module imports, itself or by others: each by its path in the folder of the pages."""
    found: set[str] = set()
    new = {module}
    while new:
        importer = new.pop()
        text = _PAGES.joinpath(importer).read_text(encoding="utf-8")
        imported = {normpath(join(dirname(importer), path)) for path in IMPORTED.findall(text)} - found
        found |= imported
        new |= imported
    return frozenset(found)


def _page(
    request: Request,
    name: str,
    *sheets: str,
    early: str = "",
    preview: LinkPreview = LOBBY,
    title: str = "",  # the preview's own, unless it is another page of the game
) -> Response:
    """The page that runs the module `name`, and before it, as soon as it is there, the module `early`. It names all
    modules that are imported, so that a browser asks for them at once, and what a link to it is shown with."""
    first = sorted(_imported_by(f"{early}.js")) if early else []
    page = _TEMPLATES.get_template("app.html").render(
        name=name,
        sheets=sheets,
        early=early,
        modules=[*first, *sorted(_imported_by(f"{name}.js") - {*first, f"{early}.js"})],
        preview=preview,
        title=title or preview.title,
        site=str(request.base_url),  # programs that show a preview take whole addresses alone
    )
    return HTMLResponse(page, headers=HEADERS)
