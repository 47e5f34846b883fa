"""Routes of the pages for people, and of two descriptions of the API beside OpenAPI: the messages of the
socket, and a page for models.

The lobby is at `/`, a table at `/table/{game}`, its audit at `/audit/{game}`, and their files under `/assets`. A page
is the same for everybody, but for the preview of its link: it asks the API for all that it shows, with the tokens
that the browser has. It may run only scripts of this server, and asks no other host for anything.

What a program that was sent a link shows of it: a title, a sentence, a picture of the board.

It says no more than who has the link may see of a game's creation, and nothing of one that is for its players
alone. The pictures are drawn once, of the built-in boards (tests/browser/previews.py).
"""

from __future__ import annotations

import asyncio
import gzip
import mimetypes
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from hashlib import sha256
from importlib import resources
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Final, NamedTuple

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from pydantic_core import to_json
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from schemas.errors import LedgerlineError
from schemas.web.socket_messages import describe_socket
from services.gateway.games.game_creations import GameCreation
from services.gateway.games.service import GatewayService
from services.gateway.tables.table_folds import TableFolds
from services.ledger.ports import ENGINE_ERRORS
from services.runtime.logging_setup import get_logger
from services.runtime.shipped_files import render_template, shipped_file

log = get_logger("gateway")
PICTURES: Final = resources.files("services.gateway").joinpath("pages", "previews")
GAME_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{2,39}")
WAIT_S: Final = 0.5  # for the engine: the page itself waits for nothing
CARDS: Final = "cards"  # the picture of all that is played on no board of ours
ABOUT: Final = "Board games around one table, with friends or bots. Every game can be watched again."
INVITED: Final = "Open the link to sit down, or to watch."


class LinkPreview(NamedTuple):
    """The preview of a page's link."""

    title: str
    sentence: str
    picture: str  # its name in the folder of pictures


LOBBY: Final = LinkPreview("Ledgerline", ABOUT, CARDS)
SOME_TABLE: Final = LinkPreview("A table at Ledgerline", INVITED, CARDS)


@cache
def _pictures() -> frozenset[str]:
    return frozenset(
        path.name.removesuffix(".jpg") for path in PICTURES.iterdir() if path.name.endswith(".jpg")
    )


async def preview_table(request: Request, game: str) -> LinkPreview:
    """The preview of a table; of any table where nothing may be said of this one, or it can't be read now."""
    service: GatewayService = request.app.state.service
    folds: TableFolds | None = request.app.state.table_folds
    if folds is None or GAME_ID.fullmatch(game) is None:
        return SOME_TABLE
    try:
        async with asyncio.timeout(WAIT_S):
            creation: GameCreation = await service.creations.find(game)
    except (LedgerlineError, *ENGINE_ERRORS) as error:
        log.info("no preview", game=game, why=str(error))
        return SOME_TABLE
    titles = {board.id: board.title for board in folds.catalog.boards()}
    if (
        creation.board not in titles
        or creation.has_own_board
        or creation.access.visibility == "players"
        or creation.board not in _pictures()
    ):
        return SOME_TABLE
    return LinkPreview(
        f"{titles[creation.board]}: a table for {creation.seats} at Ledgerline", INVITED, creation.board
    )


IMPORT: Final = re.compile(r'^import (\{[^}]*\}) from "(\.\.?/[^"]+)";$', re.MULTILINE)
EXPORT: Final = re.compile(r"^export (?=(?:const|class|(?:async )?function) (\w+))", re.MULTILINE)
COMMENT: Final = re.compile(r"^[ \t]*(?://.*|/\*\*(?! *\n \* @license)(?:(?!\*/)[\s\S])*\*/)\n", re.MULTILINE)
EXPORTS: Final = re.compile(r"\bexport\{([^}]*)\};?\s*\Z")  # of a library's file: at its end
UNBUNDLED: Final = re.compile(r"^[ \t]*(?:import|export)\b|\bimport\s*[(.]", re.MULTILINE)
HEADERS: Final = {"Cache-Control": "no-cache"}
ICON: Final = "shared/favicon.svg"  # that a page shows, has as its icon, and marks: three requests

VERIFIER: Final = shipped_file("deploy/verify_game.py")
_PAGES: Final = resources.files("services.gateway").joinpath("pages")
router = APIRouter(include_in_schema=False)


@router.get("/", summary="The lobby")
async def lobby(request: Request) -> Response:
    return _page(request, LOBBY_PAGE)


@router.get("/table/{game}", summary="A table")
async def table(request: Request, game: str) -> Response:
    return _page(request, TABLE_PAGE, await preview_table(request, game))


@router.get("/audit/{game}", summary="A game's audit")
async def audit(request: Request, game: str) -> Response:
    preview = await preview_table(request, game)
    return _page(request, AUDIT_PAGE, preview, f"Audit: {preview.title}")


@router.get("/operator", summary="The operator's page")
async def operator(request: Request) -> Response:
    return _page(request, OPERATOR_PAGE, title="Operator - Ledgerline")


@router.get("/service_worker.js", summary="What shows messages of Web Push while no page is open")
async def service_worker(request: Request) -> Response:
    """At the root, as a browser lets a worker open pages below its own address alone."""
    return assets().answer("alerts/service_worker.js", request.headers)


@router.get("/verify_game.py", summary="The verifier of a game's file, in one file")
async def verifier() -> Response:
    disposition = {"Content-Disposition": f'attachment; filename="{VERIFIER.name}"'}
    return Response(VERIFIER.read_bytes(), media_type="text/x-python", headers=HEADERS | disposition)


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


class Page(NamedTuple):
    """A page for people: its module, its style sheets, and a module whose script runs before all else."""

    module: str
    sheets: tuple[str, ...]
    early: str | None = None


LOBBY_PAGE: Final = Page("lobby/lobby", ("shared/base", "lobby/lobby"))
TABLE_PAGE: Final = Page(
    "table/table", ("shared/base", "trains/board", "table/table", "guide/guide"), "table/first_reading"
)
AUDIT_PAGE: Final = Page("audit/audit", ("shared/base", "audit/audit"))
OPERATOR_PAGE: Final = Page("operator/operator", ("shared/base", "operator/operator"))


@dataclass(frozen=True)
class Asset:
    """A file of the pages, as it is sent."""

    content: bytes
    headers: Mapping[str, str]

    @cached_property
    def compressed(self) -> bytes:
        """What most browsers are sent: compressed when the first one asks."""
        return gzip.compress(self.content)

    def response(self, request: Headers) -> Response:
        """The answer to a request with these headers."""
        if request.get("if-none-match") == self.headers["ETag"]:
            return Response(status_code=304, headers=self.headers)
        if "gzip" in request.get("accept-encoding", ""):
            return Response(self.compressed, headers={**self.headers, "Content-Encoding": "gzip"})
        return Response(self.content, headers=self.headers)


class Assets:
    """A folder of files, with the bundles of these pages, as an application: read once, since a page needs two dozen of
    them at the same moment. A bundle is made when it is first asked for. A browser asks each time whether a file has
    changed, and is answered 304."""

    def __init__(self, folder: Path, pages: Sequence[Page] = ()) -> None:
        self._files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
        self._bundles = dict[str, Callable[[], bytes]]()
        for page in pages:
            self._bundles[f"{page.module}.bundle.css"] = partial(self._joined, page.sheets)
            for module in filter(None, (page.module, page.early)):
                self._bundles[f"{module}.bundle.js"] = partial(self._bundle, module)
        self._assets = dict[str, Asset]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Raises HTTPException: there is no such file."""
        path = scope["path"].removeprefix(scope.get("root_path", "")).lstrip("/")
        answer = self.answer(path, Headers(scope=scope))
        if scope["method"] not in {"GET", "HEAD"}:
            raise HTTPException(405)
        await answer(scope, receive, send)

    def answer(self, path: str, request: Headers) -> Response:
        """A file, as it is sent to a request with these headers. Raises HTTPException: there is no such file."""
        if path not in self._assets:
            content = self._bundles[path]() if path in self._bundles else self._files.get(path)
            if content is None:
                raise HTTPException(404)
            self._assets[path] = _asset(path, content)
        return self._assets[path].response(request)

    def _joined(self, sheets: Sequence[str]) -> bytes:
        return b"".join(self._files[f"{sheet}.css"] for sheet in sheets)

    def _bundle(self, module: str) -> bytes:
        """A module and all that it imports in one script, in the order in which they run: a page of some fifty modules
        asked for each. Each has a scope of its own, so what its names are is nobody else's. Raises ValueError
        where two import each other, by whatever way, or one imports or exports in another form than `_check_form` lets
        through."""
        scopes: dict[
            str, str
        ] = {}  # each module's name in the script; empty while those are added that it imports
        parts: list[str] = []

        def add(path: str) -> None:
            if scopes.get(path) == "":
                raise ValueError(f"{path} is imported by a module that it imports")
            if path in scopes:
                return
            scopes[path] = ""
            source = self._files[path].decode()
            _check_form(path, source)

            def take(imported: re.Match[str]) -> str:
                other = normpath(join(dirname(path), imported[2]))
                add(other)
                return f"const {imported[1].replace(' as ', ': ')} = {scopes[other]};"

            text = IMPORT.sub(take, source)
            names = EXPORT.findall(text)
            if listed := EXPORTS.search(text):
                pairs = (each.split(" as ") for each in listed[1].split(","))
                names = [f"{name}: {own}" for own, name in pairs]
            scopes[path] = f"module{len(parts)}"
            body = COMMENT.sub("", EXPORTS.sub("", EXPORT.sub("", text)))
            parts.append(
                f"// {path}\nconst {scopes[path]} = (() => {{\n{body}\nreturn {{ {', '.join(names)} }};\n}})();\n"
            )

        add(f"{module}.js")
        return "".join(parts).encode()


def _check_form(path: str, source: str) -> None:
    """Raise ValueError, with the file and the line, where a module imports or exports in a form that a bundle can't have:
    it takes `import { names } from "./file.js";` and `export` before a const, a function or a class."""
    known = IMPORT.sub(lambda found: "\n" * found[0].count("\n"), source)
    if left := UNBUNDLED.search(EXPORT.sub("", EXPORTS.sub("", known))):
        line = known.count("\n", 0, left.start()) + 1
        raise ValueError(f"{path}:{line} imports or exports in a form that the pages can't bundle")


@cache
def assets() -> Assets:
    """The folder of the pages' files, as an application."""
    return Assets(Path(str(_PAGES)), (LOBBY_PAGE, TABLE_PAGE, AUDIT_PAGE, OPERATOR_PAGE))


def _asset(name: str, content: bytes) -> Asset:
    media_type = mimetypes.guess_type(name)[0] or "text/plain"
    headers = {
        **({"Cache-Control": "max-age=3600"} if name == ICON else HEADERS),
        "Content-Type": f"{media_type}; charset=utf-8",
        "ETag": f'"{sha256(content).hexdigest()[:32]}"',
        "Vary": "Accept-Encoding",
    }
    return Asset(content, headers)


def _page(request: Request, page: Page, preview: LinkPreview = LOBBY, title: str = "") -> Response:
    """A page, and what a link to it is shown with. Its title is the preview's own, unless it is another page of the game."""
    text = render_template(
        "services.gateway.routes",
        "app.html",
        page=page,
        preview=preview,
        has_board=preview.picture != CARDS,
        title=title or preview.title,
        site=str(request.base_url),  # programs that show a preview take whole addresses alone
    )
    return HTMLResponse(text, headers=HEADERS)
