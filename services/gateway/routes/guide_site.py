"""Routes of the guide: the site that `make docs` makes of the pages in docs, at `/guide`, with a search that needs no server.

Its pages run a few scripts that stand in them, which are allowed by their hashes, and set styles of their own.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from services.gateway.errors import NotFoundError
from services.gateway.routes.pages import Assets
from services.gateway.web.request_middleware import CONTENT_SECURITY_POLICY
from services.runtime.shipped_files import shipped_file

FOLDER: Final = shipped_file("build/guide")
FIRST_PAGE: Final = "/guide/docs/index.html"
SCRIPT: Final = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
router = APIRouter(include_in_schema=False)


@router.get("/guide", summary="The guide")
def guide() -> Response:
    return RedirectResponse(FIRST_PAGE)


@router.get("/guide/{path:path}", summary="A page or a file of the guide")
def page(path: str, request: Request) -> Response:
    if not path:
        return RedirectResponse(FIRST_PAGE)
    if not FOLDER.is_dir():
        raise NotFoundError(
            "SHAPE-1",
            "the guide isn't made in this checkout: `make docs` makes it; docs/index.md has it as text",
        )
    answer = _files(FOLDER).answer(path, request.headers)
    if path.endswith(".html"):
        answer.headers["Content-Security-Policy"] = _policy(FOLDER)
    return answer


@cache
def _files(folder: Path) -> Assets:
    return Assets(folder)


@cache
def _policy(folder: Path) -> str:
    """What a page of the guide may do: run the scripts of this server, and those that stand in the guide's own pages."""
    scripts = {script for page in folder.rglob("*.html") for script in SCRIPT.findall(page.read_bytes())}
    hashes = sorted(f"'sha256-{b64encode(sha256(script).digest()).decode()}'" for script in scripts)
    policy = CONTENT_SECURITY_POLICY.replace("script-src 'self'", " ".join(["script-src 'self'", *hashes]))
    return policy.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
