"""Pages of other origins: those that a setting names may ask this server (CORS), and open its sockets."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

REQUEST_HEADERS: Final = ("Authorization", "Content-Type", "Idempotency-Key", "Prefer")
ANSWER_HEADERS: Final = ("Content-Disposition", "Location", "Retry-After", "WWW-Authenticate")
PREFLIGHT_S: Final = 600  # how long a browser keeps what it was allowed


def allow_origins(app: FastAPI, origins: Collection[str] | None) -> None:
    """Let the pages of these origins read answers; without any, those of this server alone, as browsers see to it.

    No cookie is ever read, so none is allowed: a token is in a header that a page sends on purpose."""
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=REQUEST_HEADERS,
            expose_headers=ANSWER_HEADERS,
            max_age=PREFLIGHT_S,
        )
